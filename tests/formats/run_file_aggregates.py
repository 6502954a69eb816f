#!/usr/bin/env python3
"""COUNT, MIN and MAX from footers of other writers' files: with all statistics, some, none, NULLs only, NaN, unsigned and shifted values.

Each answer is compared with what pyarrow computes from the values.
"""
# ctest: timeout=200

import datetime
import decimal
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

if "SLUICE_PYTHON" in os.environ and os.path.realpath(sys.prefix) != os.path.realpath(
    os.path.dirname(os.path.dirname(os.environ["SLUICE_PYTHON"]))
):
    os.execv(os.environ["SLUICE_PYTHON"], [os.environ["SLUICE_PYTHON"], *sys.argv])

try:
    import duckdb
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
except ImportError as missing:
    print(f"{missing}: ./dev test brings the readers")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
ZONE = "Asia/Shanghai"
NAN = float("nan")
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print(f"FAILED: {what}", flush=True)


def ask(folder, sql):
    script = folder / "script.sql"
    script.write_text(f"SET 'table.local-time-zone'='{ZONE}';\nSET 'execution.runtime-mode'='batch';\n" + sql, encoding="utf-8")
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "TZ": ZONE}
    done = subprocess.run([SLUICE, "run", "--fresh", str(script), "--output", "json"], capture_output=True, text=True, env=environment, timeout=60)
    if done.returncode != 0:
        return done.stderr.strip()[-600:]
    return [list(json.loads(line, parse_float=decimal.Decimal).values()) for line in done.stdout.splitlines() if line.startswith("{")]


# Name, type in the table, type in the file, values.
DAY = datetime.date(2020, 5, 20)
MOMENT = datetime.datetime(2020, 5, 20, 12, 34, 56, 123456)
COLUMNS = [
    ("i8", "TINYINT", pa.int8(), [3, -128, None, 127, 0]),
    ("i32", "INT", pa.int32(), [5, None, -7, 2147483647, 5]),
    ("i64", "BIGINT", pa.int64(), [2**62, -(2**62), None, 0, 1]),
    ("widened", "BIGINT", pa.int32(), [1, 2, None, -3, 4]),
    ("unsigned", "BIGINT", pa.uint32(), [0, 2**32 - 1, 7, None, 2**31]),
    ("short_unsigned", "INT", pa.uint16(), [65535, 0, None, 1, 2]),
    ("nulls", "BIGINT", pa.int64(), [None] * 5),
    ("f", "FLOAT", pa.float32(), [1.5, None, -2.5, 0.0, 3.0]),
    ("d", "DOUBLE", pa.float64(), [1.5, None, -2.5, -0.0, 3.0]),
    ("s", "STRING", pa.string(), ["m" * 300, "a" * 300 + "1", None, "z" * 300, "é"]),
    ("b", "BOOLEAN", pa.bool_(), [True, None, False, True, True]),
    ("dec9", "DECIMAL(9,2)", pa.decimal128(9, 2), [decimal.Decimal("1.25"), None, decimal.Decimal("-3.50"), decimal.Decimal("9.99"), decimal.Decimal("0.00")]),
    ("dec38", "DECIMAL(38,2)", pa.decimal128(38, 2), [decimal.Decimal("1.25"), None, decimal.Decimal("-3.50"), decimal.Decimal("9.99"), decimal.Decimal("0.00")]),
    ("born", "DATE", pa.date32(), [DAY, None, datetime.date(1969, 12, 31), datetime.date(2038, 1, 19), DAY]),
    ("ts", "TIMESTAMP(6)", pa.timestamp("us"), [MOMENT, None, datetime.datetime(1960, 1, 1, 0, 0, 0, 1), MOMENT, MOMENT]),
    ("cut", "TIMESTAMP(3)", pa.timestamp("us"), [MOMENT, None, datetime.datetime(1960, 1, 1, 0, 0, 0, 1), MOMENT, MOMENT]),
    ("shifted", "TIMESTAMP(6)", pa.timestamp("us", "UTC"), [MOMENT, None, datetime.datetime(1990, 6, 1), MOMENT, MOMENT]),
    ("instant", "TIMESTAMP_LTZ(6)", pa.timestamp("us", "UTC"), [MOMENT, None, datetime.datetime(1990, 6, 1), MOMENT, MOMENT]),
]
FILE = pa.table({name: pa.array(values, type) for name, _, type, values in COLUMNS})
DDL = ", ".join(f"{name} {type}" for name, type, _, _ in COLUMNS)


def calls(prevent):
    """All calls of all columns; `prevent` makes that the source must hand out rows."""
    made = ["COUNT(*)"] + (["SUM(1)"] if prevent else [])
    for name, *_ in COLUMNS:
        made += [f"COUNT({name})", f"MIN({name})", f"MAX({name})"]
    return made


