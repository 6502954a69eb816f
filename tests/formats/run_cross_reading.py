#!/usr/bin/env python3
"""Files across readers, both directions: ours read by pyarrow, DuckDB and pyorc, theirs by us, values equal.

  run_cross_reading.py [NAME…]      names of the checks, all without

The values are those of the type matrix, with NULLs beside them, alone and in arrays and rows.
"""
# ctest: timeout=300

import datetime
import json
import os
import pathlib
import sys
import tempfile
from pathlib import Path

if "SLUICE_PYTHON" in os.environ and os.path.realpath(sys.prefix) != os.path.realpath(
    os.path.dirname(os.path.dirname(os.environ["SLUICE_PYTHON"]))
):
    os.execv(os.environ["SLUICE_PYTHON"], [os.environ["SLUICE_PYTHON"], *sys.argv])

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.path.insert(0, str(HERE))
from sluice_session import Session  # noqa: E402
from type_matrix import TYPES  # noqa: E402

try:
    import duckdb
    import pyarrow as pa
    import pyarrow.csv as pacsv
    import pyarrow.orc as paorc
    import pyarrow.parquet as pq
    import pyorc
except ImportError as missing:
    print(f"{missing}: ./dev test brings the readers")
    sys.exit(77)

BINARY = os.environ.get("SLUICE_BINARY", str(HERE.parent.parent / "build" / "sluice"))
EPOCH = datetime.datetime(1970, 1, 1)
CASES = [case for case in TYPES if not case.from_json]


def arrow_type(case):
    name = case.arrow
    if name.startswith("decimal128"):
        return pa.decimal128(*(int(number) for number in name[11:-1].split(",")))
    if name.startswith("timestamp"):
        unit, _, zone = name[10:-1].partition(", ")
        return pa.timestamp(unit, zone or None)
    return {"date32[day]": pa.date32(), "time32[ms]": pa.time32("ms"), "bool": pa.bool_(), "float": pa.float32(),
            "double": pa.float64()}.get(name) or getattr(pa, name)()  # fmt: skip


def arrow_array(case):
    values = [value for _, value in case.values] + [None]
    kind = arrow_type(case)
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(kind)
    return pa.array(values, kind)


def nested(array):
    """An array of lists and one of rows with the values of `array`: all of them in a list, NULL, an empty list, NULLs."""
    rows = len(array)
    lists = pa.ListArray.from_arrays(pa.array([0, rows] + [rows] * (rows - 1), pa.int32()), array)
    lists = pa.ListArray.from_arrays(lists.offsets, array, mask=pa.array([at == 1 for at in range(rows)]))
    return lists, pa.StructArray.from_arrays([array, pa.array(range(rows), pa.int32())], ["x", "y"])


