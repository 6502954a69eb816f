#!/usr/bin/env python3
# ctest: timeout=900
"""Two processes, one job: one stands still, loses its lock and wakes up after another has taken the job. It must publish nothing.

The lock's file is removed to stand for what a lost NFS lock or another machine looks like.
"""
import json
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cli_world import Folder, check, run_tests  # noqa: E402


class World(Folder):
    def __init__(self, form, more=""):
        super().__init__("fence")
        self.table = self.directory / "t"
        self.count = 0
        self.script = self.directory / "job.sql"
        self.script.write_text(f"""SET 'execution.checkpointing.interval' = '200 ms';
SET 'parallelism.default' = '2';
CREATE TABLE src (id INT, dt STRING) WITH ('connector'='filesystem', 'path'='{self.directory}/in', 'format'='csv', 'source.monitor-interval'='100 ms');
CREATE TABLE t (id INT, dt STRING) PARTITIONED BY (dt) WITH ('connector'='filesystem', 'path'='{self.table}', 'format'='{form}',
  'sink.record.enabled'='true', 'sink.partition-commit.policy.kind'='success-file'{more});
INSERT INTO t SELECT id, dt FROM src;
""")

    def feed(self, count=300):
        self.put(f"{self.count}.csv", "".join(f"{i},d{i % 3}\n" for i in range(self.count, self.count + count)))
        self.count += count

    def begin(self, name, stop_point=None):
        return self.start(self.script, log=self.directory / f"{name}.log", environment={"SLUICE_STOP_POINT": stop_point} if stop_point else None)

    def ids(self):
        found = []
        for path in self.table.rglob("*part-*"):
            if not any(part.startswith((".", "_")) for part in path.relative_to(self.table).parts):
                found += [json.loads(line)["id"] if line.startswith("{") else int(line.split(",")[0]) for line in path.read_text().splitlines()]
        return found

    def wait_rows(self, process, seconds=120):
        deadline = time.time() + seconds
        while time.time() < deadline and process.poll() is None and len(self.ids()) < self.count:
            time.sleep(0.1)
        return sorted(self.ids()) == list(range(self.count))

    def lock(self):
        return next((self.directory / "state" / "sluice").glob("*/lock"))


def state_of(process):
    return pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def is_stopped(process):
    return state_of(process) == "T"


def overtaken(form, point, more=""):
    world = World(form, more)
    what = f"{form}{more} at {point}"
    world.feed()
    old = world.begin("old", point)
    deadline = time.time() + 120
    while time.time() < deadline and old.poll() is None and not is_stopped(old):
        if point is None and len(world.ids()) > 0:
            time.sleep(0.3)
            old.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        if world.count < 3000 and point is not None:
            world.feed(50)  # So that there are checkpoints with files.
    if not check(old.poll() is None and is_stopped(old), f"{what} is reached", old.log.read_text()):
        return old.kill()
    refused = world.call("run", world.script)
    check(refused.returncode == 1 and f"in use by process {old.pid}" in refused.stderr, f"{what}: the same machine refuses", refused.stderr)
    refused = world.call("run", world.script, "--fresh")
    check(refused.returncode == 1 and f"in use by process {old.pid}" in refused.stderr and world.lock().exists(), f"{what}: --fresh leaves the state of a job that runs", refused.stderr)
    world.lock().unlink()
    new = world.begin("new")
    world.feed()
    check(world.wait_rows(new), f"{what}: the new process goes on, rows once", f"{len(world.ids())} of {world.count}\n" + new.log.read_text())
    check("may still be alive" in new.log.read_text(), f"{what}: it says that it waits", new.log.read_text())
    old.send_signal(signal.SIGCONT)
    try:
        code = old.wait(120)
    except subprocess.TimeoutExpired:
        code = None
        old.kill()
    check(code == 1 and "This process has been superseded" in old.log.read_text(), f"{what}: the old process ends with a clear message ({code})", old.log.read_text())
    check(sorted(world.ids()) == list(range(world.count)), f"{what}: it has published nothing", sorted(world.ids())[:20])
    world.feed()
    check(world.wait_rows(new), f"{what}: the new process is not disturbed", new.log.read_text())
    time.sleep(0.6)
    new.send_signal(signal.SIGTERM)
    check(new.wait(120) == 0, f"{what}: it stops", new.log.read_text())
    check(sorted(world.ids()) == list(range(world.count)), f"{what}: rows once at the end", f"{len(world.ids())} of {world.count}")
    done = world.call("verify", world.table)
    check(done.returncode == 0, f"{what}: verify", done.stdout + done.stderr)
    again = world.begin("again")
    world.feed()
    check(world.wait_rows(again), f"{what}: it resumes once more", again.log.read_text())
    check("may still be alive" not in again.log.read_text(), f"{what}: after a stop nobody waits", again.log.read_text())
    again.kill()
    while state_of(again) != "Z":  # Nobody asks for its exit code yet: the first process of a container may never do.
        time.sleep(0.01)
    after_kill = world.begin("after-kill")
    world.feed()
    check(world.wait_rows(after_kill) and "may still be alive" not in after_kill.log.read_text(), f"{what}: nor after a kill on this machine", after_kill.log.read_text())
    after_kill.send_signal(signal.SIGTERM)
    after_kill.wait(120)
    again.wait()


SPANNING = ", 'sink.rolling-policy.rollover-interval'='1 s', 'sink.rolling-policy.check-interval'='200 ms'"


def test_at_any_moment():
    overtaken("csv", None)


def test_before_the_commit_point():
    overtaken("csv", "checkpoint.before_metadata_rename:3")


def test_behind_the_commit_point():
    overtaken("json", "checkpoint.after_metadata_rename:3", SPANNING)


def test_while_publishing():
    overtaken("csv", "fs.before_rename:2")
    overtaken("csv", "sink.before_publish:2", ", 'auto-compaction'='true'")


def test_before_a_partition_commit():
    overtaken("csv", "sink.before_partition_commit:2")


def test_stopped_in_good_order_and_moved_away():
    """What a stop has published may be moved before the next start: the checkpoint beside it says that all was there."""
    for more in ["", ", 'auto-compaction'='true'"]:
        world = World("csv", more)
        world.feed()
        job = world.begin("first")
        world.wait_rows(job)
        time.sleep(0.5)
        world.feed()
        time.sleep(0.1)
        job.send_signal(signal.SIGTERM)
        check(job.wait(120) == 0, "stop", job.log.read_text())
        check(list((world.directory / "state" / "sluice").glob("*/chk-*/_published")), "the last checkpoint is marked")
        (world.table / "dt=d1").rename(world.directory / "archive")
        moved = len(world.ids())
        job = world.begin("second")
        world.feed()
        deadline = time.time() + 120
        while time.time() < deadline and job.poll() is None and len(world.ids()) < moved + 300:
            time.sleep(0.1)
        check(job.poll() is None and len(world.ids()) == moved + 300, f"it starts again without the partition ({more})", job.log.read_text())
        job.send_signal(signal.SIGTERM)
        check(job.wait(120) == 0, "second stop", job.log.read_text())


if __name__ == "__main__":
    run_tests(globals())
