#!/usr/bin/env python3
# ctest: timeout=500
"""CLEAN TABLE: goes only what no state names and no running job may still need; and what a job removes of its own when it starts."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cli_world import Folder, check, run_tests  # noqa: E402

TAG = ".inprogress.0123456789abcdef-fedcba9876543210"


class World(Folder):
    def __init__(self):
        super().__init__("clean")
        self.table = self.directory / "t"

    def definitions(self, more=""):
        return f"""SET 'execution.checkpointing.interval' = '200 ms';
SET 'parallelism.default' = '1';
CREATE TABLE src (id INT, dt STRING) WITH ('connector'='filesystem', 'path'='{self.directory}/in', 'format'='csv', 'source.monitor-interval'='100 ms');
CREATE TABLE t (id INT, dt STRING) PARTITIONED BY (dt) WITH ('connector'='filesystem', 'path'='{self.table}', 'format'='json'{more});
"""

    def feed(self, name, first, count):
        self.put(name, "".join(f"{i},d{i % 2}\n" for i in range(first, first + count)))

    def script(self, body, more="", name="job.sql"):
        path = self.directory / name
        path.write_text(self.definitions(more) + body)
        return path

    def clean(self, words="", more="", code=0):
        script = self.script(f"CLEAN TABLE t {words};", more, name="clean.sql")
        done = self.call("run", script, "--output", "json")
        check(done.returncode == code, f"CLEAN TABLE {words} ends with {done.returncode}", done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()] if code == 0 else done.stderr

    def place(self, name, age_s=3 * 86400, data=b"12345"):
        path = self.table / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        then = time.time() - age_s
        os.utime(path, (then, then))
        return path

    def hidden(self):
        return sorted(str(p.relative_to(self.table)) for p in self.table.rglob(".*") if p.is_file())

    def wait(self, what, condition, process, seconds=120):
        deadline = time.time() + seconds
        while time.time() < deadline and process.poll() is None:
            if condition():
                return True
            time.sleep(0.05)
        check(condition(), f"waited for {what}", process.log.read_text())
        return condition()

    def named(self):
        """Some checkpoint of the job names an open file."""
        states = (self.directory / "state" / "sluice").glob("*/chk-*/state")
        try:
            return any(b"SLPH" in state.read_bytes() for state in states)  # The mark of a part file's handle.
        except FileNotFoundError:
            return False

    def make_old(self):
        then = time.time() - 3 * 86400
        for path in self.table.rglob(".*"):
            os.utime(path, (then, then))


def actions(rows):
    return {row["path"].split("/t/", 1)[-1]: row["action"] for row in rows}


def test_orphans_go_and_others_stay():
    world = World()
    old = world.place(f"dt=a/.part-x-0-0{TAG}")
    young = world.place(f"dt=a/.part-x-0-1{TAG}", age_s=5)
    marker = world.place("dt=a/._SUCCESS.tmp.123.0")
    staging = world.place(f"dt=b/.hour=1.overwrite.0123456789abcdef/part-1")
    cut_off = world.place(f"dt=c/.hour=1.overwrite.0123456789abcdef/part-1")
    world.place(f"dt=c/hour=1/.hour=1.overwrite.0123456789abcdef.exchanged")
    os.utime(staging.parent, (1, 1))
    raw = world.place("dt=a/.uncompacted-part-01234567-89ab-4cde-8000-000000000000-0-0")
    strangers = [
        world.place("dt=a/.part-1-0.inprogress.550e8400-e29b-41d4-a716-446655440000"),  # Flink's.
        world.place("dt=a/.hidden"),
        world.place("dt=a/_SUCCESS"),
        world.place("dt=a/part-1"),
        world.place("_other/.x" + TAG),  # Hidden directories of others are not entered.
    ]
    rows = world.clean("DRY RUN")
    check(old.exists() and staging.exists(), "DRY RUN removes nothing")
    check(actions(rows).get(f"dt=a/.part-x-0-0{TAG}") == "would be removed", "DRY RUN names the orphan", rows)
    check(list(rows[0]) == ["kind", "path", "bytes", "age", "action", "why"], "columns", rows[0])
    first = next(row for row in rows if row["path"] == str(old))
    check(first["kind"] == "in-progress file" and first["bytes"] == "5" and first["age"].startswith("3d 00:00:"), "a row", first)
    rows = world.clean()
    said = actions(rows)
    check(not old.exists() and not marker.exists() and not staging.parent.exists(), "orphans are gone", rows)
    check(young.exists() and said[f"dt=a/.part-x-0-1{TAG}"] == "kept", "a young file stays", rows)
    check(cut_off.exists() and any("run the same statement again" in row["why"] for row in rows), "an exchange that was cut off stays", rows)
    check(raw.exists(), "a raw file whose state is elsewhere stays", rows)
    check(all(path.exists() for path in strangers) and len(rows) == 6, "others' files are not even listed", rows)
    rows = world.clean("OLDER THAN '1 s'")
    check(not young.exists(), "OLDER THAN sets the age", rows)
    messages = world.clean("OLDER THAN 'soon'", code=1)
    check("^" in messages and "soon" in messages, "a wrong duration has a caret", messages)
    check("^" in world.clean("LATER", code=1), "a wrong word has a caret")


def test_running_job_keeps_its_files():
    world = World()
    job = world.start(world.script("INSERT INTO t SELECT id, dt FROM src;"))
    world.feed("a.csv", 0, 10)
    rows = world.clean("OLDER THAN '0 s'")
    check(all(row["action"] == "kept" for row in rows), "before the first checkpoint", rows)
    world.wait("a checkpoint that names them", world.named, job)
    if world.wait("open files", lambda: len(world.hidden()) == 2, job):
        world.make_old()
        rows = world.clean("OLDER THAN '1 s'")
        check(len(world.hidden()) == 2 and len(rows) == 2, "the open files of a running job stay", rows)
        check(all("runs" in row["why"] or "named by" in row["why"] for row in rows), "and it says why", rows)
    job.kill()
    job.wait()
    # Dead, but its newest checkpoint names them: the same command goes on with them.
    rows = world.clean("OLDER THAN '1 s'")
    check(len(world.hidden()) == 2 and all("named by" in row["why"] and "chk-" in row["why"] for row in rows), "files that a checkpoint names stay", rows)
    job = world.start(world.script("INSERT INTO t SELECT id, dt FROM src;"))
    world.feed("b.csv", 10, 10)
    time.sleep(1.5)
    check(job.poll() is None and len(world.hidden()) == 2, "the job resumes after CLEAN TABLE", job.log.read_text())
    job.kill()
    job.wait()
    world.make_old()
    # The state is thrown away: now they are orphans.
    for path in (world.directory / "state" / "sluice").iterdir():
        subprocess.run(["rm", "-rf", str(path)], check=True)
    rows = world.clean()
    check(rows and not world.hidden() and all(row["action"] == "removed" for row in rows), "without state they go", rows)


def test_savepoints_are_asked():
    world = World()
    # Files that wait to be merged until their partition is complete: hidden, and named by the savepoint.
    more = ", 'auto-compaction'='true', 'compaction.scope'='partition', 'sink.partition-commit.delay'='1 h', 'sink.partition-commit.policy.kind'='success-file'"
    script = world.script("INSERT INTO t SELECT id, dt FROM src;", more)
    job = world.start(script, "--savepoint-on-stop", str(world.directory / "savepoints"))
    world.feed("a.csv", 0, 10)
    if world.wait("files to be merged", lambda: sum(".uncompacted-" in name and ".inprogress." not in name for name in world.hidden()) == 2, job):
        job.send_signal(signal.SIGTERM)
        check(job.wait(120) == 0, "stop", job.log.read_text())
        before = world.hidden()
        check(len(before) == 2, "a stop leaves what is to be merged", before)
        for path in (world.directory / "state" / "sluice").iterdir():
            if path.is_dir():
                subprocess.run(["rm", "-rf", str(path)], check=True)
        world.make_old()
        rows = world.clean()
        check(world.hidden() == before and len(rows) == 2 and all("named by" in row["why"] and "savepoint-" in row["why"] for row in rows), "files that a savepoint names stay", rows)
        savepoint = next((world.directory / "savepoints").glob("savepoint-*/_metadata"))
        savepoint.write_bytes(savepoint.read_bytes()[:-3])
        messages = world.clean(code=1)
        check(world.hidden() == before and "Nothing was removed" in messages, "a state that cannot be read stops it", messages)
    else:
        job.kill()


def test_job_removes_its_own_at_start():
    world = World()
    script = world.script("INSERT INTO t SELECT id, dt FROM src;", more=", 'sink.rolling-policy.on-checkpoint'='true'")
    world.feed("a.csv", 0, 1000)
    # Dies with files that no checkpoint names.
    job = world.start(script, environment={"SLUICE_CRASH_POINT": "checkpoint.before_metadata_rename"})
    job.wait(120)
    left = world.hidden()
    check(left, "the crash leaves files behind", left)
    stranger = world.place(f"dt=d0/.part-x-0-0{TAG}")
    job = world.start(script)
    world.wait("rows", lambda: sum(len(p.read_text().splitlines()) for p in world.table.rglob("part-*")) == 1000, job)
    world.wait("the sweep", lambda: not set(left) & set(world.hidden()), job)
    check(stranger.exists(), "it removes nobody else's")
    job.send_signal(signal.SIGTERM)
    job.wait(120)
    rows = world.clean()
    check([row["action"] for row in rows] == ["removed"] and not world.hidden(), "CLEAN TABLE removes the stranger's", rows)


if __name__ == "__main__":
    run_tests(globals())
