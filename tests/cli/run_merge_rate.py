#!/usr/bin/env python3
# ctest: timeout=120
"""compaction.max-bytes-per-second: merging takes at least as long as the option says, and gives the same rows."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
DIRECTORY = pathlib.Path(tempfile.mkdtemp(prefix="sluice-merge-rate-"))
ENVIRONMENT = dict(os.environ, XDG_STATE_HOME=str(DIRECTORY / "state"), TZ="UTC")
ROWS = 40_000
FILES = 4
ROW_BYTES = 50  # Of a line, its end too.
BYTES_PER_SECOND = 1_000_000
# The first write of a merge need not wait; it is of a megabyte at most.
LEAST_SECONDS = ROWS * ROW_BYTES / BYTES_PER_SECOND - 1.0

TABLE = "CREATE TABLE t (line STRING) WITH ('connector'='filesystem', 'path'='{path}', 'format'='raw', 'compaction.file-size'='1gb'{more});"
failures = []


def check(condition, what, done=None):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}" + (f"\n  exit {done.returncode}\n  stdout {done.stdout[-1500:]}\n  stderr {done.stderr[-1500:]}" if done else ""))


def lines():
    return [f"{i:0{ROW_BYTES - 1}d}" for i in range(ROWS)]


def put_small_files(folder):
    folder.mkdir()
    for i in range(FILES):
        (folder / f"part-{i}").write_text("".join(line + "\n" for line in lines()[i::FILES]))


def run(sql):
    begin = time.monotonic()
    done = subprocess.run([SLUICE, "run", "-e", sql], capture_output=True, text=True, cwd=DIRECTORY, env=ENVIRONMENT, timeout=90)
    return done, time.monotonic() - begin


def rows_in(folder):
    return sorted(line for path in folder.glob("[!._]*") for line in path.read_text().splitlines())


def compact(name, more):
    put_small_files(DIRECTORY / name)
    done, seconds = run(TABLE.format(path=name, more=more) + "COMPACT TABLE t;")
    check(done.returncode == 0, f"COMPACT TABLE of {name}", done)
    check(len(list((DIRECTORY / name).glob("[!._]*"))) == 1, f"one file is left in {name}", done)
    check(rows_in(DIRECTORY / name) == lines(), f"the rows of {name} are those of before")
    return seconds


def test_compact_table_is_held_back():
    seconds = compact("slow", f", 'compaction.max-bytes-per-second'='{BYTES_PER_SECOND} bytes'")
    check(seconds >= LEAST_SECONDS, f"{ROWS * ROW_BYTES} bytes at {BYTES_PER_SECOND} a second took {seconds:.2f} s only")
    compact("fast", "")


def test_a_job_merges_at_that_rate():
    put_small_files(DIRECTORY / "in")
    done, seconds = run(
        "SET 'parallelism.default'='2'; CREATE TABLE s (line STRING) WITH ('connector'='filesystem', 'path'='in', 'format'='raw');"
        + TABLE.format(path="job", more=f", 'auto-compaction'='true', 'compaction.max-bytes-per-second'='{BYTES_PER_SECOND} bytes'") + "INSERT INTO t SELECT line FROM s;")
    check(done.returncode == 0, "the job ends", done)
    check(seconds >= LEAST_SECONDS, f"the job merged {ROWS * ROW_BYTES} bytes in {seconds:.2f} s", done)
    check(rows_in(DIRECTORY / "job") == lines(), "each row is there once")


def test_a_rate_must_be_one():
    done, _ = run(TABLE.format(path="none", more=", 'compaction.max-bytes-per-second'='0 bytes'") + "COMPACT TABLE t;")
    check(done.returncode != 0 and "compaction.max-bytes-per-second" in done.stderr, "a rate of nothing is refused by name", done)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
print(f"merge rate: {'all held' if not failures else f'{len(failures)} failures'}")
sys.exit(bool(failures))
