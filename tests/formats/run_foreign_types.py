#!/usr/bin/env python3
# ctest: timeout=240
"""Parquet columns of types that only others write (pyarrow): unsigned, UUID, durations, views and lists as Arrow knows them,
read as each SQL type that can hold them, with the values that do not fit refused, and filters that lose no row. And times that
only others' files hold, through every format of ours."""

import datetime
import json
import operator
import os
import pathlib
import sys
import tempfile
import uuid

if "SLUICE_PYTHON" in os.environ and os.path.realpath(sys.prefix) != os.path.realpath(
    os.path.dirname(os.path.dirname(os.environ["SLUICE_PYTHON"]))
):
    os.execv(os.environ["SLUICE_PYTHON"], [os.environ["SLUICE_PYTHON"], *sys.argv])

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from sluice_session import Session  # noqa: E402

import fastavro  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

BINARY = os.environ.get("SLUICE_BINARY", str(HERE.parent.parent / "build" / "sluice"))
UUIDS = [uuid.UUID(int=number) for number in (*range(40), 0x4142434445464748_4142434445464748, 1 << 127, (1 << 128) - 1)]


def uuids(values):
    return pa.ExtensionArray.from_storage(pa.uuid(), pa.array([value.bytes for value in values], pa.binary(16)))


def lists_of(values):
    return pa.ListArray.from_arrays(pa.array(range(len(values) + 1), pa.int32()), values)


OPERATORS = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
ALL_UINT8, ALL_UINT16 = [0, 128, 255], [0, 32768, 65535]
ALL_UINT32, ALL_UINT64 = [0, 1 << 31, (1 << 32) - 1], [0, 1 << 63, (1 << 64) - 1]
# Name, column of the file, type of the table's column, values (None: the file is refused with the words that follow).
CASES = [
    ("uint8", pa.array([0, 127], pa.uint8()), "TINYINT", [0, 127]),
    ("uint8", pa.array(ALL_UINT8, pa.uint8()), "SMALLINT", ALL_UINT8),
    ("uint8", pa.array(ALL_UINT8, pa.uint8()), "DOUBLE", [0.0, 128.0, 255.0]),
    ("uint8 that is too large", pa.array(ALL_UINT8, pa.uint8()), "TINYINT", None, "not in range"),
    ("uint16", pa.array(ALL_UINT16, pa.uint16()), "INT", ALL_UINT16),
    ("uint16", pa.array(ALL_UINT16, pa.uint16()), "DECIMAL(5,0)", ["0", "32768", "65535"]),
    ("uint32", pa.array([0, (1 << 31) - 1], pa.uint32()), "INT", [0, (1 << 31) - 1]),
    ("uint32", pa.array(ALL_UINT32, pa.uint32()), "BIGINT", ALL_UINT32),
    ("uint32", pa.array(ALL_UINT32, pa.uint32()), "DECIMAL(12,2)", ["0.00", "2147483648.00", "4294967295.00"]),
    ("uint32", pa.array(ALL_UINT32, pa.uint32()), "DOUBLE", [0.0, 2147483648.0, 4294967295.0]),
    ("uint32 that is too large", pa.array(ALL_UINT32, pa.uint32()), "INT", None, "not in range"),
    ("uint64", pa.array([0, (1 << 63) - 1], pa.uint64()), "BIGINT", [0, (1 << 63) - 1]),
    ("uint64", pa.array(ALL_UINT64, pa.uint64()), "DECIMAL(20,0)", [str(value) for value in ALL_UINT64]),
    ("uint64 that is too large", pa.array(ALL_UINT64, pa.uint64()), "BIGINT", None, "not in range"),
    ("uint64 in lists", lists_of(pa.array([1, 1 << 63], pa.uint64())), "ARRAY<DECIMAL(20,0)>", [["1"], [str(1 << 63)]]),
    ("uuid", uuids(UUIDS), "STRING", [str(value) for value in UUIDS]),
    ("uuid in lists", lists_of(uuids(UUIDS[-3:])), "ARRAY<STRING>", [[str(value)] for value in UUIDS[-3:]]),
    ("uuid in rows", pa.StructArray.from_arrays([pa.array([1, 2]), uuids(UUIDS[:2])], names=["n", "u"]), "ROW<u STRING>",
     [{"u": str(value)} for value in UUIDS[:2]]),
    ("uuid in maps", pa.MapArray.from_arrays(pa.array([0, 1]), pa.array(["k"]), uuids(UUIDS[40:41])), "MAP<STRING, STRING>", [{"k": str(UUIDS[40])}]),
    ("duration", pa.array([datetime.timedelta(seconds=5), None], pa.duration("ms")), "BIGINT", [5000, None]),
    ("duration in lists", pa.array([[datetime.timedelta(seconds=5)]], pa.list_(pa.duration("us"))), "ARRAY<BIGINT>", [[5000000]]),
    ("list view", pa.array([[1, None], None, []], pa.list_view(pa.int64())), "ARRAY<BIGINT>", [[1, None], None, []]),
    ("large list view", pa.array([["x"], []], pa.large_list_view(pa.large_string())), "ARRAY<STRING>", [["x"], []]),
    ("string view", pa.array(["x", None], pa.string_view()), "STRING", ["x", None]),
    ("dictionary", pa.array(["x", None, "y", "x"]).dictionary_encode(), "STRING", ["x", None, "y", "x"]),
    ("dictionary of numbers", pa.array([7, None, 7]).dictionary_encode(), "BIGINT", [7, None, 7]),
    ("null", pa.nulls(2), "STRING", [None, None]),
    ("bool8", pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8())), "TINYINT", [1, 0]),
]  # fmt: skip