def plain(value):
    """A value in a form in which equal ones are equal: NaN too, and times as counts."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - EPOCH) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.time):
        return value.replace(tzinfo=None)  # Flink's files say that a time of day is adjusted to UTC.
    if isinstance(value, bytearray):
        return bytes(value)
    return value


class Check:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.failures = []
        settings = {"parallelism.default": 1, "table.local-time-zone": "UTC", "execution.runtime-mode": "batch"}
        self.session = Session(BINARY, self.folder / "session", settings, output="json", timeout=120)
        self.count = 0

    def place(self):
        self.count += 1
        path = self.folder / f"table{self.count}"
        path.mkdir()
        return path

    def equal(self, what, found, wanted):
        if found != wanted:
            where = next((at for at, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), min(len(found), len(wanted)))
            self.failures.append(f"{what}: value {where}: found {str(found[where : where + 1])[:200]}, "
                                 f"should be {str(wanted[where : where + 1])[:200]}")  # fmt: skip

    def run(self, sql):
        outcome = self.session.run(sql)
        if outcome.code != 0:
            self.failures.append(f"{sql[:200]}: {outcome.messages}")
        return outcome

    def write(self, cases, options):
        """One table with a column a type, its rows in order; answers its files."""
        path = self.place()
        length = max(len(case.values) for case in cases) + 1
        columns = ", ".join(f"c{at} {case.sql}, a{at} ARRAY<{case.sql}>, r{at} ROW<x {case.sql}>" for at, case in enumerate(cases))
        rows = []
        for row in range(length):
            cells = [str(row)]
            for case in cases:
                value = case.values[row][0] if row < len(case.values) else f"CAST(NULL AS {case.sql})"
                cells += [value, f"ARRAY[{value}, CAST(NULL AS {case.sql})]", f"ROW({value})"]
            rows.append("(" + ", ".join(cells) + ")")
        table = f"CREATE TABLE t (id INT, {columns}) WITH ('connector'='filesystem', 'path'='{path}', {options})"
        self.run(f"{table};\nINSERT INTO t VALUES {', '.join(rows)}")
        return [file for file in path.iterdir() if not file.name.startswith((".", "_"))]

    def expected(self, case, length):
        return [case.values[row][1] if row < len(case.values) else None for row in range(length)]


def in_order(table):
    return table.sort_by("id")


def check_arrow_table(check, what, table, cases, letters="car"):
    for at, case in enumerate(cases):
        wanted = [plain(value) for value in check.expected(case, len(table))]
        kind = arrow_type(case)
        for name, pick in ((f"c{at}", lambda column: column), (f"a{at}", lambda column: pa.compute.list_element(column, 0)),
                           (f"r{at}", lambda column: pa.compute.struct_field(column, [0]))):  # fmt: skip
            if name[0] not in letters:
                continue
            column = pick(table[name].combine_chunks())
            if pa.types.is_timestamp(kind):
                # The unit of an INT96 column is the reader's choice.
                column = column.cast(pa.timestamp(column.type.unit)).cast(pa.int64())
                factor = {"ms": 10**3, "us": 10**6, "ns": 10**9}
                scale = [factor[pick(table[name].combine_chunks()).type.unit], factor[kind.unit]]
                found = [value if value is None else value * scale[1] // scale[0] for value in column.to_pylist()]
            else:
                found = [plain(value) for value in column.to_pylist()]
            check.equal(f"{what}, {case.sql}, {name[0]}", found, wanted)


def fits_nanoseconds(case):
    return not case.arrow.startswith("timestamp") or "ns" in case.arrow


def ours_parquet_to_pyarrow(check):
    """INT96 by default, INT64 in each unit."""
    for unit in ("us", "ns"):
        cases = [case for case in CASES if not case.arrow.startswith("timestamp") or (unit == "ns") == ("ns" in case.arrow)]
        for file in check.write(cases, "'format'='parquet', 'parquet.utc-timezone'='true'"):
            table = in_order(pq.ParquetFile(file, coerce_int96_timestamp_unit=unit).read())
            check_arrow_table(check, f"our INT96 in pyarrow, {unit}", table, cases)
    for unit, name in (("us", "micros"), ("ns", "nanos"), ("ms", "millis")):
        cases = [case for case in CASES if not case.arrow.startswith("timestamp") or f"[{unit}" in case.arrow]
        options = f"'format'='parquet', 'parquet.write.int64.timestamp'='true', 'parquet.timestamp.time.unit'='{name}'"
        for codec in ("SNAPPY", "GZIP", "ZSTD", "LZ4_RAW", "UNCOMPRESSED"):
            for file in check.write(cases, f"{options}, 'parquet.compression'='{codec}', 'parquet.writer.version'='PARQUET_2_0'"):
                check_arrow_table(check, f"our INT64 {name} {codec} in pyarrow", in_order(pq.read_table(file)), cases)


def write_sorted(check, cases, options, copies):
    """The same values into two partitions whose rows wait sorted, `copies` times each; answers the files."""
    path = check.place()
    length = max(len(case.values) for case in cases) + 1
    columns = ", ".join(f"c{at} {case.sql}" for at, case in enumerate(cases))
    rows = []
    for row in range(length):
        cells = [case.values[row][0] if row < len(case.values) else f"CAST(NULL AS {case.sql})" for case in cases]
        rows += ["(" + ", ".join([str(row), *cells, f"'{partition}'"]) + ")" for partition in "xy"]
    table = f"CREATE TABLE t (id INT, {columns}, p STRING) PARTITIONED BY (p) WITH ('connector'='filesystem', 'path'='{path}', 'sink.sort-by-partition'='true', {options})"
    again = " UNION ALL ".join(["SELECT * FROM t0"] * copies)
    names = ", ".join(["id", *(f"c{at}" for at in range(len(cases))), "p"])
    typed = ", ".join(["CAST(id AS INT) AS id", *(f"CAST(c{at} AS {case.sql}) AS c{at}" for at, case in enumerate(cases)), "p"])
    check.run(f"{table};\nINSERT INTO t WITH t0 AS (SELECT {typed} FROM (VALUES {', '.join(rows)}) AS v ({names})) {again}")
    return sorted(path.glob("p=*/part-*")), length


def our_small_parquet_files(check):
    """Files that are encoded whole, as those of thousands of partitions are: without a dictionary, and with one that makes them smaller."""
    every = [case for case in CASES if not case.arrow.startswith("timestamp") or "[us" in case.arrow]
    plain_options = "'format'='parquet', 'parquet.utc-timezone'='true'"
    variants = [plain_options, f"{plain_options}, 'parquet.write.int64.timestamp'='true', 'parquet.timestamp.time.unit'='micros', 'parquet.compression'='ZSTD'",
                f"{plain_options}, 'parquet.compression'='UNCOMPRESSED'", f"{plain_options}, 'parquet.compression'='GZIP'", f"{plain_options}, 'parquet.compression'='LZ4_RAW'"]
    for options in variants:
        for copies in (1, 8):
            # 64 KiB of a partition would make it a large one.
            cases = [case for case in every if copies == 1 or all(len(value) < 500 for value, _ in case.values)]
            files, length = write_sorted(check, cases, options, copies)
            check.equal("files of small partitions", len(files), 2)
            for file in files:
                what = f"our small files, {copies} times, {options}"
                data = pq.ParquetFile(file, coerce_int96_timestamp_unit="us", page_checksum_verification=True)
                column = data.metadata.row_group(0).column(0)
                check.equal(f"{what}: written whole", (column.has_column_index, column.has_dictionary_page), (False, copies > 1))
                table = in_order(data.read())
                check.equal(f"{what}: rows", len(table), length * copies)
                for copy in range(copies):  # In order of id, each copy's rows are `copies` apart.
                    check_arrow_table(check, what, table.take(list(range(copy, len(table), copies))), cases, "c")
                for at, case in enumerate(cases):
                    if case.arrow.startswith(("timestamp", "float", "double")):
                        continue
                    found = duckdb.sql(f"SELECT c{at} FROM read_parquet('{file}') ORDER BY id").fetchall()[::copies]
                    check.equal(f"{what} in DuckDB, {case.sql}", [plain(row[0]) for row in found], [plain(value) for value in check.expected(case, length)])
                check_bounds(check, what, data, table, cases)


def check_bounds(check, what, data, table, cases):
    """Statistics are what the values are."""
    for at, case in enumerate(cases):
        statistics = data.metadata.row_group(0).column(1 + at).statistics
        if statistics is None:
            check.equal(f"{what}, {case.sql}: statistics", case.arrow[:9], "timestamp")  # INT96 has no order.
            continue
        values = [value for value in table[f"c{at}"].to_pylist() if value is not None and value == value]
        check.equal(f"{what}, {case.sql}: NULLs", statistics.null_count, table[f"c{at}"].null_count)
        if statistics.has_min_max and not case.arrow.startswith(("timestamp", "time", "float")):
            check.equal(f"{what}, {case.sql}: bounds", (plain(statistics.min), plain(statistics.max)), (plain(min(values)), plain(max(values))))


def ours_parquet_to_duckdb(check):
    cases = [case for case in CASES if "ns" not in case.arrow]
    for file in check.write(cases, "'format'='parquet', 'parquet.utc-timezone'='true', 'parquet.write.int64.timestamp'='true'"):
        connection = duckdb.connect()
        connection.execute("SET TimeZone='UTC'")
        for at, case in enumerate(cases):
            expression = f"epoch_us(c{at})" if case.arrow.startswith("timestamp") else f"c{at}"
            found = [plain(row[0]) for row in connection.execute(f"SELECT {expression} FROM read_parquet('{file}') ORDER BY id").fetchall()]
            wanted = [plain(value) for value in check.expected(case, len(found))]
            if "ms" in case.arrow and case.arrow.startswith("timestamp"):
                wanted = [value if value is None else value * 1000 for value in wanted]
            check.equal(f"our parquet in DuckDB, {case.sql}", found, wanted)


class AsStored(pyorc.converters.ORCConverter):
    """Times as seconds and nanoseconds."""

    @staticmethod
    def from_orc(seconds, nanoseconds, timezone):
        return seconds, nanoseconds


def second_late(value, units):
    """The last second before 1970 as every ORC library but ours reads it (src/formats/orc/orc_times.h)."""
    return value + units if value is not None and -units < value < 0 and value % units * 1000 >= units else value


def ours_orc_to_pyorc(check):
    cases = [case for case in CASES if not case.sql.startswith("TIME(")]
    times = {pyorc.TypeKind.TIMESTAMP: AsStored, pyorc.TypeKind.TIMESTAMP_INSTANT: AsStored}
    for codec in ("NONE", "ZLIB", "SNAPPY", "LZ4", "ZSTD"):
        for file in check.write(cases, f"'format'='orc', 'orc.compress'='{codec}'"):
            names = ["id"] + [f"{letter}{at}" for at in range(len(cases)) for letter in "car"]
            rows = sorted(pyorc.Reader(file.open("rb"), converters=times), key=lambda row: row[0])
            for at, case in enumerate(cases):
                factor = {"ms": 10**3, "us": 10**6, "ns": 10**9}.get(case.arrow[10:12])

                def value_of(value):
                    if value is not None and case.arrow.startswith("timestamp"):
                        return value[0] * factor + value[1] * factor // 10**9
                    return plain(value)

                column = names.index(f"c{at}")
                found = [value_of(row[column]) for row in rows]
                wanted = [plain(value) for value in check.expected(case, len(rows))]
                if case.arrow.startswith("timestamp"):
                    wanted = [second_late(value, factor) for value in wanted]
                if case.sql == "FLOAT":
                    found, wanted = ([value if value is None else float(value) for value in side] for side in (found, wanted))
                    found, wanted = ([repr(value) for value in side] for side in (found, wanted))
                check.equal(f"our orc {codec} in pyorc, {case.sql}", found, wanted)
                check.equal(f"our orc {codec} in pyorc, {case.sql} in ARRAY", [value_of(row[column + 1][0]) for row in rows],
                            [value_of(row[column]) for row in rows])  # fmt: skip
                check.equal(f"our orc {codec} in pyorc, {case.sql} in ROW", [value_of(row[column + 2][0]) for row in rows],
                            [value_of(row[column]) for row in rows])  # fmt: skip


def ours_orc_to_pyarrow(check):
    cases = [case for case in CASES if not case.sql.startswith("TIME(") and fits_nanoseconds(case)]
    for file in check.write(cases, "'format'='orc', 'orc.compress'='zstd'"):
        check_arrow_table(check, "our orc in pyarrow", in_order(paorc.read_table(file)), cases)


def read_back(check, what, path, cases, options):
    """Our reader's rows of a file with columns c, a and r a type against the same values without a file."""
    for at, case in enumerate(cases):
        columns = f"c{at} {case.sql}, a{at} ARRAY<{case.sql}>, r{at} ROW<x {case.sql}, y INT>"
        table = f"CREATE TABLE t (id INT, {columns}) WITH ('connector'='filesystem', 'path'='{path}', {options})"
        values = [value for value, _ in case.values]
        null = f"CAST(NULL AS {case.sql})"
        rows = "), (".join(f"{row}, {value}" for row, value in enumerate(values + [null]))
        ours = check.run(f"{table};\nSELECT id, c{at} AS v, r{at}.x AS x, a{at} AS a FROM t WHERE id <= {len(values)}")
        wanted = check.run(f"SELECT CAST(id AS INT) AS id, CAST(v AS {case.sql}) AS v FROM (VALUES ({rows})) AS s (id, v)")
        if ours.code != 0 or wanted.code != 0:
            continue
        found = sorted((json.loads(line) for line in ours.text.splitlines()), key=lambda row: row["id"])
        right = [row["v"] for row in sorted((json.loads(line) for line in wanted.text.splitlines()), key=lambda row: row["id"])]
        check.equal(f"{what}, {case.sql}", [row["v"] for row in found], right)
        check.equal(f"{what}, {case.sql} in ROW", [row["x"] for row in found], right)
        check.equal(f"{what}, {case.sql} in ARRAY", found[0]["a"], right)
        check.equal(f"{what}, {case.sql}, NULL and empty ARRAY", [found[1]["a"]] + [row["a"] for row in found[2:3]], [None, []][: len(found) - 1])


