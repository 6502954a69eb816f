#!/usr/bin/env python3
# ctest: timeout=120
"""Jobs of a script: table.dml-sync, SHOW JOBS, DESCRIBE JOB, STOP JOB."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
DIRECTORY = pathlib.Path(tempfile.mkdtemp(prefix="sluice-jobs-"))
ENVIRONMENT = dict(os.environ, XDG_STATE_HOME=str(DIRECTORY / "state"), TZ="UTC")
failures = []

# A sequence is bounded, if far away: it must be told not to be waited for.
ENDLESS = "SET 'table.dml-sync' = 'false'; SET 'parallelism.default' = '1'; CREATE TABLE g (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='2000', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='100000000');"
# Takes about a second in the foreground: time for the jobs beside it.
PAUSE = ("CREATE TEMPORARY TABLE clock (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='10', 'number-of-rows'='10');"
         "CREATE TEMPORARY TABLE nowhere (id BIGINT) WITH ('connector'='blackhole');"
         "SET 'table.dml-sync' = 'true'; SET 'pipeline.name' = 'pause'; INSERT INTO nowhere SELECT id FROM clock; RESET 'table.dml-sync'; RESET 'pipeline.name';")


def check(condition, what, done=None):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}" + (f"\n  exit {done.returncode}\n  stdout {done.stdout[-1500:]}\n  stderr {done.stderr[-1500:]}" if done else ""))


def run(sql, *more):
    (DIRECTORY / "script.sql").write_text(sql)
    return subprocess.run([SLUICE, "run", "script.sql", "--output", "json", *more], capture_output=True, text=True, cwd=DIRECTORY, env=ENVIRONMENT, timeout=60)


def sink(name):
    return f"CREATE TABLE {name} (id BIGINT) WITH ('connector'='filesystem', 'path'='{name}', 'format'='json');"


def ids(name):
    found = []
    for path in (DIRECTORY / name).glob("part-*"):
        found += [json.loads(line)["id"] for line in path.read_text().splitlines()]
    return sorted(found)


def rows_of(done):
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_stop_job_publishes_and_ends():
    script = (ENDLESS + sink("f") + "SET 'execution.checkpointing.interval' = '1 h'; SET 'pipeline.name' = 'feed'; INSERT INTO f SELECT id FROM g; RESET 'pipeline.name';"
              + PAUSE + "SHOW JOBS; DESCRIBE JOB 'feed'; STOP JOB 'feed'; SHOW JOBS;")
    done = run(script)
    rows = rows_of(done)
    check(done.returncode == 0, "a script that stops its endless job ends", done)
    check([(row["job name"], row["status"]) for row in rows] == [("pause", "FINISHED"), ("feed", "RUNNING"), ("feed", "RUNNING"), ("pause", "FINISHED"), ("feed", "CANCELED")],
          f"SHOW JOBS and DESCRIBE JOB: {rows}", done)
    check(all(len(row["job id"]) == 32 and int(row["job id"], 16) for row in rows), "ids are 32 hex digits", done)
    first = ids("f")
    check(len(first) > 100 and first == list(range(1, len(first) + 1)), f"STOP JOB publishes all rows up to its checkpoint: {len(first)}", done)
    check(not list((DIRECTORY / "f").glob(".part*")), "no open file is left", done)
    done = run(script)
    check("resumes from checkpoint" in done.stderr, "the same command resumes a stopped job", done)
    second = ids("f")
    check(len(second) > len(first) and second == list(range(1, len(second) + 1)), "rows once over a stop and a resume", done)


def test_asynchronous_inserts():
    slow = "CREATE TABLE g (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='20', 'number-of-rows'='30', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='30');"
    begin = time.monotonic()
    done = run(slow + sink("a") + sink("b") + "SET 'table.dml-sync' = 'false'; INSERT INTO a SELECT id FROM g; INSERT INTO b SELECT id FROM g; SHOW JOBS;")
    seconds = time.monotonic() - begin
    rows = rows_of(done)
    check(done.returncode == 0 and [row["status"] for row in rows] == ["RUNNING", "RUNNING"], f"table.dml-sync = false does not wait: {rows}", done)
    check(ids("a") == ids("b") == list(range(1, 31)), "the script waits for its jobs at its end", done)
    check(seconds < 2.8, f"two jobs of 1.5 s ran beside each other: {seconds:.1f} s", done)
    done = run(slow + sink("c") + "SET 'table.dml-sync' = 'true'; INSERT INTO c SELECT id FROM g; SHOW JOBS;")
    check([row["status"] for row in rows_of(done)] == ["FINISHED"], "table.dml-sync = true waits", done)


def test_stop_with_savepoint():
    head = ENDLESS + sink("s") + "SET 'execution.checkpointing.interval' = '1 h'; SET 'execution.checkpointing.savepoint-dir' = 'savepoints'; SET 'pipeline.name' = 'saved';"
    done = run(head + "INSERT INTO s SELECT id FROM g; RESET 'pipeline.name';" + PAUSE + "STOP JOB 'saved' WITH SAVEPOINT;")
    paths = [row["savepoint path"] for row in rows_of(done)]
    check(done.returncode == 0 and len(paths) == 1 and (DIRECTORY / paths[0] / "_metadata").is_file(), f"STOP JOB WITH SAVEPOINT names the savepoint: {paths}", done)
    first = ids("s")
    check(first == list(range(1, len(first) + 1)) and len(first) > 100, "and publishes", done)
    done = run(head.replace("'saved'", "'other'") + f"SET 'execution.state-recovery.path' = '{paths[0]}'; INSERT INTO s SELECT id FROM g;"
               "RESET 'pipeline.name'; RESET 'execution.state-recovery.path';" + PAUSE + "STOP JOB 'other';")
    second = ids("s")
    check(done.returncode == 0 and second == list(range(1, len(second) + 1)) and len(second) > len(first), "another job goes on from it", done)
    done = run(ENDLESS + sink("s") + "INSERT INTO s SELECT id FROM g; STOP JOB 'insert-into_default_catalog.default_database.s' WITH SAVEPOINT;")
    check(done.returncode == 1 and "execution.checkpointing.savepoint-dir" in done.stderr, "without a place for it", done)


def test_errors():
    done = run(ENDLESS + sink("e") + "STOP JOB '0123456789abcdef0123456789abcdef';")
    check(done.returncode == 1 and "does not exist" in done.stderr, "STOP JOB of an unknown id", done)
    done = run(ENDLESS + sink("e") + "STOP JOB 'nobody';")
    check(done.returncode == 1 and "no job id" in done.stderr, "STOP JOB of an unknown name", done)
    done = run(sink("e") + "SET 'pipeline.name'='short'; INSERT INTO e VALUES (1); STOP JOB 'short';")
    check(done.returncode == 1 and "has ended already: it is FINISHED" in done.stderr, "STOP JOB of one that has ended", done)
    done = run("CREATE TABLE bad (id INT) WITH ('connector'='filesystem', 'path'='gone', 'format'='csv'); CREATE TABLE n (id INT) WITH ('connector'='blackhole');"
               "SET 'restart-strategy.type' = 'none'; SET 'table.dml-sync' = 'false'; INSERT INTO n SELECT id FROM bad;")
    check(done.returncode == 1 and "gone" in done.stderr, "a job in the background that fails fails the script", done)


def test_a_restart_counts_nothing_again():
    """A policy that fails once: the job goes back to its first checkpoint while more was read and written already."""
    command = "if mkdir failed 2>/dev/null; then sleep 0.3; exit 1; fi"
    done = run("CREATE TABLE n (id INT, p STRING) WITH ('connector'='datagen', 'rows-per-second'='500', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='600', 'fields.p.length'='1');"
               "CREATE TABLE counted (id INT, p STRING) PARTITIONED BY (p) WITH ('connector'='filesystem', 'path'='counted', 'format'='json',"
               f" 'sink.partition-commit.policy.kind'='command', 'sink.partition-commit.policy.command'='cd {DIRECTORY} && {command}', 'sink.partition-commit.delay'='0 s');"
               "SET 'execution.checkpointing.interval' = '200 ms'; SET 'restart-strategy.type' = 'fixed-delay'; SET 'restart-strategy.fixed-delay.delay' = '100 ms';"
               "INSERT INTO counted SELECT id, CASE WHEN MOD(id, 2) = 0 THEN 'a' ELSE 'b' END FROM n;")
    files = list((DIRECTORY / "counted").glob("p=*/part-*"))
    rows = sum(len(path.read_text().splitlines()) for path in files)
    check(done.returncode == 0 and "failed and restarts in" in done.stderr and rows == 600, f"{rows} rows are there after the restart", done)
    check(f" 600 rows in, 600 out, {len(files)} files, " in done.stderr, f"the summary tells of 600 rows and {len(files)} files", done)


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    for test in tests:
        test()
    print(f"{len(tests)} groups, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
