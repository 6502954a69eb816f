#!/usr/bin/env python3
"""Filtered reads of Parquet and ORC files of pyarrow and pyorc, whose pages and strides we skip: the rows are those that pass.

  run_skipping.py [NAME…]      names of the checks, all without
"""
# ctest: timeout=300

import datetime
import decimal
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

if "SLUICE_PYTHON" in os.environ and os.path.realpath(sys.prefix) != os.path.realpath(
    os.path.dirname(os.path.dirname(os.environ["SLUICE_PYTHON"]))
):
    os.execv(os.environ["SLUICE_PYTHON"], [os.environ["SLUICE_PYTHON"], *sys.argv])

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from sluice_session import Session  # noqa: E402

try:
    import pyarrow as pa
    import pyarrow.orc as paorc
    import pyarrow.parquet as pq
    import pyorc
except ImportError as missing:
    print(f"{missing}: ./dev test brings the readers")
    sys.exit(77)

BINARY = os.environ.get("SLUICE_BINARY", str(HERE.parent.parent / "build" / "sluice"))
ROWS = 12000
COLUMNS = """id BIGINT, k BIGINT, s STRING, born DATE, price DECIMAL(10,2), flag BOOLEAN, ratio DOUBLE, tiny TINYINT, code STRING,
 t TIMESTAMP(6), l ARRAY<STRING>, r ROW<x INT, y ROW<z STRING, n ARRAY<INT>>>, m MAP<STRING, BIGINT>, lr ARRAY<ROW<a INT, b STRING>>"""
ARROW = pa.schema([
    ("id", pa.int64()), ("k", pa.int64()), ("s", pa.string()), ("born", pa.date32()), ("price", pa.decimal128(10, 2)), ("flag", pa.bool_()),
    ("ratio", pa.float64()), ("tiny", pa.int8()), ("code", pa.string()), ("t", pa.timestamp("us")), ("l", pa.list_(pa.string())),
    ("r", pa.struct([("x", pa.int32()), ("y", pa.struct([("z", pa.string()), ("n", pa.list_(pa.int32()))]))])),
    ("m", pa.map_(pa.string(), pa.int64())), ("lr", pa.list_(pa.struct([("a", pa.int32()), ("b", pa.string())]))),
])  # fmt: skip
ORC_TYPE = """struct<id:bigint,k:bigint,s:string,born:date,price:decimal(10,2),flag:boolean,ratio:double,tiny:tinyint,code:string,t:timestamp,
l:array<string>,r:struct<x:int,y:struct<z:string,n:array<int>>>,m:map<string,bigint>,lr:array<struct<a:int,b:string>>>""".replace("\n", "")
EPOCH = datetime.datetime(2020, 1, 1)


