"""The agent's rooms keep to Python 3.6's syntax and library, checked without running them."""

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "pfscope"


def test_the_agent_and_its_frames_run_on_python_3_6():
    parts = [SOURCE / "__init__.py", SOURCE / "frames", SOURCE / "agent"]
    command = [
        sys.executable,
        "-c",
        "import vermin; vermin.main()",
        "-t=3.6-",
        "--no-tips",
        "--violations",
        *parts,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    assert "Minimum required versions: 3.6" in done.stdout