def their_table(cases):
    """Rows 0 … n: values and NULL (c), all of them in the list of row 0, NULL in row 1, then empty lists (a), rows (r)."""
    length = max(len(case.values) for case in cases) + 1
    columns = {"id": pa.array(range(length), pa.int32())}
    for at, case in enumerate(cases):
        array = arrow_array(case)
        lists, structs = nested(array)
        missing = length - len(array)
        for letter, column in (("c", array), ("a", lists), ("r", structs)):
            columns[f"{letter}{at}"] = pa.concat_arrays([column, pa.nulls(missing, column.type)])
    return pa.table(columns)


def pyarrow_parquet_to_us(check):
    cases = [case for case in CASES]
    table = their_table(cases)
    delta = {f"c{at}": "DELTA_BINARY_PACKED" for at, case in enumerate(cases) if case.arrow in ("int32", "int64")}
    delta |= {f"c{at}": "DELTA_BYTE_ARRAY" for at, case in enumerate(cases) if case.arrow in ("string", "binary")}
    split = {f"c{at}": "BYTE_STREAM_SPLIT" for at, case in enumerate(cases) if case.arrow in ("float", "double") or case.arrow.startswith("decimal")}
    variants = [
        ("dictionary, snappy", {}),
        ("delta, byte stream split, v2 pages, zstd", {"use_dictionary": False, "column_encoding": delta | split, "data_page_version": "2.0", "compression": "zstd"}),
        ("delta lengths, brotli", {"use_dictionary": False, "compression": "brotli",
                                   "column_encoding": {f"c{at}": "DELTA_LENGTH_BYTE_ARRAY" for at, case in enumerate(cases) if case.arrow in ("string", "binary")}}),
        ("gzip, page index, small groups", {"compression": "gzip", "write_page_index": True, "row_group_size": 2}),
        ("lz4, decimals as integers", {"compression": "lz4", "store_decimal_as_integer": True}),
    ]  # fmt: skip
    for what, options in variants:
        path = check.place()
        pq.write_table(table, path / "f.parquet", **options)
        read_back(check, f"pyarrow's parquet ({what})", path, cases, "'format'='parquet', 'parquet.utc-timezone'='true'")
    # INT96 holds what 64-bit nanoseconds hold.
    cases = [case for case in CASES if fits_nanoseconds(case) and case.arrow.startswith("timestamp")]
    path = check.place()
    pq.write_table(their_table(cases), path / "f.parquet", use_deprecated_int96_timestamps=True)
    read_back(check, "pyarrow's INT96", path, cases, "'format'='parquet', 'parquet.utc-timezone'='true'")