def make_rows():
    """Values near those of neighbours, NULLs one by one and in long runs, texts of very different lengths: pages end at different rows."""
    chance = random.Random(7)

    def some(value, at, share=0.05):
        return None if chance.random() < share or 5000 <= at < 7300 and share > 0.04 else value

    rows = []
    for at in range(ROWS):
        near = at + chance.randrange(30)
        rows.append({
            "id": at,
            "k": some(near // 3, at),
            "s": some(f"text {near:06d} " + "x" * (at % 300), at),
            "born": some(datetime.date(2000, 1, 1) + datetime.timedelta(days=at // 40), at),
            "price": some(decimal.Decimal(near).scaleb(-2) - 60, at),
            "flag": some(at % 3000 < 10, at, 0.01),
            "ratio": some(near / 8, at),
            "tiny": some(at // 500, at),
            "code": some(f"code {at // 2500}", at),
            "t": some(EPOCH + datetime.timedelta(seconds=near, microseconds=at), at),
            "l": some([some(f"{n} {at}", 0, 0.1) for n in range(at % 5)], at),
            "r": some({"x": some(at, 0, 0.1), "y": some({"z": "z" * (at % 50), "n": [at] * (at % 3)}, 0, 0.1)}, at),
            "m": some({f"key {n}": at for n in range(at % 4)}, at),
            "lr": some([some({"a": n, "b": f"{at}"}, 0, 0.1) for n in range(at % 3)], at),
        })  # fmt: skip
    return rows


# SQL beside the same in Python; NULL passes neither.
FILTERS = [
    ("k > 3900", lambda row: row["k"] is not None and row["k"] > 3900),
    ("k BETWEEN 700 AND 720", lambda row: row["k"] is not None and 700 <= row["k"] <= 720),
    ("k = 1234 OR k = 3333", lambda row: row["k"] in (1234, 3333)),
    ("k IN (5, 2500, 3999)", lambda row: row["k"] in (5, 2500, 3999)),
    ("k < 200 AND price > -59", lambda row: row["k"] is not None and row["k"] < 200 and row["price"] is not None and row["price"] > -59),
    ("s > 'text 011900'", lambda row: row["s"] is not None and row["s"] > "text 011900"),
    ("s >= 'text 004000' AND s < 'text 004100' AND k > 0", lambda row: row["s"] is not None and "text 004000" <= row["s"] < "text 004100" and (row["k"] or 0) > 0),
    ("born = DATE '2000-03-01'", lambda row: row["born"] == datetime.date(2000, 3, 1)),
    ("price < -59.50", lambda row: row["price"] is not None and row["price"] < decimal.Decimal("-59.50")),
    ("ratio >= 1490.5", lambda row: row["ratio"] is not None and row["ratio"] >= 1490.5),
    ("tiny = 3", lambda row: row["tiny"] == 3),
    ("code = 'code 4'", lambda row: row["code"] == "code 4"),
    ("k IS NULL AND id < 5100", lambda row: row["k"] is None and row["id"] < 5100),
    ("k IS NOT NULL AND id >= 5000 AND id < 7400", lambda row: row["k"] is not None and 5000 <= row["id"] < 7400),
    ("t < TIMESTAMP '2020-01-01 00:01:00'", lambda row: row["t"] is not None and row["t"] < EPOCH + datetime.timedelta(minutes=1)),
    ("flag = TRUE AND id > 8000", lambda row: row["flag"] is True and row["id"] > 8000),
    ("id = 11999", lambda row: row["id"] == 11999),
    ("id < 0", lambda row: False),
]  # fmt: skip
PROJECTIONS = ["id, k, s, l", "id, r, lr", "m, id", "tiny, price, id, flag, code, ratio", "id, lr, t, born, s, r, l, m"]


def plain(value):
    """As the JSON of our results has it."""
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.%f")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


class Check:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.failures = []
        settings = {"parallelism.default": 1, "table.local-time-zone": "UTC", "execution.runtime-mode": "batch"}
        self.session = Session(BINARY, self.folder / "session", settings, output="json", timeout=120)
        self.count = 0
        self.rows = make_rows()

    def place(self):
        self.count += 1
        path = self.folder / f"table{self.count}"
        path.mkdir()
        return path

    def compare(self, what, path, options):
        """Each filter with one projection; rows and places."""
        table = f"CREATE TABLE t ({COLUMNS}) WITH ('connector'='filesystem', 'path'='{path}', {options})"
        self.session.run(table)
        for at, (condition, passes) in enumerate(FILTERS):
            projection = PROJECTIONS[(at + self.count) % len(PROJECTIONS)]
            outcome = self.session.run(f"{table};\nSELECT {projection} FROM t WHERE {condition}")
            if outcome.code != 0:
                self.failures.append(f"{what}, {condition}: {outcome.messages}")
                continue
            names = projection.split(", ")
            found = [json.loads(line) for line in outcome.text.splitlines()]
            found = [{name: plain(row[name]) for name in names} for row in sorted(found, key=lambda row: row["id"])]
            wanted = [{name: plain(row[name]) for name in names} for row in self.rows if passes(row)]
            for row in found + wanted:
                if "price" in row and row["price"] is not None:
                    row["price"] = float(row["price"])
            if found != wanted:
                where = next((i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), min(len(found), len(wanted)))
                self.failures.append(f"{what}, {condition}, {projection}: {len(found)} rows, should be {len(wanted)}; row {where}: "
                                     f"{str(found[where : where + 1])[:300]}, should be {str(wanted[where : where + 1])[:300]}")  # fmt: skip

    def expect_skipped(self, what, path, options, condition, most_read, least_read=1):
        """The job tells how many rows it did not look at."""
        target = self.place()
        script = self.folder / "skipped.sql"
        script.write_text(
            f"CREATE TABLE t ({COLUMNS}) WITH ('connector'='filesystem', 'path'='{path}', {options});\n"
            f"CREATE TABLE o (id BIGINT, s STRING) WITH ('connector'='filesystem', 'path'='{target}', 'format'='json');\n"
            f"INSERT INTO o SELECT id, s FROM t WHERE {condition};\n")
        command = [BINARY, "run", script, "-D", "execution.runtime-mode=batch", "-D", "parallelism.default=1", "--fresh"]
        text = subprocess.run(command, capture_output=True, text=True, env=self.session.environment, check=False).stderr
        read = re.search(r"([0-9,]+) rows in", text)
        skipped = re.search(r"([0-9,]+) skipped by filters", text)
        count = [int(found[1].replace(",", "")) if found else -1 for found in (read, skipped)]
        if sum(count) != ROWS or not least_read <= count[0] <= most_read:
            self.failures.append(f"{what}, {condition}: {count} rows read and skipped of {ROWS}, at most {most_read} to be read: {text[-300:]}")


def parquet_of_pyarrow(check):
    table = pa.Table.from_pylist(check.rows, ARROW)
    variants = [
        ("dictionary", {}),
        ("plain, v2 pages, zstd", {"use_dictionary": False, "data_page_version": "2.0", "compression": "zstd"}),
        ("small pages, no compression", {"use_dictionary": False, "data_page_size": 2000, "compression": "none"}),
        ("dictionary and small pages, two row groups", {"data_page_size": 1000, "row_group_size": 7000}),
        ("INT96", {"use_deprecated_int96_timestamps": True, "data_page_size": 4000}),
    ]
    for what, options in variants:
        path = check.place()
        pq.write_table(table, path / "f.parquet", write_page_index=True, write_batch_size=256,
                       **{"data_page_size": 8000, **options})  # fmt: skip
        check.compare(f"parquet, {what}", path, "'format'='parquet', 'parquet.utc-timezone'='true'")
        # Pages of a dictionary's numbers are small: few of them.
        most_read = 8000 if what == "dictionary" else 3000
        check.expect_skipped(f"parquet, {what}", path, "'format'='parquet'", "k BETWEEN 700 AND 720", most_read)


def orc_of_pyarrow(check):
    table = pa.Table.from_pylist(check.rows, ARROW)
    for codec in ("uncompressed", "zlib", "snappy", "zstd"):
        for threshold in (0.0, 1.0):
            path = check.place()
            paorc.write_table(table, path / "f.orc", compression=codec, row_index_stride=1000, dictionary_key_size_threshold=threshold,
                              compression_block_size=65536)  # fmt: skip
            options = "'format'='orc'"
            check.compare(f"orc of pyarrow, {codec}, {threshold}", path, options)
            check.expect_skipped(f"orc of pyarrow, {codec}, {threshold}", path, options, "k BETWEEN 700 AND 720", 2000)


def orc_of_pyorc(check):
    for codec in (pyorc.CompressionKind.NONE, pyorc.CompressionKind.ZLIB):
        path = check.place()
        with open(path / "f.orc", "wb") as file:
            with pyorc.Writer(file, ORC_TYPE, struct_repr=pyorc.StructRepr.DICT, compression=codec, row_index_stride=1000,
                              compression_block_size=1 << 16, dict_key_size_threshold=0.5, bloom_filter_columns=("k", "s", "price", "t", "born"), bloom_filter_fpp=0.0001,
                              timezone=__import__("zoneinfo").ZoneInfo("UTC")) as writer:  # fmt: skip
                for row in check.rows:
                    writer.write(row)
        options = "'format'='orc'"
        check.compare(f"orc of pyorc, {codec.name}", path, options)
        check.expect_skipped(f"orc of pyorc, {codec.name}", path, options, "k BETWEEN 700 AND 720", 2000)
        for condition, most in conditions_for_filters(check):
            check.expect_skipped(f"orc of pyorc, {codec.name}", path, options, condition, most, 0)


def conditions_for_filters(check):
    """Equalities within the bounds of every stride, of values that no row has, and how many rows may be read for them."""
    prices = {row["price"] for row in check.rows}
    price = next(value for value in (decimal.Decimal(cents).scaleb(-2) for cents in range(-2000, 2000)) if value not in prices)
    times = {row["t"] for row in check.rows}
    time = next(value for value in (EPOCH + datetime.timedelta(seconds=near, microseconds=900000) for near in range(2000, 4000)) if value not in times)
    return [(f"price = CAST({price} AS DECIMAL(10,2))", 1000), (f"t = TIMESTAMP '{time:%Y-%m-%d %H:%M:%S.%f}'", 1000)]


def our_bloom_filters_in_pyorc(check):
    """What we hash is what the C++ library looks for: rows that are there are found, strides without them are left out."""
    path = check.place()
    columns = "id BIGINT, price DECIMAL(10,2), t TIMESTAMP(6)"
    rows = ", ".join(f"({at}, {at * 7}.50, TIMESTAMP '{EPOCH + datetime.timedelta(seconds=at * 7, milliseconds=at):%Y-%m-%d %H:%M:%S.%f}')" for at in range(2000))
    outcome = check.session.run(
        f"CREATE TABLE t ({columns}) WITH ('connector'='filesystem', 'path'='{path}', 'format'='orc', 'orc.row.index.stride'='1000',\n"
        f" 'orc.bloom.filter.columns'='price,t', 'orc.bloom.filter.fpp'='0.0001');\nINSERT INTO t VALUES {rows}")
    if outcome.code != 0:
        check.failures.append(f"our bloom filters: {outcome.messages}")
        return
    (file,) = [one for one in path.iterdir() if not one.name.startswith((".", "_"))]

    def found(kind, name, value, **more):
        predicate = pyorc.predicates.PredicateColumn(kind, name, **more) == value
        with file.open("rb") as stream:
            return [row[0] for row in pyorc.Reader(stream, predicate=predicate)]

    for at in range(0, 2000, 37):
        price = found(pyorc.TypeKind.DECIMAL, "price", decimal.Decimal(at * 7) + decimal.Decimal("0.50"), precision=10, scale=2)
        time = found(pyorc.TypeKind.TIMESTAMP, "t", EPOCH.replace(tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=at * 7, milliseconds=at))
        if at not in price or at not in time:
            check.failures.append(f"our bloom filters: row {at} is not found by pyorc: {at in price} {at in time}")
    if found(pyorc.TypeKind.DECIMAL, "price", decimal.Decimal("3500.75"), precision=10, scale=2):
        check.failures.append("our bloom filters: pyorc does not use those of decimals")


CHECKS = [parquet_of_pyarrow, orc_of_pyarrow, orc_of_pyorc, our_bloom_filters_in_pyorc]


def main():
    failures = []
    for one in CHECKS:
        if sys.argv[1:] and one.__name__ not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory(prefix="sluice-skipping-") as folder:
            check = Check(folder)
            one(check)
            failures += check.failures
        print(f"{one.__name__}: {len(check.failures)} failures")
    for failure in failures[:40]:
        print(failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