def compare(folder, what):
    """Column by column what footers tell and what rows tell; whole numbers also with pyarrow."""
    table = f"CREATE TABLE t ({DDL}) WITH ('connector'='filesystem','path'='{folder}/data','format'='parquet');\n"
    rows = ask(folder, table + f"SELECT {', '.join(calls(True))} FROM t;")
    check(isinstance(rows, list), f"{what}: {rows}")
    if not isinstance(rows, list):
        return
    expected = [rows[0][0], *rows[0][2:]]
    script = table + "".join(f"SELECT COUNT(*), COUNT({name}), MIN({name}), MAX({name}) FROM t;\n" for name, *_ in COLUMNS)
    told = ask(folder, script)
    check(isinstance(told, list) and len(told) == len(COLUMNS), f"{what}: {told}")
    if not isinstance(told, list):
        return
    whole = pq.read_table(folder / "data")
    for i, (name, *_) in enumerate(COLUMNS):
        wanted = [expected[0], *expected[1 + 3 * i : 4 + 3 * i]]
        check(told[i] == wanted, f"{what}: {name}: {told[i]} instead of {wanted}")
        check(told[i][:2] == [len(whole), len(whole) - whole[name].null_count], f"{what}: count of {name}: {told[i][:2]}")
        if pa.types.is_integer(whole[name].type):
            bounds = pc.min_max(whole[name]).as_py()
            check(told[i][2:] == [bounds["min"], bounds["max"]], f"{what}: bounds of {name}: {told[i][2:]} instead of {bounds}")


def with_nan(table):
    values = table.to_pydict()
    values["d"][0] = NAN
    values["f"][4] = NAN
    return pa.table(values, schema=table.schema)


def write_all(folder, name, tables, **options):
    (folder / "data").mkdir(parents=True)
    for i, table in enumerate(tables):
        pq.write_table(table, folder / "data" / f"{name}-{i}", **options)


def pyarrow_cases(root):
    some = [name for i, (name, *_) in enumerate(COLUMNS) if i % 2 == 0]
    nulls = pa.table({name: pa.array([None] * 3, type) for name, _, type, _ in COLUMNS})
    variants = {
        "all statistics": {},
        "no statistics": {"write_statistics": False},
        "statistics of some columns": {"write_statistics": some},
        "page index": {"write_page_index": True},
        "small row groups": {"row_group_size": 2},
        "no statistics, small row groups": {"row_group_size": 2, "write_statistics": False},
        "format 1.0": {"version": "1.0"},
        "INT96": {"use_deprecated_int96_timestamps": True},
        "decimals as integers": {"store_decimal_as_integer": True},
    }
    for what, options in variants.items():
        tables = [FILE, nulls, FILE.slice(0, 0), FILE.slice(2)]
        if not what.startswith("INT96"):
            tables.append(with_nan(FILE))
        folder = root / what.replace(" ", "-")
        write_all(folder, "part", tables, **options)
        compare(folder, what)
    # Files that tell and files that do not, side by side; columns that a file does not have.
    folder = root / "mixed"
    write_all(folder, "told", [FILE])
    pq.write_table(FILE.slice(1, 3), folder / "data" / "untold", write_statistics=False)
    pq.write_table(FILE, folder / "data" / "some", write_statistics=some)
    compare(folder, "mixed")


def duckdb_case(root):
    folder = root / "duckdb"
    (folder / "data").mkdir(parents=True)
    connection = duckdb.connect()
    connection.execute("SET TimeZone='UTC'")
    file = with_nan(FILE)  # noqa: F841 DuckDB finds it by its name.
    connection.execute(f"COPY (SELECT * FROM file) TO '{folder}/data/one.parquet' (FORMAT parquet)")
    connection.execute(f"COPY (SELECT * FROM file LIMIT 0) TO '{folder}/data/none.parquet' (FORMAT parquet)")
    compare(folder, "duckdb")


def many_rows(root):
    """Row groups in which every bound is another one."""
    seed = random.randrange(1 << 30)
    random.seed(seed)
    folder = root / "many"
    (folder / "data").mkdir(parents=True)
    values = [random.choice([None, random.randrange(-(10**12), 10**12)]) for _ in range(5000)]
    file = pa.table({"v": pa.array(values, pa.int64())})
    for i in range(20):
        size = random.randrange(1, 200)
        pq.write_table(file.slice(i * 250, 250), folder / "data" / f"f{i}", row_group_size=size, write_statistics=random.random() < 0.7)
    rows = ask(folder, f"CREATE TABLE t (v BIGINT) WITH ('connector'='filesystem','path'='{folder}/data','format'='parquet');\n"
               "SELECT COUNT(*), COUNT(v), MIN(v), MAX(v) FROM t;")
    known = [v for v in values if v is not None]
    check(rows == [[5000, len(known), min(known), max(known)]], f"seed {seed}: {rows}")


def footers_alone(root):
    """A footer that lies tells who was asked: it, and not the rows."""
    folder = root / "lying"
    write_all(folder, "part", [pa.table({"v": pa.array([1, 5, None, 3], pa.int64())})])
    path = folder / "data" / "part-0"
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[:footer] + content[footer:].replace((5).to_bytes(8, "little"), (9).to_bytes(8, "little")))
    table = f"CREATE TABLE t (v BIGINT) WITH ('connector'='filesystem','path'='{folder}/data','format'='parquet');\n"
    rows = ask(folder, table + "SELECT COUNT(*), COUNT(v), MIN(v), MAX(v) FROM t;\nSELECT SUM(v), COUNT(*), MIN(v), MAX(v) FROM t;")
    check(rows == [[4, 3, 1, 9], [9, 4, 1, 5]], f"a footer that lies: {rows}")


def main():
    with tempfile.TemporaryDirectory(prefix="sluice-aggregates-") as directory:
        root = pathlib.Path(directory)
        pyarrow_cases(root)
        duckdb_case(root)
        many_rows(root)
        footers_alone(root)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
