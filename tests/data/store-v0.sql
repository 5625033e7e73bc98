-- A store as the schema's version 0 made it: `frames` had no clock_step_us yet.
-- {directory} is where it lies; one part of frames is cold.

CREATE SCHEMA hot;
CREATE TABLE hot.usage_mdt ("time" TIMESTAMPTZ NOT NULL, "begin" TIMESTAMPTZ, "series" INTEGER,
    "operation" SMALLINT, "samples" BIGINT, "total" BIGINT, "sumsq" DOUBLE, "minimum" BIGINT,
    "maximum" BIGINT, "restarted" BOOLEAN, "baseline" BOOLEAN);
CREATE TABLE hot.usage_ost ("time" TIMESTAMPTZ NOT NULL, "begin" TIMESTAMPTZ, "series" INTEGER,
    "operation" SMALLINT, "samples" BIGINT, "total" BIGINT, "sumsq" DOUBLE, "minimum" BIGINT,
    "maximum" BIGINT, "restarted" BOOLEAN, "baseline" BOOLEAN);
CREATE TABLE hot.histograms ("time" TIMESTAMPTZ NOT NULL, "series" INTEGER, "operation" SMALLINT,
    "bound" BIGINT, "count" BIGINT);
CREATE TABLE hot.target_totals ("time" TIMESTAMPTZ NOT NULL, "begin" TIMESTAMPTZ, "server"
    VARCHAR, "target" VARCHAR, "operation" SMALLINT, "samples" BIGINT, "total" BIGINT, "sumsq"
    DOUBLE);
CREATE TABLE hot.server_load ("time" TIMESTAMPTZ NOT NULL, "server" VARCHAR, "load_1" DOUBLE,
    "load_5" DOUBLE, "load_15" DOUBLE, "cpu_busy" DOUBLE, "cpu_iowait" DOUBLE, "memory_total"
    BIGINT, "memory_available" BIGINT);
CREATE TABLE hot.quality ("time" TIMESTAMPTZ NOT NULL, "target" VARCHAR, "class" VARCHAR, "system"
    BOOLEAN, "entries" BIGINT);
CREATE TABLE hot.frames ("server" VARCHAR, "epoch" VARCHAR, "sequence" BIGINT, "time" TIMESTAMPTZ
    NOT NULL, "received" TIMESTAMPTZ, "state" VARCHAR, "entries" BIGINT, "defects" BIGINT,
    "raw_bytes" BIGINT, "read_us" BIGINT);
CREATE TABLE hot.series ("series" INTEGER, "filesystem" VARCHAR, "target" VARCHAR, "kind" VARCHAR,
    "entry_id" VARCHAR, "class" VARCHAR, "system" BOOLEAN, "job" VARCHAR, "array_job" VARCHAR,
    "array_task" VARCHAR, "user" VARCHAR, "group" VARCHAR, "node" VARCHAR, "executable" VARCHAR,
    "process" VARCHAR, "first_seen" TIMESTAMPTZ NOT NULL);
CREATE TABLE operations ("operation" SMALLINT, "name" VARCHAR, "unit" VARCHAR);
CREATE TABLE ledger_changes ("stage" VARCHAR, "server" VARCHAR, "outcome" VARCHAR, "reason"
    VARCHAR, "frames" BIGINT, "entries" BIGINT);
CREATE VIEW ledger AS SELECT "stage", "server", "outcome", "reason", sum(frames)::BIGINT AS
    frames, sum(entries)::BIGINT AS entries FROM ledger_changes GROUP BY ALL ORDER BY "stage",
    "server", "outcome", "reason";
CREATE TABLE commits (number BIGINT NOT NULL);
INSERT INTO commits VALUES (0);
CREATE TABLE parts (
    "table" VARCHAR NOT NULL, day INTEGER NOT NULL, number BIGINT NOT NULL,
    version INTEGER NOT NULL, rows BIGINT NOT NULL, bytes BIGINT NOT NULL,
    checksum BIGINT NOT NULL, last_series INTEGER, written TIMESTAMPTZ NOT NULL
);
CREATE SEQUENCE part_number;
CREATE TABLE store (version INTEGER NOT NULL, directory VARCHAR NOT NULL, next_series INTEGER NOT
    NULL);
INSERT INTO store VALUES (0, '', 0);
INSERT INTO hot.frames VALUES
    ('oss1', 'e', 2, '2022-10-28 00:00:10Z', '2022-10-28 00:00:11Z', 'stored', 5, 0, 100, 9);
INSERT INTO hot.usage_ost VALUES
    ('2022-10-28 00:00:10Z', '2022-10-28 00:00:00Z', 0, 0, 3, 30, NULL, NULL, NULL, false, false);
INSERT INTO hot.quality VALUES ('2022-10-28 00:00:10Z', 'scratch-OST0000', 'sound', false, 4);
COPY (SELECT 'oss1' AS server, 'e' AS epoch, 1::BIGINT AS sequence,
             '2022-10-27 00:00:10Z'::TIMESTAMPTZ AS time, NULL::TIMESTAMPTZ AS received,
             'stored' AS state, 4::BIGINT AS entries, 0::BIGINT AS defects,
             100::BIGINT AS raw_bytes, 9::BIGINT AS read_us)
    TO '{directory}/parquet/frames/day=2022-10-27/part-00000001.parquet' (FORMAT parquet);
INSERT INTO parts SELECT 'frames', 19292, nextval('part_number'), 0, 1, 0, 0, NULL, now();
CREATE VIEW frames AS SELECT * FROM hot.frames UNION ALL SELECT * FROM
    read_parquet('{directory}/parquet/frames/day=2022-10-27/part-00000001.parquet',
                 hive_partitioning = false);
