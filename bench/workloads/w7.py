"""W7: 100,000 small files: read once beside other engines, and watched (bench/watch.py).

The watched files are read, decoded, written into a csv table and published with checkpoints of half a second; Flink's figure is that of a bounded
job that reads and drops the rows, which is in its favour.
"""
import shutil
import sys

from harness import compare, limits, measure, peers, settings, sluice
from workloads import scripts

sys.path.insert(0, str(settings.ROOT / "bench"))
import watch  # noqa: E402

TITLE = "100,000 small files"
ROWS_PER_FILE = 10
COLUMNS = "{'id': 'BIGINT', 'name': 'VARCHAR', 'amount': 'DOUBLE'}"


def table(folder):
    return f"CREATE TABLE files (id BIGINT, name STRING, amount DOUBLE) WITH ('connector'='filesystem', 'path'='{folder}', 'format'='csv');\n"


def checked(count, sample, rows):
    expected = [count, count * (count - 1) // 2]
    if [int(value) for value in rows[0]] != expected:
        raise measure.Failed(f"count and sum are {rows[0]}, not {expected}")
    return sample


def read_once(options, flink, folder, files):
    rows = files * ROWS_PER_FILE
    case = compare.Case("W7", f"read {files:,} files of {ROWS_PER_FILE} rows", rows)
    floor = limits.run("scan_directory", folder, settings.PARALLELISM).get("read files")
    if floor:
        case.limit_name, case.limit_cpu_s = "opening, reading and closing each", floor.cpu_s
    ours = lambda: checked(rows, *sluice.query(options, table(folder) + "SELECT COUNT(*) AS n, SUM(id) AS s FROM files;\n"))
    others = {}
    if options.wants("duckdb"):
        select = [f"SELECT count(*), sum(id)::BIGINT FROM read_csv('{folder}/*/*.csv', header=false, auto_detect=false, columns={COLUMNS})"]
        others["duckdb"] = lambda: checked(rows, *peers.ask(options, "duckdb", select))
    compare.alternate(case, ours, others, min(options.repeats, 3))
    if flink:
        few = files // 5
        fewer = options.work / "few_files"
        watch.make_files(str(fewer), few, ROWS_PER_FILE)
        sql = (table(fewer) + "CREATE TABLE nowhere (id BIGINT, name STRING, amount DOUBLE) WITH ('connector'='blackhole');\n"
               "INSERT INTO nowhere SELECT * FROM files;\n")
        compare.alternate(case, ours, {"flink": lambda: compare.scaled(flink.run(options, sql), files / few)}, options.flink_repeats)
        shutil.rmtree(fewer)
    case.extra["files per s"] = files / case.ours.median("wall_s")
    return case


def watched(options, files, peer_seconds):
    found = scripts.lines(options, "watch.py", "--json", "--files", files, "--rows", ROWS_PER_FILE)[-1]
    case = scripts.figures("W7", f"watch {files:,} files of {ROWS_PER_FILE} rows", found)
    case.note = f"{100 * found['watched_of_limit']:.0f} % of opening and reading each file"
    if peer_seconds:
        case.note += f", {peer_seconds * found['watched_files_per_s'] / files:.0f} times Flink's bounded read"
    return case


def run(options, flink):
    files = 100_000 if options.rows >= 1_000_000 else 5_000
    folder = options.work / "small_files"
    watch.make_files(str(folder), files, ROWS_PER_FILE)
    try:
        once = read_once(options, flink, folder, files)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return [once, watched(options, files, once.peers["flink"].median("wall_s") if "flink" in once.peers else None)]
