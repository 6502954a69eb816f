#!/usr/bin/env python3
# ctest: timeout=180
"""Stop with a savepoint, start an edited script from it, and what is refused (known pitfalls 16.1, 16.2)."""
import glob
import pathlib
import re
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cli_world import Folder, check, run_tests  # noqa: E402


class World(Folder):
    """A watched directory, the tables' directory and the scripts of one test."""

    def __init__(self):
        super().__init__("savepoints")

    def feed(self, name, first, count):
        self.put(name, "".join(f"{i},{i % 3},text {i}\n" for i in range(first, first + count)))

    def script(self, name, body, parallelism=1):
        text = f"""SET 'execution.checkpointing.interval' = '200 ms';
SET 'parallelism.default' = '{parallelism}';
CREATE TABLE src (id INT, p INT, s STRING) WITH ('connector'='filesystem', 'path'='{self.directory}/in', 'format'='csv',
  'source.monitor-interval'='100 ms');
""" + body.replace("$DIR", str(self.directory))
        path = self.directory / name
        path.write_text(text)
        return path

    def rows(self, table):
        found = []
        for path in glob.glob(f"{self.directory}/{table}/**/part-*", recursive=True):
            found += pathlib.Path(path).read_text().splitlines()
        return found

    def wait_rows(self, table, count, process, seconds=30):
        deadline = time.time() + seconds
        while time.time() < deadline:
            if len(self.rows(table)) >= count:
                return True
            if process.poll() is not None:
                break
            time.sleep(0.05)
        check(False, f"{count} rows in {table}, {len(self.rows(table))} are there", process.log.read_text())
        return False


def log_of(process):
    return process.log.read_text()


def stop(process, number=signal.SIGTERM):
    process.send_signal(number)
    return process.wait(timeout=60)


ONE_SINK = """CREATE TABLE dst (id INT, s STRING, p INT) PARTITIONED BY (p) WITH ('connector'='filesystem', 'path'='$DIR/out', 'format'='csv');
INSERT INTO dst SELECT id, s, p FROM src;
"""
# Two more columns, other rolling, a filter, a second sink: the first sink and the source find their state.
EDITED = """CREATE TABLE dst (id INT, s STRING, extra STRING, p INT) PARTITIONED BY (p) WITH ('connector'='filesystem', 'path'='$DIR/out',
  'format'='csv', 'sink.rolling-policy.file-size'='1 mb');
CREATE TABLE other (id INT) WITH ('connector'='filesystem', 'path'='$DIR/other', 'format'='csv');
EXECUTE STATEMENT SET BEGIN
INSERT INTO dst SELECT id, s, 'new', p FROM src WHERE id <> 15;
INSERT INTO other SELECT id FROM src;
END;
"""


def ids(rows):
    return sorted(int(re.match(r"(\d+)", row).group(1)) for row in rows)


def make_savepoint(world):
    world.feed("a.csv", 0, 10)
    job = world.start(world.script("first.sql", ONE_SINK), "--savepoint-on-stop", str(world.directory / "savepoints"))
    world.wait_rows("out", 10, job)
    check(stop(job) == 0, "a stop with a savepoint is exit 0", log_of(job))
    found = re.search(r"Savepoint completed\. Path: (\S+)\.", log_of(job))
    check(found is not None and (pathlib.Path(found.group(1)) / "_metadata").exists(), "the savepoint's path is printed", log_of(job))
    check(re.search(r"/savepoint-[0-9a-f]{6}-[0-9a-f]{12}$", found.group(1)) is not None, "its name is as Flink's", found.group(1))
    return found.group(1)


def test_rule_16_1_edited_script():
    world = World()
    savepoint = make_savepoint(world)
    world.feed("b.csv", 10, 10)
    script = world.script("second.sql", EDITED, parallelism=2)
    job = world.start(script, "--from", savepoint)
    world.wait_rows("out", 19, job)
    world.wait_rows("other", 10, job)
    text = log_of(job)
    check("source:default_catalog.default_database.src" in text and "sink:default_catalog.default_database.dst" in text, "the mapping names source and sink", text)
    check(re.search(r"sink:default_catalog\.default_database\.other\S*: new", text) is not None, "a new sink is said to begin without state", text)
    # Killed and run again by the same command: it goes on from its own checkpoints, not from the savepoint.
    stop(job, signal.SIGKILL)
    world.feed("c.csv", 20, 10)
    job = world.start(script, "--from", savepoint)
    world.wait_rows("out", 29, job)
    world.wait_rows("other", 20, job)
    check(stop(job) == 0, "the edited job stops", log_of(job))
    check("goes on from the newest" in log_of(job), "it says that it does not go back", log_of(job))
    check(ids(world.rows("out")) == [i for i in range(30) if i != 15], "every row once in the first sink", str(world.rows("out")))
    check(ids(world.rows("other")) == list(range(10, 30)), "the new sink has what came after the savepoint", str(world.rows("other")))
    check(sum(",new" in row for row in world.rows("out")) == 19, "new rows in the new layout", str(world.rows("out")))


def test_unclaimed_state():
    world = World()
    savepoint = make_savepoint(world)
    only_other = """CREATE TABLE other (id INT) WITH ('connector'='filesystem', 'path'='$DIR/other', 'format'='csv');
INSERT INTO other SELECT id FROM src;
"""
    script = world.script("third.sql", only_other)
    refused = world.start(script, "--from", savepoint)
    check(refused.wait(timeout=30) == 1, "unclaimed state is refused", log_of(refused))
    text = log_of(refused)
    check("sink:default_catalog.default_database.dst" in text and "--ignore-unclaimed" in text, "it is named with the way out", text)
    check(not (world.directory / "other").exists(), "nothing was started", text)
    world.feed("b.csv", 10, 5)
    job = world.start(script, "--from", savepoint, "--ignore-unclaimed")
    world.wait_rows("other", 5, job)
    check(stop(job) == 0 and "dropped" in log_of(job), "dropped state is told", log_of(job))
    check(ids(world.rows("other")) == list(range(10, 15)), "the source went on", str(world.rows("other")))


def test_wrong_folders():
    world = World()
    script = world.script("fourth.sql", ONE_SINK)
    for folder, words in ((world.directory / "nowhere", ("There is no checkpoint in", "_metadata")), (world.directory / "in", ("There is no checkpoint in",))):
        job = world.start(script, "--from", str(folder))
        check(job.wait(timeout=30) == 1 and all(word in log_of(job) for word in words), f"--from {folder} is refused", log_of(job))
    (world.directory / "parent" / "job" / "chk-7").mkdir(parents=True)
    (world.directory / "parent" / "job" / "chk-7" / "_metadata").write_text("x")
    job = world.start(script, "--from", str(world.directory / "parent"))
    check(job.wait(timeout=30) == 1 and "parent/job/chk-7, the newest below it" in log_of(job), "a folder above savepoints names the newest", log_of(job))
    job = world.start(script, "--from", "s3://bucket/savepoint")
    check(job.wait(timeout=30) == 1 and "local" in log_of(job), "a savepoint in an object store is refused by name", log_of(job))


if __name__ == "__main__":
    run_tests(globals())