def duckdb_parquet_to_us(check):
    cases = [case for case in CASES if "ns" not in case.arrow]
    path = check.place()
    connection = duckdb.connect()
    connection.execute("SET TimeZone='UTC'")
    theirs = their_table(cases)
    connection.register("theirs", theirs)
    connection.execute(f"COPY (SELECT * FROM theirs) TO '{path}/f.parquet' (FORMAT parquet, PARQUET_VERSION v2)")
    # DuckDB has times of day in microseconds, and NaN and infinities as they are.
    read_back(check, "DuckDB's parquet", path, cases, "'format'='parquet', 'parquet.utc-timezone'='true'")


def pyarrow_orc_to_us(check):
    cases = [case for case in CASES if not case.sql.startswith("TIME(")]
    for codec in ("uncompressed", "zlib", "snappy", "lz4", "zstd"):
        path = check.place()
        paorc.write_table(their_table(cases), path / "f.orc", compression=codec, dictionary_key_size_threshold=0.8)
        # The C++ library counts in the proleptic calendar and does not say so: we know it by its number.
        read_back(check, f"pyarrow's orc ({codec})", path, cases, "'format'='orc'")


def the_broken_file_is_named(check):
    """Rule 17.6: one file of a hundred is damaged."""
    table = pa.table({"id": pa.array(range(2000), pa.int64()), "s": [f"some text {at}" for at in range(2000)]})
    for name, part in (("orc", "stripe"), ("parquet", "row group")):
        path = check.place()
        for number in range(100):
            file = path / f"part-{number}"
            if name == "parquet":
                pq.write_table(table, file, row_group_size=1000, use_dictionary=False, write_page_checksum=True)
            else:
                paorc.write_table(table, file, compression="zlib")
        file = path / "part-42"
        damaged = bytearray(file.read_bytes())
        at = pq.ParquetFile(file).metadata.row_group(1).column(1).data_page_offset + 60 if name == "parquet" else 200
        damaged[at : at + 40] = bytes(40)
        file.write_bytes(damaged)
        create = f"CREATE TABLE t (id BIGINT, s STRING) WITH ('connector'='filesystem', 'path'='{path}', 'format'='{name}')"
        outcome = check.session.run(f"{create};\nSELECT COUNT(s), MAX(s) FROM t")
        if outcome.code == 0:
            check.failures.append(f"{name}: a damaged file was read: {outcome.text}")
        for word in (str(file), part, "'s'"):
            if outcome.code != 0 and word not in outcome.messages:
                check.failures.append(f"{name}: the message does not name {word}: {outcome.messages}")


