"""One stream into many tables at once: formats, files closed at checkpoints or not, merged or not; killed again and again.

A bounded stream of numbered rows goes by one job (a statement set) into a table for each combination of format, of
`sink.rolling-policy.on-checkpoint` and of compaction, partitioned by a key and committed with a marker. The job is killed with SIGKILL at
random moments and at every crash point that its storage can reach, and started with the same command, twice at parallelism 1, twice at 2, and so
on: so a kill is followed by a start of the same and of another width. At kills and at the end each visible file can be read whole, and no row
stands in two of them or twice in one. At the end every row is there, each table has its markers, and nothing hidden is left.

debezium-json gets counts by group, which change all the time: every version of a count must be there once, and taken back once but the last.
"""
import argparse
import collections
import csv
import io
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import fastavro
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "s3"))
from store_access import KEY, SECRET, Bucket  # noqa: E402

SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
STORE = str(ROOT / "tools" / "services" / "s3.sh")
KEYS = 3
GROUPS = 40  # Of the changing table, in each partition.
# Formats whose files can go on after a restart, and those that must close at each checkpoint.
CONTINUED = ("csv", "json", "raw", "parquet", "debezium-json")
CLOSED = ("avro", "orc")
COMPACTIONS = {
    "off": "",
    "checkpoint": ", 'auto-compaction' = 'true', 'compaction.file-size' = '256 kb'",
    "partition": ", 'auto-compaction' = 'true', 'compaction.scope' = 'partition'",
}
ROLLING = {"open": ", 'sink.rolling-policy.on-checkpoint' = 'false'", "closed": ", 'sink.rolling-policy.on-checkpoint' = 'true'"}
# Points of INSERT OVERWRITE, and of state that these jobs do not have.
# Of INSERT OVERWRITE, of COMPACT TABLE on stores, and of watched directories: tests/crash, tests/s3.
NEVER = {"sink.before_exchange", "sink.after_exchange", "store.before_journal", "store.after_journal", "store.after_switch", "store.after_removal",
         "source.before_done", "source.after_done", "source.between_done"}


class Failure(Exception):
    pass


class Disk:
    """Tables in a directory."""

    name = "local disks"
    interval = "150 ms"

    def __init__(self, directory):
        self.directory = directory
        self.arguments = []

    def close(self):
        pass

    def path(self, table):
        return f"{self.directory}/{table}"

    def reaches(self, point):
        return point not in NEVER and not point.startswith("store.")

    def names(self, table):
        """All files below the table, hidden ones too, relative to it."""
        root = self.directory / table
        return [str(path.relative_to(root)) for path in sorted(root.rglob("*")) if not path.is_dir()] if root.exists() else []

    def read(self, table, name):
        return (self.directory / table / name).read_bytes()

    def leftovers(self, table):
        return [name for name in self.names(table) if any(part.startswith(".") for part in name.split("/"))]


class Store:
    """Tables in a bucket of moto."""

    name = "an object store"
    interval = "400 ms"

    def __init__(self, directory):
        self.environment = dict(os.environ, SLUICE_S3_NAME=f"matrix-{os.getpid()}", SLUICE_S3_KEY=KEY, SLUICE_S3_SECRET=SECRET)
        address = self.launch("start").strip()
        self.bucket = Bucket(address, "lake")
        self.arguments = ["-D", f"s3.endpoint={address}", "-D", f"s3.access-key={KEY}", "-D", f"s3.secret-key={SECRET}"]

    def launch(self, command):
        return subprocess.run([STORE, command], env=self.environment, capture_output=True, text=True, check=True).stdout

    def close(self):
        self.launch("wipe")

    def path(self, table):
        return f"s3://lake/{table}"

    def reaches(self, point):
        # Small files are one request each: no upload is begun (tests/s3 has large ones). Nothing is renamed.
        return point not in NEVER and not point.startswith("fs.") and point not in ("store.after_create_upload", "store.after_upload_part")

    def names(self, table):
        return [key[len(table) + 1 :] for key in self.bucket.keys(table + "/")]

    def read(self, table, name):
        return self.bucket.read(f"{table}/{name}")

    def leftovers(self, table):
        uploads = [str(upload) for upload in self.bucket.uploads() if upload[0].startswith(table + "/")]
        return uploads + [name for name in self.names(table) if any(part.startswith(".") for part in name.split("/"))]


