#!/usr/bin/env python3
# ctest: timeout=900
"""`sluice verify`: a clean job with kills verifies clean, and each damage is reported: a file that is gone, doubled, cut, a marker that is gone."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cli_world import Folder, check, run_tests  # noqa: E402
from faults import Faults  # noqa: E402


class World(Folder):
    def __init__(self):
        super().__init__("verify")
        self.table = self.directory / "t"

    def feed(self, name, first, count, partitions=3):
        self.put(name, "".join(f"{i},d{i % partitions}\n" for i in range(first, first + count)))

    def script(self, body, form="parquet", more="", name="job.sql"):
        path = self.directory / name
        path.write_text(f"""SET 'execution.checkpointing.interval' = '200 ms';
SET 'parallelism.default' = '2';
CREATE TABLE src (id INT, dt STRING) WITH ('connector'='filesystem', 'path'='{self.directory}/in', 'format'='csv', 'source.monitor-interval'='100 ms');
CREATE TABLE t (id INT, dt STRING) PARTITIONED BY (dt) WITH ('connector'='filesystem', 'path'='{self.table}', 'format'='{form}',
  'sink.record.enabled'='true', 'sink.partition-commit.policy.kind'='success-file'{more});
{body}""")
        return path

    def run(self, script, *arguments):
        done = self.call("run", script, *arguments)
        check(done.returncode == 0, f"run of {script}", done.stderr)
        return done

    def rows(self, form="json"):
        names = [p for p in self.table.rglob("*part-*") if not any(part.startswith((".", "_")) for part in p.relative_to(self.table).parts)]
        if form == "parquet":
            import pyarrow.parquet as parquet

            return sum(parquet.ParquetFile(p).metadata.num_rows for p in names)
        if form == "orc":
            import pyarrow.orc as orc

            return sum(orc.ORCFile(p).nrows for p in names)
        if form == "avro":
            import fastavro

            return sum(sum(1 for _ in fastavro.reader(p.open("rb"))) for p in names)
        return sum(len(p.read_text().splitlines()) for p in names)

    def wait_rows(self, count, process, form="json", seconds=120):
        deadline = time.time() + seconds
        while time.time() < deadline and process.poll() is None:
            try:
                if self.rows(form) >= count:
                    return True
            except Exception:
                pass  # A file went while it was looked at.
            time.sleep(0.1)
        check(False, f"{count} rows, {self.rows(form)} are there", process.log.read_text())
        return False

    def verify(self, *arguments, target=None):
        done = self.call("verify", *(arguments or [target or self.table]), "--output", "json")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return done.returncode, lines, done.stderr

    def expect_clean(self, what, *arguments):
        code, lines, messages = self.verify(*arguments)
        problems = [line for line in lines if line["severity"] == "problem"]
        check(code == 0 and not problems, f"{what} verifies clean (exit {code})", f"{problems} {messages}")
        return lines[-1] if lines else {}

    def expect_problem(self, what, kind, path=""):
        code, lines, messages = self.verify()
        kinds = [(line["kind"], line["path"]) for line in lines if line["severity"] == "problem"]
        check(code == 1 and any(k == kind and path in p for k, p in kinds), f"{what} is reported as '{kind}' (exit {code})", f"{kinds} {messages}")
        return kinds

    def files(self):
        return sorted(p for p in self.table.rglob("*part-*") if not p.name.startswith("."))


def stop(process):
    process.send_signal(signal.SIGTERM)
    code = process.wait(120)
    check(code == 0, f"stop ends with {code}", process.log.read_text())


def finished_job(form="parquet", more=""):
    """A stream that was killed now and then, and stopped."""
    world = World()
    script = world.script("INSERT INTO t SELECT id, dt FROM src;", form, more)
    points = ["sink.before_record", "sink.after_record", "sink.after_publish", "checkpoint.after_metadata_rename", "sink.after_partition_commit"]
    for i, point in enumerate(points):
        world.feed(f"{i}.csv", i * 500, 500)
        process = world.start(script, environment={"SLUICE_CRASH_POINT": point})
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    chance = random.Random(7)
    for i in range(len(points), len(points) + 3):
        world.feed(f"{i}.csv", i * 500, 500)
        process = world.start(script)
        time.sleep(chance.uniform(0.2, 1.2))
        process.kill()
        process.wait()
    process = world.start(script)
    if world.wait_rows(4000, process, form):
        time.sleep(0.7)
    stop(process)
    check(world.rows(form) == 4000, f"{form}: rows once", world.rows(form))
    return world, script


def test_killed_job_verifies_clean():
    for form in ["parquet", "csv", "avro", "orc"]:
        world, script = finished_job(form)
        summary = world.expect_clean(f"{form} with kills")
        # Python's readers know Parquet only here; the count of the records is the same for all.
        check(summary.get("recorded_rows") == 4000 and summary.get("recorded_files") == summary.get("files"), f"{form}: rows of records", summary)
        ends = {name.rsplit("/", 1)[-1]: span for name, span in summary.get("sources", {}).items()}
        check(len(ends) == 8 and all(span[0] == 0 and span[1] > 0 for span in ends.values()), f"{form}: each input was read to its end", ends)
        world.expect_clean(f"{form} by its table", "-f", str(script), "t", "--read-all")


def test_each_damage_is_reported():
    world, _ = finished_job()
    files = world.files()
    keep = {p: p.read_bytes() for p in world.table.rglob("*") if p.is_file()}

    def restore():
        for path in world.table.rglob("*"):
            if path.is_file() and path not in keep:
                path.unlink()
        for path, data in keep.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)

    files[0].unlink()
    world.expect_problem("a file that is gone", "missing file", files[0].name)
    restore()
    shutil.copy(files[0], files[0].with_name("part-copied"))
    world.expect_problem("a copy", "doubled file", "part-copied")
    restore()
    files[1].write_bytes(keep[files[1]][:-20])
    kinds = world.expect_problem("a footer that was cut", "unreadable file", files[1].name)
    check(("cut file", str(files[1])) in kinds, "and its length", kinds)
    restore()
    files[1].write_bytes(keep[files[1]][:-8] + b"\0" * 8)
    world.expect_problem("a footer of the right length that is garbage", "unreadable file", files[1].name)
    restore()
    marker = world.table / "dt=d1" / "_SUCCESS"
    marker.unlink()
    world.expect_problem("a marker that is gone", "missing marker", "dt=d1/_SUCCESS")
    restore()
    shutil.rmtree(world.table / "dt=d2")
    world.expect_problem("a partition that is gone", "missing partition", "dt=d2")
    restore()
    records = sorted((world.table / "_sluice").iterdir())
    check(len(records) >= 3, "there are records", records)
    earlier = json.loads(records[-1].read_text().splitlines()[-1])["previous"]
    next(path for path in records if path.name.endswith(f"-{earlier:012}.jsonl")).unlink()
    world.expect_problem("a record that is gone", "missing record")
    restore()
    records[0].write_text("{}\n")
    world.expect_problem("a damaged record", "unreadable record", records[0].name)
    restore()
    # A second file of the job that no record names, as a run without a fence would leave it.
    name = files[0].name[:-1] + "999"
    (files[0].parent / name).write_bytes(keep[files[1]] + b"")
    os.utime(files[0].parent / name, (1600000000, 1600000000))
    world.expect_problem("a file of the job without record", "doubled file", name)
    restore()
    tag = ".part-x-0-0.inprogress.0123456789abcdef-0123456789abcdef"
    (world.table / "dt=d0" / tag).write_text("x")
    (world.table / "dt=new").mkdir()
    (world.table / "dt=new" / "part-foreign").write_text("")
    code, lines, _ = world.verify()
    kinds = {line["kind"] for line in lines if line["severity"] == "oddity"}
    check(code == 0 and {"hidden leftover", "small files", "partition without marker", "empty file", "file without record"} <= kinds, "oddities are listed", kinds)


def test_after_merging():
    for more in [", 'auto-compaction'='true'", ", 'auto-compaction'='true', 'compaction.scope'='partition', 'sink.partition-commit.delay'='2 s'"]:
        world, script = finished_job(more=more) if "partition'" not in more else stopped_with_raw(more)
        summary = world.expect_clean(f"merged files ({more})")
        check(summary.get("recorded_rows") == world.rows("parquet"), "their rows", summary)
    world, script = finished_job("csv")
    before = len(world.files())
    world.run(world.script("COMPACT TABLE t;", "csv", name="compact.sql"))
    check(len(world.files()) < before, "COMPACT TABLE merges", world.files())
    summary = world.expect_clean("after COMPACT TABLE")
    check(summary.get("recorded_rows") == 4000, "rows after COMPACT TABLE", summary)
    process = world.start(script)
    world.feed("later.csv", 4000, 10)
    world.wait_rows(4010, process, "csv")
    time.sleep(0.7)
    stop(process)
    world.expect_clean("the job goes on after COMPACT TABLE")


def test_a_clock_that_leaps():
    """The order of one job's records is that of its checkpoints, whatever the clock says."""
    world = World()
    faults = Faults(world.directory)
    script = world.script("INSERT INTO t SELECT id, dt FROM src;", "csv")
    day_ms = 86_400_000
    for i, offset_ms in enumerate([0, 2 * day_ms, -day_ms, 50, -3 * day_ms]):
        faults.set(f"clock {offset_ms}")
        process = world.start(script, environment=faults.environment)
        for j in range(2):
            world.feed(f"{i}-{j}.csv", 1000 * i + 500 * j, 500)
            world.wait_rows(1000 * i + 500 * (j + 1), process, "csv")
            if i == 2 and j == 0:  # Between the two, while the job runs.
                faults.set(f"clock {day_ms}")
        if i % 2:
            process.kill()
            process.wait()
        else:
            stop(process)
    process = world.start(script)
    time.sleep(1)
    stop(process)
    times = [json.loads(line)["time_ms"] for path in sorted((world.table / "_sluice").iterdir()) for line in path.read_text().splitlines()]
    check(times != sorted(times), "the times of the records go back", times)
    summary = world.expect_clean("a clock that leaps")
    check(summary.get("recorded_rows") == 5000, "rows of records", summary)
    world.run(world.script("COMPACT TABLE t;", "csv", name="compact.sql"))
    summary = world.expect_clean("a clock that leaps, and COMPACT TABLE")
    check(summary.get("recorded_rows") == 5000, "rows after COMPACT TABLE", summary)