def orc_bloom_filters_both_ways(check):
    """Values found through our bloom filters by pyorc, and through its filters by us: none may be missed."""
    path = check.place()
    options = "'format'='orc', 'orc.row.index.stride'='1000', 'orc.bloom.filter.columns'='i,s', 'orc.bloom.filter.fpp'='0.01'"
    columns = "(i BIGINT, s STRING, d DOUBLE)"
    check.run(f"CREATE TABLE t {columns} WITH ('connector'='filesystem', 'path'='{path}', {options});\n"
              f"CREATE TABLE g (n BIGINT) WITH ('connector'='datagen', 'number-of-rows'='4000', 'fields.n.kind'='sequence', "
              f"'fields.n.start'='0', 'fields.n.end'='3999');\n"
              f"INSERT INTO t SELECT MOD(n * 7919, 100003), 'text ' || CAST(MOD(n * 7919, 100003) AS STRING), CAST(n AS DOUBLE) FROM g")  # fmt: skip
    values = [number * 7919 % 100003 for number in range(4000)]
    for file in [file for file in path.iterdir() if not file.name.startswith((".", "_"))]:
        for value in values[::200]:
            number = pyorc.predicates.PredicateColumn(pyorc.TypeKind.LONG, "i") == value
            check.equal(f"our bloom filter in pyorc, {value}", [row for row in pyorc.Reader(file.open("rb"), predicate=number) if row[0] == value][0][0], value)
            word = pyorc.predicates.PredicateColumn(pyorc.TypeKind.STRING, "s") == f"text {value}"
            found = [row[1] for row in pyorc.Reader(file.open("rb"), predicate=word) if row[1] == f"text {value}"]
            check.equal(f"our bloom filter in pyorc, text {value}", found, [f"text {value}"])
        absent = pyorc.predicates.PredicateColumn(pyorc.TypeKind.LONG, "i") == 100002
        if 100002 not in values:
            check.equal("a value that is nowhere, in pyorc", len(list(pyorc.Reader(file.open("rb"), predicate=absent))) < 4000, True)
    theirs = check.place()
    with (theirs / "f").open("wb") as out, pyorc.Writer(out, "struct<i:bigint,s:string,d:double>", row_index_stride=1000,
                                                        bloom_filter_columns=["i", "s"], bloom_filter_fpp=0.01) as writer:  # fmt: skip
        for number, value in enumerate(values):
            writer.write((value, f"text {value}", float(number)))
    table = f"CREATE TABLE t {columns} WITH ('connector'='filesystem', 'path'='{theirs}', 'format'='orc')"
    for value in values[::800]:
        for condition in (f"i = {value}", f"s = 'text {value}'"):
            outcome = check.run(f"{table};\nSELECT i FROM t WHERE {condition}")
            check.equal(f"pyorc's bloom filter, {condition}", outcome.text.split(), [f'{{"i":{value}}}'])


