#!/usr/bin/env python3
# ctest: timeout=200
"""Compressed text files across programs: ours are read by Python's decompressors and DuckDB, and those of others by us.

Written in batch, in streams whose files end at checkpoints, and in files that stay open over many checkpoints and a kill: each file is
whole for every reader, and every row is there once.
"""

import bz2
import collections
import gzip
import json
import lzma
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import zlib

if "SLUICE_PYTHON" in os.environ and os.path.realpath(sys.prefix) != os.path.realpath(
    os.path.dirname(os.path.dirname(os.environ["SLUICE_PYTHON"]))
):
    os.execv(os.environ["SLUICE_PYTHON"], [os.environ["SLUICE_PYTHON"], *sys.argv])

import duckdb
from backports import zstd

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
DIRECTORY = pathlib.Path(tempfile.mkdtemp(prefix="sluice-compressed-"))
ROWS = 3000
failures = []


def deflated(data):
    whole = zlib.decompressobj()
    text = whole.decompress(data)
    if not whole.eof or whole.unused_data:
        raise ValueError("not one whole zlib stream")
    return text


READERS = {"gzip": (".gz", gzip.decompress), "deflate": (".deflate", deflated), "bzip2": (".bz2", bz2.decompress), "xz": (".xz", lzma.decompress),
           "zstd": (".zst", zstd.decompress)}
WRITERS = {".gz": gzip.compress, ".gzip": gzip.compress, ".deflate": zlib.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd.compress}


def check(good, what):
    if not good:
        failures.append(what)
        print(f"FAILED: {what}", flush=True)


def sluice(sql, mode="batch", point=None):
    script = DIRECTORY / "script.sql"
    script.write_text(sql, encoding="utf-8")
    environment = {**os.environ, "XDG_STATE_HOME": str(DIRECTORY / "state"), "TZ": "UTC"}
    if point:
        environment["SLUICE_CRASH_POINT"] = point
    return subprocess.run([SLUICE, "run", str(script), "--output", "json", "-D", f"execution.runtime-mode={mode}"],
                          capture_output=True, text=True, env=environment, timeout=90)


def table(name, form, folder, options=""):
    return f"CREATE TABLE {name} (id BIGINT, name STRING) WITH ('connector'='filesystem','path'='{folder}','format'='{form}'{options});\n"


def generator(per_second):
    return ("CREATE TABLE g (id BIGINT, name STRING) WITH ('connector'='datagen','fields.id.kind'='sequence','fields.id.start'='1',"
            f"'fields.id.end'='{ROWS}','fields.name.length'='20'" + (f",'rows-per-second'='{per_second}'" if per_second else "") + ");\n")


def ids_of(folder, codec, form, what):
    """How often each id is there; every file decompressed to its end by a foreign library."""
    suffix, read = READERS[codec]
    ids = collections.Counter()
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.startswith((".", "_")):
            continue
        check(path.name.endswith(suffix), f"{what}: the name {path.name} does not end in {suffix}")
        try:
            lines = read(path.read_bytes()).decode().splitlines()
        except Exception as error:
            check(False, f"{what}: {path.name} cannot be decompressed: {error}")
            continue
        for line in lines:
            ids[json.loads(line)["id"] if form == "json" else int(line.split(",")[0])] += 1
    return ids


def all_once(ids, what):
    check(ids == collections.Counter(range(1, ROWS + 1)), f"{what}: {len(ids)} ids, {sum(ids.values())} rows instead of {ROWS} once each")


