#!/usr/bin/env python3
# ctest: timeout=180
"""A wall clock that is set back while a job runs: nothing waits until the clock is there again."""
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cli_world import Folder, check, run_tests  # noqa: E402
from faults import Faults  # noqa: E402

BACK_MS = 3 * 86_400_000


def wait_for(condition, process, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def rows_of(table):
    return sorted(int(line.split(",")[0]) for path in table.glob("p=*/part-*") for line in path.read_text().splitlines())


def put_rows(folder, name, first, partition):
    folder.put(name, "".join(f"{row},{partition}\n" for row in range(first, first + 10)))


def start(folder, faults, more):
    script = folder.directory / "job.sql"
    script.write_text(
        "SET 'execution.checkpointing.interval' = '200 ms'; SET 'parallelism.default' = '1'; SET 'restart-strategy.type' = 'none';"
        f"CREATE TABLE src (id BIGINT, p STRING) WITH ('connector'='filesystem', 'path'='{folder.directory}/in', 'format'='csv', 'source.monitor-interval'='200 ms', 'source.watch.mode'='listing');"
        f"CREATE TABLE t (id BIGINT, p STRING) PARTITIONED BY (p) WITH ('connector'='filesystem', 'path'='{folder.directory}/t', {more});"
        "INSERT INTO t SELECT id, p FROM src;")
    return folder.start(script, environment=faults.environment)


def stop(process):
    process.send_signal(signal.SIGTERM)
    return process.wait(30)


def test_checkpoints_watching_and_commits_go_on():
    folder = Folder("clock")
    faults = Faults(folder.directory)
    table = folder.directory / "t"
    process = start(folder, faults, "'format'='csv', 'sink.partition-commit.policy.kind'='success-file', 'sink.partition-commit.delay'='2 s'")
    put_rows(folder, "a.csv", 0, "a")
    check(wait_for(lambda: len(rows_of(table)) == 10, process), "rows come while the clock is right", process.log.read_text())
    check(not (table / "p=a" / "_SUCCESS").exists(), "the partition is not committed yet")
    faults.set(f"clock -{BACK_MS}")
    put_rows(folder, "b.csv", 10, "b")
    check(wait_for(lambda: len(rows_of(table)) == 20, process), "rows come after the clock was set back", process.log.read_text())
    for partition in ("p=a", "p=b"):
        check(wait_for((table / partition / "_SUCCESS").exists, process), f"{partition} is committed", process.log.read_text())
    faults.clear()  # Forward again: what is due is due.
    put_rows(folder, "c.csv", 20, "c")
    check(wait_for((table / "p=c" / "_SUCCESS").exists, process), "rows come after the clock was set forward", process.log.read_text())
    check(stop(process) == 0, "the job stops in good order", process.log.read_text())
    check(rows_of(table) == list(range(30)), "each row is there once", rows_of(table))
    check("clock was set back by 2591" in process.log.read_text() or "clock was set back by 2592" in process.log.read_text(), "the log tells", process.log.read_text())


def test_files_that_are_open_roll():
    folder = Folder("clock")
    faults = Faults(folder.directory)
    table = folder.directory / "t"
    process = start(folder, faults, "'format'='csv', 'sink.rolling-policy.on-checkpoint'='false', 'sink.rolling-policy.rollover-interval'='3 s', 'sink.rolling-policy.check-interval'='200 ms'")
    put_rows(folder, "a.csv", 0, "a")
    check(wait_for(lambda: list(table.glob("p=a/.part-*")), process), "a file is open", process.log.read_text())
    time.sleep(1)
    check(rows_of(table) == [], "it is not published yet")
    faults.set(f"clock -{BACK_MS}")
    check(wait_for(lambda: len(rows_of(table)) == 10, process), "it is published when its time is over", process.log.read_text())
    check(stop(process) == 0, "the job stops in good order", process.log.read_text())
    check(rows_of(table) == list(range(10)), "each row is there once", rows_of(table))


run_tests(globals())