# What the text formats write of these is text of our own (base64, an instant with Z, times of day).
TEXT_CASES = [case for case in CASES if not case.sql.startswith(("BINARY", "BYTES", "TIMESTAMP_LTZ", "TIME("))]
PLAIN_CSV = "'format'='csv', 'csv.null-literal'='nil', 'csv.write-bigdecimal-in-scientific-notation'='false'"


def flat_table(check, cases, options, path=None):
    """One column a type and its rows in order; answers the files."""
    path = path or check.place()
    columns = ", ".join(f"c{at} {case.sql}" for at, case in enumerate(cases))
    rows = []
    for row in range(max(len(case.values) for case in cases) + 1):
        cells = [case.values[row][0] if row < len(case.values) else f"CAST(NULL AS {case.sql})" for case in cases]
        rows.append(f"({row}, " + ", ".join(cells) + ")")
    check.run(f"CREATE TABLE t (id INT, {columns}) WITH ('connector'='filesystem', 'path'='{path}', {options});\n"
              f"INSERT INTO t VALUES {', '.join(rows)}")  # fmt: skip
    return [file for file in path.iterdir() if not file.name.startswith((".", "_"))]


def counted(case, value):
    """A time as the count that the case has, anything else plain."""
    if isinstance(value, datetime.datetime):
        return plain(value) // (1000 if "[ms" in case.arrow else 1)
    return plain(value)