def read_by_duckdb(folder, codec, form, what):
    if codec not in ("gzip", "zstd"):
        return
    files = f"{folder}/**/part-*"
    source = (f"read_json('{files}', format='newline_delimited', compression='{codec}')" if form == "json"
              else f"read_csv('{files}', header=false, compression='{codec}', names=['id','name'])")
    got = duckdb.sql(f"SELECT count(*), count(DISTINCT id), sum(id) FROM {source}").fetchall()[0]
    check(got == (ROWS, ROWS, ROWS * (ROWS + 1) // 2), f"{what}: DuckDB reads {got}")


def read_by_us(folder, form, what):
    done = sluice(table("t", form, folder) + "SELECT COUNT(*) AS c, COUNT(DISTINCT id) AS d FROM t;")
    check(f'{{"c":{ROWS},"d":{ROWS}}}' in done.stdout.replace(" ", ""), f"{what}: we read {done.stdout} {done.stderr[-500:]}")


def written(codec, form, mode):
    folder = DIRECTORY / f"{codec}-{form}-{mode}"
    options = f",'sink.compression'='{codec}'"
    sql, point = "SET 'execution.checkpointing.interval'='100 ms';\n", None
    if mode == "open":
        # Files stay open over ten checkpoints, and the process is killed in between.
        options += ",'sink.rolling-policy.on-checkpoint'='false'"
        point = "checkpoint.after_metadata_rename:4"
    sql += generator(0 if mode == "batch" else ROWS) + table("t", form, folder, options) + "INSERT INTO t SELECT * FROM g;\n"
    what = f"{codec} {form} {mode}"
    if point:
        killed = sluice(sql, "streaming", point)
        check(killed.returncode == -signal.SIGKILL, f"{what}: not killed at {point} but {killed.returncode}: {killed.stderr[-500:]}")
    done = sluice(sql, "batch" if mode == "batch" else "streaming")
    check(done.returncode == 0, f"{what}: {done.stderr[-800:]}")
    all_once(ids_of(folder, codec, form, what), what)
    read_by_duckdb(folder, codec, form, what)
    read_by_us(folder, form, what)


def merged(codec):
    folder = DIRECTORY / f"{codec}-merged"
    sql = ("SET 'execution.checkpointing.interval'='300 ms';\nSET 'parallelism.default'='2';\n" + generator(ROWS) +
           table("t", "csv", folder, f",'sink.compression'='{codec}','auto-compaction'='true'") + "INSERT INTO t SELECT * FROM g;\n")
    done = sluice(sql, "streaming")
    what = f"{codec} merged"
    check(done.returncode == 0, f"{what}: {done.stderr[-800:]}")
    all_once(ids_of(folder, codec, "csv", what), what)
    check(all(path.name.startswith("compacted-") for path in folder.glob("[!._]*")), f"{what}: {os.listdir(folder)}")


def refused():
    for options, word in ((",'sink.compression'='deflate','sink.rolling-policy.on-checkpoint'='false'", "cannot be continued"),
                          (",'sink.compression'='deflate','auto-compaction'='true'", "cannot be merged"),
                          (",'sink.compression'='lzo'", "sink.compression"), (",'sink.compresion'='gzip'", "sink.compression")):
        done = sluice(generator(0) + table("t", "csv", DIRECTORY / "no", options) + "INSERT INTO t SELECT * FROM g;", "streaming")
        check(done.returncode == 1 and word in done.stderr, f"{options}: exit {done.returncode}, {done.stderr[-400:]}")
    done = sluice(generator(0) + table("t", "parquet", DIRECTORY / "no", ",'sink.compression'='gzip'") + "INSERT INTO t SELECT * FROM g;")
    check(done.returncode == 1 and "parquet.compression" in done.stderr, f"parquet: {done.stderr[-400:]}")


def foreign():
    """Files of others, several members one after another where the form allows it."""
    folder = DIRECTORY / "foreign"
    folder.mkdir()
    expected = 0
    for number, (suffix, write) in enumerate(sorted(WRITERS.items())):
        data = write(b"1,a\n2,b\n")
        expected += 2
        if suffix != ".deflate":
            data += write(b"3,c")
            expected += 1
        (folder / f"f{number}.csv{suffix}").write_bytes(data)
    done = sluice(table("t", "csv", folder) + "SELECT COUNT(*) AS c FROM t;")
    check(f'{{"c":{expected}}}' in done.stdout.replace(" ", ""), f"foreign files: {done.stdout} {done.stderr[-500:]}")


def main():
    for codec in READERS:
        for form in ("csv", "json"):
            written(codec, form, "batch")
        written(codec, "csv", "checkpoints")
        if codec != "deflate":
            written(codec, "json", "open")
            merged(codec)
    foreign()
    refused()
    if failures:
        print(f"{len(failures)} failures, files in {DIRECTORY}")
        sys.exit(1)
    subprocess.run(["rm", "-rf", str(DIRECTORY)], check=True)
    print("compressed text: every file is whole, every row is there once")


if __name__ == "__main__":
    main()