def test_an_older_state_was_gone_back_to():
    """Under lower numbers, and while the clock was back: the newer run counts, whatever the numbers and times of the older."""
    world = World()
    faults = Faults(world.directory)
    script = world.script("INSERT INTO t SELECT id, dt FROM src;", "csv")
    world.feed("a.csv", 0, 100)
    process = world.start(script)
    world.wait_rows(100, process, "csv")
    stop(process)
    savepoint = next(path for path in (world.directory / "state").rglob("chk-*") if path.is_dir())
    kept = world.directory / "kept"
    shutil.copytree(savepoint, kept)
    for i in range(6):
        process = world.start(script)
        world.feed(f"b{i}.csv", 100 * (i + 1), 100)
        world.wait_rows(100 * (i + 2), process, "csv")
        stop(process)
    world.expect_clean("before going back")
    before = {path.name for path in world.files()}
    faults.set("clock -86400000")
    process = world.start(script, "--fresh", "--from", str(kept), environment=faults.environment)
    world.wait_rows(1300, process, "csv")
    stop(process)
    code, lines, _ = world.verify()
    kinds = {line["kind"] for line in lines if line["severity"] == "problem"}
    abandoned = {pathlib.Path(line["path"]).name for line in lines if line.get("kind") == "file of an abandoned run"}
    check(code == 1 and kinds == {"file of an abandoned run"}, "only files of the abandoned run are complained of", lines)
    check(abandoned and abandoned <= before, "and they are of the older run", abandoned)
    for line in lines:
        if line.get("kind") == "file of an abandoned run":
            pathlib.Path(line["path"]).unlink()
    summary = world.expect_clean("without the files of the abandoned run")
    check(summary.get("recorded_rows") == 700 and world.rows("csv") == 700, "rows of the newer run", summary)