def ours_csv_to_pyarrow(check):
    for file in flat_table(check, TEXT_CASES, PLAIN_CSV):
        types = {"id": pa.int32()} | {f"c{at}": arrow_type(case) for at, case in enumerate(TEXT_CASES)}
        table = pacsv.read_csv(
            file,
            read_options=pacsv.ReadOptions(column_names=list(types), block_size=1 << 24),
            parse_options=pacsv.ParseOptions(newlines_in_values=True),
            convert_options=pacsv.ConvertOptions(column_types=types, null_values=["nil"], strings_can_be_null=True, quoted_strings_can_be_null=False),
        )  # fmt: skip
        table = in_order(table)
        for at, case in enumerate(TEXT_CASES):
            column = table[f"c{at}"]
            found = column.cast(pa.int64()).to_pylist() if case.arrow.startswith("timestamp") else [plain(value) for value in column.to_pylist()]
            check.equal(f"our csv in pyarrow, {case.sql}", found, [plain(value) for value in check.expected(case, len(found))])


def duckdb_types(cases):
    names = {"STRING": "VARCHAR", "FLOAT": "FLOAT", "BOOLEAN": "BOOLEAN"}
    return {f"c{at}": "TIMESTAMP" if case.sql.startswith("TIMESTAMP") else "VARCHAR" if "CHAR" in case.sql else names.get(case.sql, case.sql)
            for at, case in enumerate(cases)}  # fmt: skip


def check_duckdb_rows(check, what, rows, cases):
    for at, case in enumerate(cases):
        found = [counted(case, row[at + 1]) for row in rows]
        check.equal(f"{what}, {case.sql}", found, [plain(value) for value in check.expected(case, len(found))])


