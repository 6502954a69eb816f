#!/usr/bin/env python3
# ctest: timeout=600
"""COMPACT TABLE over many partitions at once: killed at every crash point that it passes and at random moments, run again; and with a partition that cannot be merged.

After each kill a reader finds every row once: each partition holds its old or its new files, whole. The next statement finishes the work and leaves nothing behind.
"""
import collections
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pyarrow.parquet as parquet

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from checks import expect, run_tests  # noqa: E402
from faults import Faults  # noqa: E402

SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
DIRECTORY = pathlib.Path(tempfile.mkdtemp(prefix="sluice-compact-"))
PARTITIONS, FILES, ROWS = 24, 3, 20  # Files of a partition, rows of a file.
POINTS = ["compact.before_merge", "compact.after_merge", "sink.before_publish", "fs.before_rename", "fs.after_rename", "sink.after_publish", "sink.before_exchange", "sink.after_exchange",
          "sink.before_record", "sink.after_record"]


class Table:
    """A table of small files, made once and copied for each test."""

    def __init__(self, form):
        self.form = form
        self.template = DIRECTORY / f"template_{form}"
        for number in range(FILES):
            first = number * PARTITIONS * ROWS
            values = f"CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '{first}', 'fields.id.end' = '{first + PARTITIONS * ROWS - 1}');"
            done = self.run(values + f"INSERT INTO t SELECT id, MOD(id, {PARTITIONS}) FROM g;", self.template)
            expect(done.returncode == 0, done.stderr)
        for partition in self.template.glob("k=*"):
            (partition / "_SUCCESS").write_text("done")

    def command(self, sql, path):
        ddl = (f"CREATE TABLE t (id BIGINT, k BIGINT) PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{self.form}', 'sink.record.enabled' = 'true');\n")
        return [SLUICE, "run", "-e", "SET 'execution.runtime-mode' = 'batch';\n" + ddl + sql, "--output", "csv"]

    def run(self, sql, path, environment=None, seconds=60):
        return subprocess.run(self.command(sql, path), capture_output=True, text=True, cwd=DIRECTORY, timeout=seconds, env=dict(os.environ, **(environment or {})))

    def copy(self, name):
        path = DIRECTORY / name
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.template, path)
        return path

    def files(self, path):
        """Visible files by partition."""
        found = collections.defaultdict(list)
        for file in path.glob("k=*/*"):
            if file.name[0] not in "._":
                found[file.parent.name].append(file)
        return found

    def rows(self, path):
        ids = []
        for files in self.files(path).values():
            for file in files:
                ids += parquet.ParquetFile(file).read(["id"]).column(0).to_pylist() if self.form == "parquet" else [int(line.split(",")[0]) for line in file.read_text().splitlines()]
        return ids

    def expect_every_row_once(self, path, when):
        counts = collections.Counter(self.rows(path))
        wanted = PARTITIONS * FILES * ROWS
        twice = sum(count > 1 for count in counts.values())
        expect(len(counts) == wanted and not twice, f"{self.form}, {when}: {len(counts)} of {wanted} rows, {twice} of them twice")
        for partition, files in self.files(path).items():
            # All old or all new.
            merged = sum(file.name.startswith("compacted-") for file in files)
            expect((merged, len(files)) in ((0, FILES), (1, 1)), f"{self.form}, {when}: {partition} has {merged} merged of {len(files)} files")

    def expect_merged(self, path, when):
        self.expect_every_row_once(path, when)
        expect(all(len(files) == 1 for files in self.files(path).values()), f"{self.form}, {when}: some partitions were not merged")
        hidden = [file for file in path.rglob(".*") if file.is_dir() or ".inprogress." in file.name or file.name.endswith(".exchanged")]
        hidden = [file for file in hidden if "sluice" not in file.name]
        expect(not hidden, f"{self.form}, {when}: left behind: {hidden[:3]}")
        markers = list(path.glob("k=*/_SUCCESS"))
        expect(len(markers) == PARTITIONS, f"{self.form}, {when}: {len(markers)} of {PARTITIONS} markers are left")


def test_kills_at_every_crash_point(table, chance):
    killed = 0
    for point in POINTS:
        for number in (1, PARTITIONS // 2, PARTITIONS):
            path = table.copy("killed")
            done = table.run("COMPACT TABLE t;", path, {"SLUICE_CRASH_POINT": f"{point}:{number}"})
            when = f"killed at {point}, the {number}th time"
            expect(done.returncode in (0, -signal.SIGKILL), f"{table.form}, {when}: exit {done.returncode} {done.stderr}")
            killed += done.returncode != 0
            expect(number > 1 or done.returncode != 0 or "record" in point, f"{table.form}: {point} was not reached")
            table.expect_every_row_once(path, when)
            done = table.run("COMPACT TABLE t;", path)
            expect(done.returncode == 0, f"{table.form}, after it was {when}: {done.stderr}")
            table.expect_merged(path, f"finished after it was {when}")
    return f"{killed} kills"


def test_kills_at_random_moments(table, chance):
    killed = 0
    path = table.copy("random")
    for _ in range(8):
        path = table.copy("random")
        process = subprocess.Popen(table.command("COMPACT TABLE t;", path), cwd=DIRECTORY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.01, 0.25))
        process.kill()
        killed += process.wait() != 0
        table.expect_every_row_once(path, "killed at a random moment")
        expect(table.run("COMPACT TABLE t;", path).returncode == 0, f"{table.form}: COMPACT TABLE after a kill failed")
        table.expect_merged(path, "finished after a kill at a random moment")
    return f"{killed} kills"