class Table:
    def __init__(self, form, rolling, compaction):
        self.form, self.rolling, self.compaction = form, rolling, compaction
        self.name = f"t_{form.replace('-', '_')}_{rolling}_{compaction}"
        self.changing = form == "debezium-json"

    def ddl(self, place):
        columns = "v STRING" if self.form == "raw" else "g BIGINT, n BIGINT" if self.changing else "id BIGINT"
        return f"""CREATE TABLE {self.name} ({columns}, k STRING) PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = '{place.path(self.name)}',
  'format' = '{self.form}', 'sink.record.enabled' = 'true', 'sink.partition-commit.policy.kind' = 'success-file,success-file', 'sink.partition-commit.delay' = '700 ms',
  'sink.rolling-policy.rollover-interval' = '1 s', 'sink.rolling-policy.check-interval' = '200 ms'{ROLLING[self.rolling]}{COMPACTIONS[self.compaction]});
"""

    def insert(self):
        key = f"CAST(MOD(id, {KEYS}) AS STRING)"
        if self.changing:
            return f"INSERT INTO {self.name} SELECT MOD(id, {GROUPS}), COUNT(*), {key} FROM numbers GROUP BY MOD(id, {GROUPS}), MOD(id, {KEYS});\n"
        return f"INSERT INTO {self.name} SELECT {'CAST(id AS STRING)' if self.form == 'raw' else 'id'}, {key} FROM numbers;\n"

    def rows(self, data):
        """What must stand in one place only: ids, or changes as (operation, group, count)."""
        if self.form == "parquet":
            return parquet.ParquetFile(pa.BufferReader(data)).read(["id"]).column(0).to_pylist()
        if self.form == "orc":
            return orc.ORCFile(pa.BufferReader(data)).read(["id"]).column(0).to_pylist()
        if self.form == "avro":
            return [row["id"] for row in fastavro.reader(io.BytesIO(data))]
        if data and not data.endswith(b"\n"):
            raise ValueError("its last line is cut")
        lines = data.decode().splitlines()
        if self.form == "csv":
            return [int(row[0]) for row in csv.reader(lines)]
        if self.form == "raw":
            return [int(line) for line in lines]
        rows = [json.loads(line) for line in lines]
        if not self.changing:
            return [row["id"] for row in rows]
        return [(row["op"], *(row["after"] or row["before"]).values()) for row in rows]

    def check_end(self, seen, row_count):
        """`seen`: rows by partition."""
        rows = {(k, row) for k, found in seen.items() for row in found}
        if not self.changing:
            missing = set(range(row_count)) - {row for _, row in rows}
            if missing:
                raise Failure(f"{self.name}: {len(missing)} of {row_count} rows are lost, such as {sorted(missing)[:5]}")
            return
        sizes = collections.Counter((str(row % KEYS), row % GROUPS) for row in range(row_count))
        made = {(k, g, n) for k, (op, g, n) in rows if op == "c"}
        taken = {(k, g, n) for k, (op, g, n) in rows if op == "d"}
        if made - taken != {(k, g, n) for (k, g), n in sizes.items()} or taken - made:
            raise Failure(f"{self.name}: the changes do not add up to the counts: {sorted((made - taken) ^ {(k, g, n) for (k, g), n in sizes.items()})[:5]}")


def combinations(forms):
    for form in forms:
        for rolling in ROLLING:
            for compaction in COMPACTIONS:
                if rolling == "open" and (compaction == "checkpoint" or form in CLOSED):
                    continue  # Refused when planned.
                yield Table(form, rolling, compaction)