class World:
    def __init__(self, folder):
        self.folder = folder
        self.failures = []
        self.count = 0

    def write(self, column, **options):
        """A statement that creates `t` over a file with `column` as v."""
        self.count += 1
        place = self.folder / str(self.count)
        place.mkdir()
        pq.write_table(pa.table({"v": column}), place / "f", **options)
        return f"WITH ('connector'='filesystem', 'path'='{place}', 'format'='parquet')"

    def run(self, table, sql):
        session = Session(BINARY, self.folder / "session", {"execution.runtime-mode": "batch", "parallelism.default": "1"})
        session.remember(table)
        return session.run(sql)

    def compare(self, what, outcome, wanted):
        if outcome.code != 0:
            self.failures.append(f"{what}: {outcome.messages.strip()[-400:]}")
            return
        rows = [json.loads(line) for line in outcome.text.split("\n") if line]
        found = [list(row.values())[0] for row in rows]
        if found != wanted:
            self.failures.append(f"{what}: {found} instead of {wanted}")


def check_types(world):
    for name, column, sql_type, wanted, *words in CASES:
        outcome = world.run(f"CREATE TABLE t (v {sql_type}) " + world.write(column), "SELECT v FROM t")
        what = f"{name} as {sql_type}"
        if wanted is not None:
            world.compare(what, outcome, wanted)
        elif outcome.code == 0 or words[0] not in outcome.messages or "column 'v'" not in outcome.messages:
            world.failures.append(f"{what} is not refused: {outcome.text} {outcome.messages}")


def check_filters(world):
    """Bounds of row groups and pages are of the bytes, the condition is of the text."""
    options = {"row_group_size": 10, "write_page_index": True}
    table = "CREATE TABLE t (v STRING) " + world.write(uuids(UUIDS), **options)
    for value in (UUIDS[0], UUIDS[7], UUIDS[40], UUIDS[41], UUIDS[42], uuid.UUID(int=1 << 100)):
        for sign, holds in OPERATORS.items():
            wanted = [str(one) for one in UUIDS if holds(str(one), str(value))]
            world.compare(f"uuid {sign} {value}", world.run(table, f"SELECT v FROM t WHERE v {sign} '{value}'"), wanted)
    numbers = [*ALL_UINT32, 5]
    table = "CREATE TABLE t (v BIGINT) " + world.write(pa.array(numbers, pa.uint32()), row_group_size=1)
    for bound in (5, 1 << 31, (1 << 32) - 1):
        world.compare(f"uint32 >= {bound}", world.run(table, f"SELECT v FROM t WHERE v >= {bound}"), [one for one in numbers if one >= bound])


# Numbers of the unit that each precision has: the ends of 64 bits, and around where 32 bits of days end.
ENDS = ((1 << 63) - 1, -(1 << 63))
FAR = {3: (*ENDS, -(1 << 63) + 1, 185331720383999999, 185331720384000000, -185753453990400001, 1 << 62), 6: ENDS, 9: ENDS}
UNITS = {3: "millis", 6: "micros", 9: "nanos"}
INT64 = "parquet', 'parquet.write.int64.timestamp'='true', 'parquet.timestamp.time.unit'='"


def check_far_times(world):
    """The ends of 64 bits: what a format takes comes back, else the INSERT says why not."""
    for precision, unit in UNITS.items():
        schema = {"type": "record", "name": "r", "fields": [{"name": "t", "type": {"type": "long", "logicalType": f"local-timestamp-{unit}"}}]}
        for number in FAR[precision]:
            world.count += 1
            place = world.folder / str(world.count)
            place.mkdir()
            with open(place / "f", "wb") as file:
                fastavro.writer(file, schema, [{"t": number}])
            for form in ("csv", "json", "avro", "orc", "debezium-json", "parquet", INT64 + unit):
                compare_far_time(world, f"{number} {unit} in {form}", precision, place, form)


def compare_far_time(world, what, precision, source, form):
    world.count += 1
    table = f"(t TIMESTAMP({precision})) WITH ('connector'='filesystem', 'path'='%s', 'format'='%s')"
    definitions = f"CREATE TABLE s {table % (source, 'avro')}; CREATE TABLE o {table % (world.folder / str(world.count), form)}"
    if world.run(definitions, "INSERT INTO o SELECT t FROM s").code != 0:
        return
    mode = "streaming" if form == "debezium-json" else "batch"
    outcome = world.run(f"SET 'execution.runtime-mode'='{mode}'; {definitions}", "SELECT CAST(t AS STRING) AS t FROM o UNION ALL SELECT CAST(t AS STRING) FROM s")
    texts = [json.loads(line)["t"] for line in outcome.text.split("\n") if line]
    if outcome.code != 0 or len(texts) != 2 or texts[0] != texts[1]:
        world.failures.append(f"{what}: {texts} {outcome.messages.strip()[-300:]}")


def main():
    with tempfile.TemporaryDirectory(prefix="sluice-foreign-types-") as folder:
        world = World(pathlib.Path(folder))
        check_types(world)
        check_filters(world)
        check_far_times(world)
    for failure in world.failures[:40]:
        print(failure)
    print(f"{len(world.failures)} failures")
    sys.exit(1 if world.failures else 0)


if __name__ == "__main__":
    main()