def ours_csv_and_json_to_duckdb(check):
    cases = [case for case in TEXT_CASES if "ns" not in case.arrow]
    types = {"id": "INTEGER"} | duckdb_types(cases)
    for file in flat_table(check, cases, PLAIN_CSV):
        read = f"read_csv('{file}', header=false, columns={types}, nullstr='nil', allow_quoted_nulls=false, max_line_size=10000000)"
        check_duckdb_rows(check, "our csv in DuckDB", duckdb.sql(f"SELECT * FROM {read} ORDER BY id").fetchall(), cases)
    for file in flat_table(check, cases, "'format'='json', 'json.encode.decimal-as-plain-number'='true'"):
        # DuckDB reads numbers of JSON as DOUBLE, whatever the column: those that do not fit one are compared as texts of pyarrow's run.
        exact = [case for case in cases if not case.sql.startswith("DECIMAL(38")]
        read = f"read_json('{file}', format='newline_delimited', columns={types})"
        columns = ", ".join(f"c{cases.index(case)}" for case in exact)
        check_duckdb_rows(check, "our json in DuckDB", duckdb.sql(f"SELECT id, {columns} FROM {read} ORDER BY id").fetchall(), exact)


def their_texts_to_us(check):
    """csv of pyarrow and DuckDB, json of DuckDB; NaN and infinities, which they write in other words than Java, left out."""
    cases = [case for case in TEXT_CASES if "ns" not in case.arrow]
    table = their_table(cases).select(["id"] + [f"c{at}" for at in range(len(cases))])
    for at, case in enumerate(cases):
        if case.sql in ("FLOAT", "DOUBLE"):
            numbers = table[f"c{at}"]
            finite = pa.compute.if_else(pa.compute.is_finite(numbers), numbers, pa.nulls(1, numbers.type)[0])
            table = table.set_column(at + 1, f"c{at}", finite)
    columns = "id INT, " + ", ".join(f"c{at} {case.sql}" for at, case in enumerate(cases))
    connection = duckdb.connect()
    connection.register("theirs", table)
    writers = {
        "pyarrow's csv": ("csv", lambda file: pacsv.write_csv(table, file, pacsv.WriteOptions(include_header=True))),
        "DuckDB's csv": ("csv", lambda file: connection.execute(f"COPY theirs TO '{file}' (FORMAT csv, HEADER true)")),
        "DuckDB's json": ("json", lambda file: connection.execute(f"COPY theirs TO '{file}' (FORMAT json)")),
    }
    for what, (name, write) in writers.items():
        path = check.place()
        write(path / "f")
        options = "'format'='csv', 'csv.ignore-first-line'='true', 'csv.null-literal'=''" if name == "csv" else "'format'='json'"
        found = check.run(f"CREATE TABLE t ({columns}) WITH ('connector'='filesystem', 'path'='{path}', {options});\nSELECT * FROM t ORDER BY id")
        wanted = check.run(f"CREATE TABLE t ({columns}) WITH ('connector'='filesystem', 'path'='{reference(check, table)}', 'format'='parquet', "
                           f"'parquet.utc-timezone'='true');\nSELECT * FROM t ORDER BY id")  # fmt: skip
        check.equal(what, found.text.splitlines(), wanted.text.splitlines())


def reference(check, table):
    path = check.place()
    pq.write_table(table, path / "f")
    return path


CHECKS = [ours_csv_to_pyarrow, ours_csv_and_json_to_duckdb, their_texts_to_us,
          ours_parquet_to_pyarrow, our_small_parquet_files, ours_parquet_to_duckdb, ours_orc_to_pyorc, ours_orc_to_pyarrow, pyarrow_parquet_to_us,
          duckdb_parquet_to_us, pyarrow_orc_to_us, orc_bloom_filters_both_ways, the_broken_file_is_named]  # fmt: skip


def main():
    wanted = sys.argv[1:]
    failures = []
    for run in CHECKS:
        if wanted and run.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="sluice-cross-") as folder:
            check = Check(folder)
            run(check)
            print(f"{'ok  ' if not check.failures else 'FAIL'} {run.__name__}, {check.count} tables")
            failures += check.failures
    for failure in failures:
        print("   ", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
