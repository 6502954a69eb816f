#!/usr/bin/env python3
# ctest: timeout=180
"""A wall clock that is set back while a job runs: nothing waits until the clock is there again."""
import pathlib
import re
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cli_world import Folder, check, run_tests  # noqa: E402
from faults import Faults  # noqa: E402

BACK_MS = 3 * 86_400_000


class Job:
    """A job that watches `in`, under a clock that can be set."""

    def __init__(self, sink_options):
        self.folder = Folder("clock")
        directory = self.folder.directory
        self.faults = Faults(directory)
        self.table = directory / "t"
        script = directory / "job.sql"
        script.write_text(
            "SET 'execution.checkpointing.interval' = '200 ms'; SET 'parallelism.default' = '1'; SET 'restart-strategy.type' = 'none';"
            f"CREATE TABLE src (id BIGINT, p STRING) WITH ('connector'='filesystem', 'path'='{directory}/in', 'format'='csv', 'source.monitor-interval'='200 ms', 'source.watch.mode'='listing');"
            f"CREATE TABLE t (id BIGINT, p STRING) PARTITIONED BY (p) WITH ('connector'='filesystem', 'path'='{self.table}', 'format'='csv', {sink_options});"
            "INSERT INTO t SELECT id, p FROM src;")
        self.process = self.folder.start(script, environment=self.faults.environment)

    def put_rows(self, first, partition):
        self.folder.put(f"{partition}.csv", "".join(f"{row},{partition}\n" for row in range(first, first + 10)))

    def rows(self):
        return sorted(int(line.split(",")[0]) for path in self.table.glob("p=*/part-*") for line in path.read_text().splitlines())

    def expect_soon(self, condition, what):
        deadline = time.monotonic() + 30
        while not condition() and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        check(condition(), what, self.log())

    def log(self):
        return self.process.log.read_text()

    def expect_end(self, row_count):
        self.process.send_signal(signal.SIGTERM)
        check(self.process.wait(30) == 0, "the job stops in good order", self.log())
        check(self.rows() == list(range(row_count)), "each row is there once", self.rows())


def test_checkpoints_watching_and_commits_go_on():
    job = Job("'sink.partition-commit.policy.kind'='success-file', 'sink.partition-commit.delay'='2 s'")
    job.put_rows(0, "a")
    job.expect_soon(lambda: len(job.rows()) == 10, "rows come while the clock is right")
    check(not (job.table / "p=a" / "_SUCCESS").exists(), "the partition is not committed yet")
    job.faults.set(f"clock -{BACK_MS}")
    job.put_rows(10, "b")
    job.expect_soon(lambda: len(job.rows()) == 20, "rows come after the clock was set back")
    for partition in ("p=a", "p=b"):
        job.expect_soon((job.table / partition / "_SUCCESS").exists, f"{partition} is committed")
    job.faults.clear()  # Forward again: what is due is due.
    job.put_rows(20, "c")
    job.expect_soon((job.table / "p=c" / "_SUCCESS").exists, "rows come after the clock was set forward")
    job.expect_end(30)
    check(re.search(r"clock was set back by 259[12]\d\d s", job.log()), "the log tells", job.log())


def test_files_that_are_open_roll():
    job = Job("'sink.rolling-policy.on-checkpoint'='false', 'sink.rolling-policy.rollover-interval'='3 s', 'sink.rolling-policy.check-interval'='200 ms'")
    job.put_rows(0, "a")
    job.expect_soon(lambda: list(job.table.glob("p=a/.part-*")), "a file is open")
    time.sleep(1)
    check(job.rows() == [], "it is not published yet")
    job.faults.set(f"clock -{BACK_MS}")
    job.expect_soon(lambda: len(job.rows()) == 10, "it is published when its time is over")
    job.expect_end(10)


run_tests(globals())