def test_one_partition_fails(table, chance):
    path = table.copy("failing")
    torn = path / "k=7" / "part-0-torn"
    faults = Faults(DIRECTORY)
    if table.form == "parquet":
        torn.write_bytes(b"PAR1 this is no file of the table")
        words = [str(torn)]
    else:
        # Text is put together as it is: here the disk is full, for one partition.
        faults.set(f"write {path}/.k=7. ENOSPC 1000")
        words = [f"{path}/.k=7.", "No space left on device", "free space there"]
    done = table.run("COMPACT TABLE t;", path, faults.environment)
    faults.clear()
    torn.unlink(missing_ok=True)
    expect(done.returncode == 1, f"{table.form}: exit {done.returncode}, {done.stderr}")
    for word in ["partition k=7;", *words]:
        expect(word in done.stderr, f"{table.form}: the message lacks {word!r}: {done.stderr}")
    found = re.search(r"(\d+) of (\d+) partitions are done", done.stderr)
    expect(found and int(found.group(2)) == PARTITIONS, f"{table.form}: the message must tell how many are done: {done.stderr}")
    merged = [partition for partition, files in table.files(path).items() if len(files) == 1]
    expect(len(merged) == int(found.group(1)) and "k=7" not in merged, f"{table.form}: {len(merged)} partitions are merged: {done.stderr}")
    table.expect_every_row_once(path, "after one partition failed")
    expect(table.run("COMPACT TABLE t;", path).returncode == 0, f"{table.form}: COMPACT TABLE when the cause is gone failed")
    table.expect_merged(path, "when the cause is gone")
    return f"{len(merged)} partitions were merged beside it"


def test_more_files_than_descriptors(table, chance):
    path = table.copy("descriptors")
    more, limit = 600, 400
    for partition in ("k=0", "k=1"):
        source = table.files(path)[partition][0]
        for number in range(more):
            os.link(source, source.with_name(f"part-more-{number}"))
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))  # noqa: E731
    done = subprocess.run(table.command("COMPACT TABLE t;", path), capture_output=True, text=True, cwd=DIRECTORY, timeout=120, preexec_fn=few)
    expect(done.returncode == 0, f"{table.form}: {done.stderr}")
    rows, wanted = len(table.rows(path)), (PARTITIONS * FILES + 2 * more) * ROWS
    expect(rows == wanted, f"{table.form}: {rows} rows instead of {wanted}")
    expect(all(len(files) == 1 for files in table.files(path).values()), f"{table.form}: not merged: {done.stdout}")
    return f"{more} files a partition, {limit} descriptors"


def test_added_while_directories_change_places(table, chance):
    """A job that publishes just then puts its file into the old directory: it moves over, and is not removed with what was merged."""
    path = table.copy("added")
    done = table.run("COMPACT TABLE t;", path, {"SLUICE_CRASH_POINT": "sink.after_exchange:1"})
    expect(done.returncode == -signal.SIGKILL, f"{table.form}: exit {done.returncode} {done.stderr}")
    marker = next(path.glob("k=*/.*.exchanged"))
    old = path / marker.name.removesuffix(".exchanged")
    added = next(file for file in old.iterdir() if file.name[0] not in "._")
    other = old / "part-added-meanwhile"
    shutil.copy(added, other)
    before = len(table.rows(path))
    done = table.run("COMPACT TABLE t;", path)
    expect(done.returncode == 0, f"{table.form}: {done.stderr}")
    rows = len(table.rows(path))
    expect(rows == before + ROWS, f"{table.form}: {rows} rows instead of {before + ROWS}: the file that was added is gone")
    return "kept"


def test_beside_a_job(table, chance):
    """What a running job publishes while its table is merged again and again is neither lost nor in its way."""
    path, last = DIRECTORY / "beside", 39_999
    shutil.rmtree(path, ignore_errors=True)
    job = f"""SET 'execution.checkpointing.interval' = '50 ms';
      SET 'execution.checkpointing.dir' = '{DIRECTORY}/state-{table.form}';
      CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '5000', 'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '{last}');
      CREATE TABLE t (id BIGINT, k BIGINT) PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = '{table.form}', 'sink.parallelism' = '1');
      INSERT INTO t SELECT id, 0 FROM g;"""
    running = subprocess.Popen([SLUICE, "run", "-e", job], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=DIRECTORY)
    merged = 0
    while running.poll() is None:
        merged += ',""' in table.run("COMPACT TABLE t;", path).stdout
    text = running.communicate()[0]
    expect(running.returncode == 0, f"{table.form}: the job ended with {running.returncode}: {text}")
    ids = table.rows(path)
    expect(sorted(ids) == list(range(last + 1)), f"{table.form}: {len(ids)} rows, {len(set(ids))} of {last + 1} different ones, after {merged} merges")
    return f"{merged} merges"


def main():
    chance = random.Random(7)
    passed = True
    for form in ("csv", "parquet"):
        table = Table(form)
        passed &= run_tests(globals(), lambda test: test(table, chance), f", {form}")  # noqa: B023
    if not passed:
        print(f"files are in {DIRECTORY}")
        return 1
    shutil.rmtree(DIRECTORY)
    return 0


if __name__ == "__main__":
    sys.exit(main())