def stopped_with_raw(more):
    """Stopped while some files wait, hidden, to be merged."""
    world = World()
    script = world.script("INSERT INTO t SELECT id, dt FROM src;", more=more)
    world.feed("a.csv", 0, 300)
    process = world.start(script)
    world.wait_rows(300, process, "parquet")
    world.feed("b.csv", 300, 300, partitions=5)
    time.sleep(1)
    stop(process)
    return world, script


def test_batch_and_overwrite():
    world = World()
    values = "INSERT {} t VALUES (1, 'a'), (2, 'b'), (3, 'b');"
    world.run(world.script("SET 'execution.runtime-mode'='batch';" + values.format("INTO")))
    world.run(world.script("SET 'execution.runtime-mode'='batch';" + values.format("OVERWRITE")))
    world.run(world.script("SET 'execution.runtime-mode'='batch'; INSERT INTO t VALUES (4, 'c');"))
    summary = world.expect_clean("INTO, OVERWRITE and INTO")
    check(summary.get("recorded_rows") == 4 and summary.get("records") == 3, "rows after OVERWRITE", summary)


def test_without_records_and_bad_usage():
    world = World()
    script = world.script("SET 'execution.runtime-mode'='batch'; INSERT INTO t /*+ OPTIONS('sink.record.enabled'='false') */ VALUES (1, 'a'), (2, 'b');")
    world.run(script)
    check(not (world.table / "_sluice").exists(), "no record without the option")
    code, lines, _ = world.verify()
    check(code == 0 and [line["kind"] for line in lines[:-1]] == ["no records"], "without records", lines)
    file = world.files()[0]
    file.write_bytes(file.read_bytes()[:-4])
    world.expect_problem("a cut footer without records", "unreadable file", file.name)
    for arguments in [["/nowhere/at/all"], ["-f", str(script), "nope"], ["-f", str(script), "t DRY RUN"], ["-f", str(script), "src", "extra"], [], ["-f", "/no/such.sql", "t"], [str(world.table), "--read-all"], ["--small-files", "many", str(world.table)]]:
        done = world.call("verify", *arguments)
        check(done.returncode == 2 and done.stderr, f"verify {arguments} is bad usage ({done.returncode})", done.stderr + done.stdout)
    done = world.call("verify", world.table)
    check(done.returncode == 1 and "problem: unreadable file: " in done.stdout and "There are problems." in done.stdout, "text", done.stdout)


if __name__ == "__main__":
    run_tests(globals())
