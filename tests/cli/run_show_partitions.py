#!/usr/bin/env python3
# ctest: timeout=60
"""SHOW PARTITIONS tells of a job that was killed what it has not committed, and why, from the state that it left; the line that
sums a job up tells what became of late rows."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
TABLE = """SET 'execution.checkpointing.dir' = '{dir}/state';
SET 'execution.checkpointing.interval' = '100 ms';
SET 'table.local-time-zone' = 'UTC';
CREATE TABLE lake (id BIGINT, k STRING) PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = '{dir}/lake', 'format' = 'csv',
  'partition.time-extractor.timestamp-pattern' = '$k:00:00', 'sink.partition-commit.trigger' = 'partition-time',
  'sink.partition-commit.delay' = '1 h', 'sink.partition-commit.policy.kind' = 'success-file');
"""
JOB = """CREATE TABLE numbers (id BIGINT, ts AS TO_TIMESTAMP_LTZ(1589932800000 + id * 1000, 3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen',
  'rows-per-second' = '2000', 'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '100000000');
"""
INSERT = "INSERT INTO lake SELECT id, DATE_FORMAT(ts, 'yyyy-MM-dd HH') FROM numbers;"
INSERT_LATE = """INSERT INTO lake SELECT id, CASE WHEN MOD(id, 1000) = 999 THEN '2020-05-20 00' ELSE DATE_FORMAT(ts, 'yyyy-MM-dd HH') END
  FROM numbers /*+ OPTIONS('rows-per-second' = '20000') */;"""
LATE = {
    "append": r"partitions committed \([1-9][0-9,]* again\)",
    "drop": r", [1-9][0-9,]* late rows dropped",
    "aside": r", [1-9][0-9,]* late rows put aside",
}


def wait_for_markers(directory, job):
    deadline = time.time() + 30
    while len(list(directory.glob("lake/*/_SUCCESS"))) < 3 and time.time() < deadline and job.poll() is None:
        time.sleep(0.05)


def check_late_rows(mode, told):
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        options = f"'sink.partition-commit.late-rows' = '{mode}'" + (f", 'sink.partition-commit.late-rows.path' = '{name}/late'" if mode == "aside" else "")
        script = directory / "job.sql"
        script.write_text(TABLE.format(dir=directory).replace("'format' =", options + ", 'format' =") + JOB + INSERT_LATE)
        job = subprocess.Popen([SLUICE, "run", str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wait_for_markers(directory, job)
        time.sleep(0.5)
        job.send_signal(signal.SIGTERM)
        text = job.communicate(timeout=30)[0]
        if job.returncode != 0 or not re.search(told, text):
            sys.exit(f"FAILED: late rows, {mode}: '{told}' is not said:\n{text}")


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        script = directory / "job.sql"
        script.write_text(TABLE.format(dir=directory) + JOB + INSERT)
        job = subprocess.Popen([SLUICE, "run", str(script)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_markers(directory, job)
        job.kill()
        job.wait()
        shown = subprocess.run([SLUICE, "run", "-e", TABLE.format(dir=directory) + "SHOW PARTITIONS lake;"], capture_output=True, text=True)
        text = shown.stdout + shown.stderr
        for part in ("committed", "waiting", "needs a watermark after 2020-05-20 0", "it is at 2020-05-20 0", "(UTC)"):
            if part not in text:
                sys.exit(f"FAILED: SHOW PARTITIONS does not say '{part}':\n{text}")
    for mode, told in LATE.items():
        check_late_rows(mode, told)
    print("what waits is told with its reason, and what became of late rows")


main()
