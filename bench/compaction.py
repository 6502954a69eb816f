"""COMPACT TABLE beside DuckDB writing the table anew: 48 partitions of many Parquet files.

Each run gets a copy of the same files (by hard links, which are only read). Rows are checked by count and order-free hash.
"""
import os
import pathlib
import shutil

from harness import compare, data, limits, measure, peers, sluice, verify
from workloads import lake

ROLLING = ", 'sink.rolling-policy.file-size'='512kb'"


def parquet_files(folder):
    return [path for path in pathlib.Path(folder).rglob("*") if path.is_file() and path.name[0] not in "._"]


def megabytes(folder):
    return sum(path.stat().st_size for path in parquet_files(folder)) / 1e6


def copy_by_links(template, target):
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(template, target, copy_function=os.link)


def cases(options):
    folder = data.make(options, "orders", "csv")
    wanted = lake.expected(options, folder, "csv")
    template, target, rewritten = (options.work / name for name in ("small_files", "compacted", "out_duckdb"))
    # A checkpoint closes files too: half a second gives a table as a stream leaves it.
    sluice.run(options, lake.job(lake.file_table(folder, "csv"), template, "500 ms", ROLLING))
    before, size = len(parquet_files(template)), megabytes(template)
    case = compare.Case("W8", f"COMPACT TABLE, 48 partitions of {before} files", options.rows)

    def ours():
        copy_by_links(template, target)
        sample = sluice.run(options, lake.table(target) + "COMPACT TABLE lake;\n")
        verify.expect("sluice", lake.written(options, target, "**/*part-*"), wanted)
        case.extra["files after"] = len(parquet_files(target))
        if case.extra["files after"] >= before:
            raise measure.Failed("COMPACT TABLE merged nothing")
        return sample

    def duckdb():
        shutil.rmtree(rewritten, ignore_errors=True)
        statement = (f"COPY (SELECT * FROM read_parquet('{template}/*/*/part-*', hive_partitioning=true, hive_types={{'dt': 'VARCHAR', 'hour': 'VARCHAR'}})) "
                     f"TO '{rewritten}' (FORMAT parquet, COMPRESSION snappy, PARTITION_BY (dt, hour))")
        sample, _ = peers.ask(options, "duckdb", [statement], rewritten)
        verify.expect("duckdb", lake.written(options, rewritten, "**/*.parquet"), wanted)
        return sample

    compare.alternate(case, ours, {"duckdb": duckdb} if options.wants("duckdb") else {}, options.repeats)
    copy = limits.run("memory", data.files(folder)[0], options.work / "copied").get("copy")
    if copy:
        case.limit_name, case.limit_cpu_s = "start of a program, copying the bytes", limits.start()[1] + copy.cpu_for(size * 1e6)
    case.extra["MB/s"] = size / case.ours.median("wall_s")
    return [case]
