"""A small file tree as a Lustre server shows it, for the agent to read."""

BOOT_ID = "11111111-2222-4333-8444-555555555555"
JOB_STATS = (
    "job_stats:\n- job_id:          4242:1000:r01c01\n  snapshot_time:   1322494486\n"
    "  open:            { samples:           7, unit:  reqs }\n"
)
MDS = {
    "proc/fs/lustre/mdt/scratch-MDT0000/job_stats": JOB_STATS,
    "proc/fs/lustre/mdt/scratch-MDT0000/md_stats": "snapshot_time 1.5 secs.usecs\n",
    "proc/fs/lustre/mdt/scratch-MDT0000/exports/10.0.0.1@o2ib/stats": "open 1 samples [reqs]\n",
    "sys/fs/lustre/mdt/scratch-MDT0000/job_cleanup_interval": "600\n",
    "sys/fs/lustre/mdt/scratch-MDT0000/num_exports": "12\n",
    "sys/fs/lustre/ldlm/namespaces/mdt-scratch-MDT0000_UUID/lock_count": "99\n",
    "sys/fs/lustre/ldlm/namespaces/mdt-scratch-MDT0000_UUID/pool/granted": "98\n",
    "sys/kernel/debug/lustre/mds/MDS/mdt/stats": "req_active 1 samples [reqs]\n",
}
OSS = {
    "proc/fs/lustre/obdfilter/scratch-OST0000/job_stats": "job_stats:\n",
    "proc/fs/lustre/obdfilter/scratch-OST0000/job_cleanup_interval": "600\n",
    "sys/kernel/debug/lustre/obdfilter/scratch-OST0000/stats": "read_bytes 1 samples [bytes]\n",
    "proc/fs/lustre/osd-ldiskfs/scratch-OST0000/brw_stats": "snapshot_time: 1.5\n",
    "proc/fs/lustre/ost/OSS/ost_io/threads_started": "32\n",
}
HOST = {
    "proc/loadavg": "0.10 0.20 0.30 1/200 4711\n",
    "proc/stat": "cpu  1 2 3 4\n",
    "proc/sys/kernel/random/boot_id": BOOT_ID + "\n",
}
LCTL = """#!/bin/sh
# Prints what `lctl get_param` would for the patterns that the agent asks for.
[ "$1" = get_param ] || exit 2
shift
if [ "$1" = -n ]; then echo 600; exit 0; fi
for pattern in "$@"; do
  case "$pattern" in
    "obdfilter.*.num_exports") echo "obdfilter.scratch-OST000a.num_exports=5" ;;
    "obdfilter.*.job_stats") echo "obdfilter.scratch-OST000a.job_stats=job_stats:" ;;
    *) echo "error: get_param: param_path '$pattern': No such file or directory" >&2 ;;
  esac
done
exit 2
"""


def write_tree(root, *parts):
    """Write the files of `parts` below `root` and return it as text."""
    for files in parts:
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return str(root)


def write_lctl(root, script=LCTL):
    """Put an `lctl` into the tree and return its path as text."""
    path = root / "bin" / "lctl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script)
    path.chmod(0o755)
    return str(path)
