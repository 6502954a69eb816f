#!/usr/bin/env python3
# ctest: timeout=600
"""Readers list and read whole tables in a loop while they are written: what docs/visibility.md promises, for each file system.

Readers are Sluice, pyarrow and, on local disks, DuckDB. They watch streams that append (files closed at checkpoints, files that span
them, merged by checkpoint and by partition), INSERT OVERWRITE (one partition named, the partitions of the rows, the whole table) and COMPACT TABLE.

  - Rows of one table are never there twice, every visible file can be read, and a row that was seen stays.
  - A partition that INSERT OVERWRITE replaces holds all old or all new rows. On object stores that is so for Sluice; for others old and new rows may
    be there together for a moment, and one of both is always complete.
  - A reader that listed before a replacement and opens after it is told so: its file is gone.

Usage: run_visibility.py [--rounds N] [NAME...]   NAME: local, s3
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import duckdb
import pyarrow.dataset as dataset

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "s3"))
from store_access import KEY, SECRET, Bucket  # noqa: E402

SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
STORE = str(ROOT / "tools" / "services" / "s3.sh")
ROWS = 40  # Of a generation, in each partition that is overwritten.
STREAMS = {
    "appended": "",
    "spanning": ", 'sink.rolling-policy.on-checkpoint' = 'false', 'sink.rolling-policy.rollover-interval' = '700 ms', 'sink.rolling-policy.check-interval' = '100 ms'",
    "merged": ", 'auto-compaction' = 'true'",
    "merged_whole": ", 'auto-compaction' = 'true', 'compaction.scope' = 'partition', 'sink.partition-commit.delay' = '500 ms'",
}
# What readers say when a file is gone that they had listed; moto breaks the answer off when an object goes while it is sent.
GONE = ("INTERNAL_FAILURE", "No such file", "RESOURCE_NOT_FOUND", "does not exist", "NoSuchKey", "404", "Not Found", "not found", "Run the query again")


class Failure(Exception):
    pass


class Gone(Exception):
    """A listed file was replaced before it was opened."""


class Absent(Exception):
    """No file is there yet."""


class Place:
    """Where tables are: a directory, or a bucket of moto."""

    def __init__(self, on_store):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-visibility-"))
        self.on_store = on_store
        self.options = {}
        self.readers = {"sluice": self.read_sluice, "pyarrow": self.read_pyarrow}
        self.streams = {table: STREAMS[table] for table in ("spanning", "merged")} if on_store else STREAMS
        # moto answers some hundred requests a second.
        self.stream_rows, self.per_second, self.interval, self.pause_s = (1200, 150, "700 ms", 0.8) if on_store else (4000, 600, "200 ms", 0.02)
        if on_store:
            self.service = dict(os.environ, SLUICE_S3_NAME=f"visibility-{os.getpid()}", SLUICE_S3_KEY=KEY, SLUICE_S3_SECRET=SECRET)
            address = subprocess.run([STORE, "start"], env=self.service, capture_output=True, text=True, check=True).stdout.strip()
            self.bucket = Bucket(address, "lake")
            self.options = {"s3.endpoint": address, "s3.access-key": KEY, "s3.secret-key": SECRET}
        else:
            self.readers["duckdb"] = self.read_duckdb

    def close(self):
        if self.on_store:
            subprocess.run([STORE, "wipe"], env=self.service, check=False)

    def path(self, table):
        return f"s3://lake/{table}" if self.on_store else f"{self.folder}/{table}"

    def define(self, table, more="", partitioned=True):
        return (
            f"CREATE TABLE {table} (id BIGINT, k STRING) {'PARTITIONED BY (k)' if partitioned else ''} WITH ('connector' = 'filesystem', "
            f"'path' = '{self.path(table)}', 'format' = 'parquet'{more});\n"
        )

    def says_absent(self, table, text):
        return "No files found" in text or text.endswith(self.path(table)) or text.endswith(f"lake/{table}")

    def start(self, sql, name, output=None):
        script = self.folder / f"{name}.sql"
        script.write_text(sql)
        command = [SLUICE, "run", str(script), "--output", "json", "-D", f"execution.checkpointing.dir={self.folder}/state"]
        for key, value in self.options.items():
            command += ["-D", f"{key}={value}"]
        return subprocess.Popen(command, stdout=output or subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder)

    def run(self, sql, name):
        process = self.start("SET 'execution.runtime-mode' = 'batch';\n" + sql, name)
        messages = process.communicate(timeout=120)[1]
        if process.returncode != 0:
            raise Failure(f"{name}: exit {process.returncode}\n{messages[-2000:]}")

    # Each reader answers the ids of every partition, in the order of reading.

    def read_sluice(self, table, partitioned):
        process = self.start(
            "SET 'execution.runtime-mode' = 'batch';\n" + self.define(table, partitioned=partitioned) + f"SELECT id, k FROM {table};", f"read-{table}", subprocess.PIPE
        )
        rows, messages = process.communicate(timeout=60)
        if process.returncode != 0:
            if "Run the query again" in messages:
                raise Gone(messages)
            raise Failure(f"sluice cannot read {table}: {messages[-1500:]}")
        found = collections.defaultdict(list)
        for row in map(json.loads, rows.splitlines()):
            found[row["k"] if partitioned else ""].append(row["id"])
        return found

    def read_pyarrow(self, table, partitioned):
        store = self.bucket.file_system() if self.on_store else None
        path = f"lake/{table}" if self.on_store else self.path(table)
        files = dataset.dataset(path, filesystem=store, format="parquet", partitioning="hive" if partitioned else None)
        if not files.files:
            raise Absent()
        rows = files.to_table(columns=["id", "k"])
        found = collections.defaultdict(list)
        for row, key in zip(rows.column("id").to_pylist(), rows.column("k").to_pylist()):
            found[str(key) if partitioned else ""].append(row)
        return found

    def read_duckdb(self, table, partitioned):
        # A star of DuckDB's matches a leading dot too: patterns must begin with a letter at every level.
        pattern = f"{self.path(table)}/{'k=*/' if partitioned else ''}[a-z]*"
        found = collections.defaultdict(list)
        with duckdb.connect() as connection:
            for row, key in connection.sql(f"SELECT id, k FROM read_parquet('{pattern}', hive_partitioning = {partitioned})").fetchall():
                found[str(key) if partitioned else ""].append(row)
        return found


class Watcher(threading.Thread):
    """Reads a table again and again by one reader and hands what it saw to a check."""

    def __init__(self, place, table, reader, check, partitioned=True):
        super().__init__(daemon=True)
        self.place, self.table, self.reader, self.check, self.partitioned = place, table, reader, check, partitioned
        self.looks = self.gone = 0
        self.problem = None
        self.ended = threading.Event()
        self.start()

    def run(self):
        while not self.ended.is_set() and self.problem is None:
            self.look()
            time.sleep(self.place.pause_s)

    def look(self):
        try:
            seen = self.place.readers[self.reader](self.table, self.partitioned)
            self.looks += 1
            self.check(self.reader, seen)
        except Gone:
            self.gone += 1
        except Absent:
            pass
        except Failure as failure:
            self.problem = str(failure)
        except Exception as error:  # Each library has its own.
            text = f"{type(error).__name__}: {error}"
            if self.place.says_absent(self.table, text):
                return
            if any(word in text for word in GONE):
                self.gone += 1
            else:
                self.problem = text

    def end(self):
        """One more look at what is there now, which must succeed; raises what the check has found."""
        self.ended.set()
        self.join(60)
        before = self.looks
        if self.problem is None:
            self.look()
        if self.problem:
            raise Failure(f"{self.table}, {self.reader}: {self.problem}")
        if self.looks == before:
            raise Failure(f"{self.table}, {self.reader}: cannot be read at rest")


class Growing:
    """A table that only gets more: each row once, and none goes away again."""

    def __init__(self):
        self.seen = collections.defaultdict(set)
        self.most = 0

    def __call__(self, reader, found):
        rows = collections.Counter(row for rows in found.values() for row in rows)
        twice = [row for row, count in rows.items() if count > 1]
        if twice:
            raise Failure(f"rows twice: {sorted(twice)[:5]} of {len(rows)}")
        lost = self.seen[reader] - rows.keys()
        if lost:
            raise Failure(f"rows were seen and are gone: {sorted(lost)[:5]} of {len(self.seen[reader])}")
        self.seen[reader] = set(rows)
        self.most = max(self.most, len(rows))


class Generations:
    """Partitions of which each overwrite replaces all rows: generation g holds g * 1000 + 0 .. ROWS - 1."""

    def __init__(self, exact_readers):
        self.exact_readers = exact_readers
        self.newest = collections.defaultdict(int)
        self.mixed = 0

    def __call__(self, reader, found):
        for partition, rows in found.items():
            counts = collections.Counter(row // 1000 for row in rows)
            if len(set(rows)) != len(rows):
                raise Failure(f"partition {partition}: a row twice")
            whole = [generation for generation, count in counts.items() if count == ROWS]
            if not whole or len(counts) > 2:
                raise Failure(f"partition {partition} is not whole: rows by generation {dict(counts)}")
            if len(counts) > 1:
                if reader in self.exact_readers:
                    raise Failure(f"partition {partition} holds rows of two generations: {dict(counts)}")
                self.mixed += 1
            key = (reader, partition)
            if max(whole) < self.newest[key]:
                raise Failure(f"partition {partition} went back from generation {self.newest[key]} to {max(whole)}")
            self.newest[key] = max(whole)


def end_all(watchers):
    for watcher in watchers:
        watcher.ended.set()
    for watcher in watchers:
        watcher.join(60)
    for watcher in watchers:
        watcher.end()


def tell(what, watchers):
    print(what + ": " + ", ".join(f"{w.reader} {w.looks} looks" + (f" and {w.gone} at files just replaced" if w.gone else "") for w in watchers), flush=True)


def streams(place, rounds):
    """5.1 and design.md 10.2: streams, with and without merging."""
    sql = (
        f"SET 'execution.checkpointing.interval' = '{place.interval}';\nSET 'parallelism.default' = '2';\n"
        f"CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '{place.per_second}', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', "
        f"'fields.id.end' = '{place.stream_rows}');\n"
    )
    inserts = ""
    for table, more in place.streams.items():
        sql += place.define(table, ", 'sink.partition-commit.policy.kind' = 'success-file'" + more)
        inserts += f"INSERT INTO {table} SELECT id, CAST(MOD(id, 3) AS STRING) FROM g;\n"
    job = place.start(sql + "EXECUTE STATEMENT SET BEGIN\n" + inserts + "END;\n", "streams")
    watchers = [Watcher(place, table, reader, Growing()) for table in place.streams for reader in place.readers]
    messages = job.communicate(timeout=180)[1]
    if job.returncode != 0:
        raise Failure(f"the streams ended with {job.returncode}\n{messages[-2000:]}")
    end_all(watchers)
    for watcher in watchers:
        if watcher.check.most != place.stream_rows:
            raise Failure(f"{watcher.table}, {watcher.reader}: {watcher.check.most} of {place.stream_rows} rows at the end")
    tell("streams", watchers)


def generation_rows(place, table, generation, partitions, target):
    """Statements that overwrite by a generation, from two subtasks: two files a partition."""
    first = generation * 1000
    return (
        "SET 'parallelism.default' = '2';\n"
        f"CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'fields.id.kind' = 'sequence', 'fields.id.start' = '{first}', 'fields.id.end' = '{first + ROWS - 1}', "
        f"'number-of-rows' = '{ROWS}', 'rows-per-second' = '100000');\n" + place.define(table, partitioned=partitions is not None) + target
    )


def overwrites(place, rounds):
    exact = {"sluice"} if place.on_store else {"sluice", "pyarrow", "duckdb"}
    kinds = {
        "fixed": (["0"], "INSERT OVERWRITE fixed PARTITION (k = '0') SELECT id FROM g;\n"),
        "by_rows": (["0", "1"], "INSERT OVERWRITE by_rows SELECT id, p FROM g CROSS JOIN (VALUES ('0'), ('1')) AS v(p);\n"),
        "whole": (None, "INSERT OVERWRITE whole SELECT id, 'x' FROM g;\n"),
    }
    for table, (partitions, target) in kinds.items():
        place.run(generation_rows(place, table, 1, partitions, target), f"{table}-1")
        watchers = [Watcher(place, table, reader, Generations(exact), partitions is not None) for reader in place.readers]
        for generation in range(2, 2 + rounds):
            place.run(generation_rows(place, table, generation, partitions, target), f"{table}-{generation}")
        end_all(watchers)
        for watcher in watchers:
            newest = {value for value in watcher.check.newest.values()}
            if newest != {1 + rounds}:
                raise Failure(f"{table}, {watcher.reader}: generation {newest} at the end instead of {1 + rounds}")
        tell(f"overwritten, {table}, {sum(w.check.mixed for w in watchers)} mixed", watchers)


def compact_table(place, rounds):
    table = "still"
    place.run(place.define(table) + f"INSERT INTO {table} VALUES (0, '0'), (1, '1');\n", "still-0")
    watchers = [Watcher(place, table, reader, Growing()) for reader in place.readers]
    number = 2
    for i in range(rounds):
        for _ in range(2):
            place.run(place.define(table) + f"INSERT INTO {table} VALUES ({number}, '0'), ({number + 1}, '1');\n", f"still-{number}")
            number += 2
        process = place.start("SET 'execution.runtime-mode' = 'batch';\n" + place.define(table) + f"COMPACT TABLE {table};\n", f"compact-{i}")
        messages = process.communicate(timeout=60)[1]
        if place.on_store:
            if process.returncode != 1 or "in one step" not in messages:
                raise Failure(f"COMPACT TABLE on a store: exit {process.returncode}\n{messages}")
        elif process.returncode != 0:
            raise Failure(f"COMPACT TABLE: exit {process.returncode}\n{messages}")
    end_all(watchers)
    for watcher in watchers:
        if watcher.check.most != number:
            raise Failure(f"{watcher.reader}: {watcher.check.most} of {number} rows of a compacted table")
    tell("compacted", watchers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=8, help="replacements of each kind (8)")
    options = parser.parse_args()
    for name in options.names or ["local", "s3"]:
        place = Place(name == "s3")
        try:
            for part in (streams, overwrites, compact_table):
                begin = time.monotonic()
                part(place, options.rounds)
                print(f"{name}: {part.__name__} is as promised ({time.monotonic() - begin:.0f} s)", flush=True)
        except Failure as failure:
            print(f"FAILED on {name}: {failure}\nfiles are in {place.folder}", file=sys.stderr)
            return 1
        finally:
            place.close()
        shutil.rmtree(place.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