class Matrix:
    def __init__(self, place_type, tables, rows, per_second, options):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="sluice-matrix-"))
        self.place = place_type(self.directory)
        self.tables = list(tables)
        self.rows, self.per_second, self.options = rows, per_second, options
        self.chance = random.Random(options.seed)
        self.log = self.directory / "job.log"
        self.kills = collections.Counter()
        self.environment = {key: value for key, value in os.environ.items() if key != "SLUICE_CRASH_POINT"}

    def script(self, parallelism, per_second):
        text = f"""SET 'execution.checkpointing.interval' = '{self.place.interval}';
SET 'execution.checkpointing.dir' = '{self.directory}/state';
SET 'pipeline.name' = 'matrix';
SET 'parallelism.default' = '{parallelism}';
CREATE TABLE numbers (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '{per_second}',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '{self.rows - 1}');
"""
        text += "".join(table.ddl(self.place) for table in self.tables)
        text += "EXECUTE STATEMENT SET BEGIN\n" + "".join(table.insert() for table in self.tables) + "END;\n"
        path = self.directory / f"job-{parallelism}-{per_second}.sql"
        path.write_text(text)
        return path

    def start(self, path, point):
        environment = dict(self.environment)
        if point:
            environment["SLUICE_CRASH_POINT"] = f"{point}:{self.chance.randint(1, 4)}"
        with self.log.open("ab") as log:
            return subprocess.Popen([SLUICE, "run", str(path), *self.place.arguments], stdout=log, stderr=log, env=environment)

    def check(self, final=False):
        counts = []
        for table in self.tables:
            seen = collections.defaultdict(set)
            files = 0
            names = self.place.names(table.name)
            for name in names:
                if any(part.startswith((".", "_")) for part in name.split("/")):
                    continue
                partition, leaf = name.split("/")
                if not leaf.startswith(("part-", "compacted-part-")):
                    raise Failure(f"stray visible file {table.name}/{name}")
                files += 1
                try:
                    rows = table.rows(self.place.read(table.name, name))
                except Exception as error:
                    raise Failure(f"visible file {table.name}/{name} cannot be read: {error}")
                found = seen[partition.removeprefix("k=")]
                if len(set(rows)) != len(rows) or not found.isdisjoint(rows):
                    raise Failure(f"{table.name}/{name} holds rows twice, or that are elsewhere: {sorted(found & set(rows))[:5]}")
                found.update(rows)
                if not table.changing and any(row % KEYS != int(partition[2:]) for row in rows):
                    raise Failure(f"{table.name}/{name} holds rows of another partition")
            counts.append(sum(len(found) for found in seen.values()))
            if final:
                self.check_end(table, seen, names, files)
        return counts

    def check_end(self, table, seen, names, files):
        table.check_end(seen, self.rows)
        left = self.place.leftovers(table.name)
        if left:
            raise Failure(f"{table.name}: left behind: {left[:3]}")
        markers = [name for name in names if name.endswith("/_SUCCESS")]
        if len(markers) != KEYS:
            raise Failure(f"{table.name} has {len(markers)} markers")
        verified = ""
        if isinstance(self.place, Disk):
            done = subprocess.run([SLUICE, "verify", str(self.directory / table.name)], capture_output=True, text=True)
            if done.returncode != 0 or "Nothing is missing" not in done.stdout:
                raise Failure(f"sluice verify {table.name}: exit {done.returncode}, {done.stdout} {done.stderr}")
            verified = ", verified"
        print(f"  {table.name}: {sum(len(found) for found in seen.values())} rows in {files} files{verified}", flush=True)

    def points(self):
        """Crash points that these tables reach here."""
        points = subprocess.check_output([SLUICE, "--list-crash-points"], text=True).split()
        compacting = any(table.compaction != "off" for table in self.tables)
        return [point for point in points if self.place.reaches(point) and (compacting or not point.startswith("compact."))]

    def rounds(self):
        """(crash point or None for a random moment, parallelism) of each start."""
        points = self.points() * self.options.times + [None] * self.options.kills
        self.chance.shuffle(points)
        return [(point, 1 + number // 2 % 2) for number, point in enumerate(points)]

    def kill_all(self):
        rounds = self.rounds()
        for number, (point, parallelism) in enumerate(rounds):
            process = self.start(self.script(parallelism, self.per_second), point)
            try:
                code = process.wait(self.options.patience if point else self.chance.uniform(0.3, 2.0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                code = None
                if point:
                    raise Failure(f"the crash point {point} was not reached within {self.options.patience} s")
            if code == 0:
                raise Failure(f"the stream ended in round {number + 1} of {len(rounds)}: too few rows")
            if code not in (None, -signal.SIGKILL):
                raise Failure(f"the job ended with {code}")
            self.kills[point or "a random moment"] += 1
            if number % self.options.look_every == 0:
                counts = self.check()
                print(f"round {number + 1}/{len(rounds)}: killed at {point or 'a random moment'}, {min(counts)} to {max(counts)} rows visible", flush=True)

    def finish(self):
        """Lets the job end, and looks for every row."""
        # The rest in a hurry, at the width that was not the last.
        code = self.start(self.script(2, 100 * self.per_second), None).wait(2 * self.options.patience)
        if code != 0:
            raise Failure(f"the last start ended with {code}")
        self.check(final=True)
        if isinstance(self.place, Disk):
            self.check_duckdb()

    def run(self):
        begin = time.monotonic()
        self.kill_all()
        self.finish()
        kills = sum(self.kills.values())
        print(f"{len(self.tables)} tables on {self.place.name}, {kills} kills at {len(self.kills)} kinds of moments, {self.rows} rows in each once, {time.monotonic() - begin:.0f} s", flush=True)

    def check_duckdb(self):
        import duckdb

        for table in self.tables:
            if table.form != "parquet":
                continue
            count, total = duckdb.sql(f"SELECT COUNT(*), SUM(id) FROM read_parquet('{self.directory}/{table.name}/k=*/[a-z]*', hive_partitioning = true)").fetchall()[0]
            if (count, total) != (self.rows, self.rows * (self.rows - 1) // 2):
                raise Failure(f"DuckDB reads {count} rows of {table.name}")


class OneTable(Matrix):
    """One table alone: every crash point is one of its own, and is met at each parallelism."""

    def rounds(self):
        rounds = [(point, parallelism) for point in self.points() for parallelism in (1, 2)] * self.options.times
        self.chance.shuffle(rounds)
        return rounds


def play(matrix):
    """0 when all is well; files and log are kept otherwise."""
    try:
        matrix.run()
    except Failure as failure:
        print(f"FAILED (seed {matrix.options.seed}): {failure}\nfiles and log are kept in {matrix.directory}", file=sys.stderr)
        print(matrix.log.read_text(errors="replace")[-4000:] if matrix.log.exists() else "", file=sys.stderr)
        return 1
    finally:
        matrix.place.close()
    if not matrix.options.keep:
        shutil.rmtree(matrix.directory)
    return 0


def main(place, forms, rows, per_second, kills=4, times=1, look_every=1):
    parser = argparse.ArgumentParser(description="Kills a job that writes tables of every kind, and looks for every row.")
    parser.add_argument("--kills", type=int, default=kills, help="at random moments, beside one at each crash point")
    parser.add_argument("--times", type=int, default=times, help="kills at each crash point")
    parser.add_argument("--rows", type=int, default=rows)
    parser.add_argument("--look-every", type=int, default=look_every, help="read all files after every n-th kill")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--patience", type=int, default=90, help="seconds that a crash point may take (longer on a busy machine)")
    parser.add_argument("--keep", action="store_true", help="keep the files of the run")
    parser.add_argument("--one-by-one", action="store_true", help="a job for each table, killed at each of its crash points at parallelism 1 and 2")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    tables = list(combinations(forms))
    if options.one_by_one:
        return max(play(OneTable(place, [table], options.rows, per_second, options)) for table in tables)
    return play(Matrix(place, tables, options.rows, per_second, options))
