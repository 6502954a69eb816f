#!/usr/bin/env python3
# ctest: timeout=200
"""Avro files across programs: ours read by fastavro, fastavro's read by us, with every codec and type; random schemas both ways."""

import datetime
import decimal
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import uuid

if "SLUICE_PYTHON" in os.environ and os.path.realpath(sys.prefix) != os.path.realpath(
    os.path.dirname(os.path.dirname(os.environ["SLUICE_PYTHON"]))
):
    os.execv(os.environ["SLUICE_PYTHON"], [os.environ["SLUICE_PYTHON"], *sys.argv])

import fastavro

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
DIRECTORY = pathlib.Path(tempfile.mkdtemp(prefix="sluice-avro-"))
CODECS = ["null", "deflate", "snappy", "bzip2", "xz", "zstandard"]
UTC = datetime.timezone.utc
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print(f"FAILED: {what}", flush=True)


def sluice(sql):
    """Runs statements in batch mode; rows of the last query as JSON texts."""
    script = DIRECTORY / "script.sql"
    script.write_text("SET 'table.local-time-zone'='UTC';\n" + sql, encoding="utf-8")
    state = {**os.environ, "XDG_STATE_HOME": str(DIRECTORY / "state"), "TZ": "UTC"}
    command = [SLUICE, "run", "--fresh", str(script), "--output", "json", "-D", "execution.runtime-mode=batch"]
    return subprocess.run(command, capture_output=True, text=True, env=state, timeout=60)


def rows_of(done, what):
    if done.returncode != 0:
        check(False, f"{what}: {done.stderr.strip()[-800:]}")
        return []
    return [json.loads(line, parse_float=decimal.Decimal) for line in done.stdout.split("\n") if line.startswith("{")]


def table(name, columns, path, options=""):
    return f"CREATE TABLE {name} ({columns}) WITH ('connector'='filesystem','path'='{path}','format'='avro'{options});\n"


def read_all(folder):
    records = []
    for path in sorted(folder.rglob("part-*")):
        with open(path, "rb") as file:
            reader = fastavro.reader(file)
            records += [(reader.codec, record) for record in reader]
    return records


COLUMNS = (
    "id BIGINT NOT NULL, b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, f FLOAT, d DOUBLE, dc DECIMAL(10,2), dc38 DECIMAL(38,18), s STRING, "
    "bs BYTES, dt DATE, t TIME(3), ts3 TIMESTAMP(3), ts6 TIMESTAMP(6), l3 TIMESTAMP_LTZ(3), l6 TIMESTAMP_LTZ(6), ai ARRAY<INT>, "
    "m MAP<STRING, INT>, r ROW<x INT, y STRING>, ar ARRAY<ROW<p INT, q ARRAY<STRING>>>, mm MAP<STRING, ROW<z DOUBLE>>"
)
VALUES = """
 (1, TRUE, CAST(-128 AS TINYINT), CAST(32767 AS SMALLINT), 2147483647, CAST(1.5 AS FLOAT), -2.25E10, 12345.67,
  CAST('-12345678901234567890.123456789012345678' AS DECIMAL(38,18)), 'ü 😀 "q"', X'00FF10', DATE '0001-01-01', TIME '23:59:59.999',
  TIMESTAMP '1969-12-31 23:59:59.100', TIMESTAMP '2024-05-01 00:00:00.123456', TO_TIMESTAMP_LTZ(1714521600123, 3),
  TO_TIMESTAMP_LTZ(-1, 3), ARRAY[1, CAST(NULL AS INT), 3], MAP['a', 1, 'b', CAST(NULL AS INT)], ROW(7, 'seven'),
  ARRAY[ROW(1, ARRAY['x', CAST(NULL AS STRING)])], MAP['k', ROW(0.5E0)]),
 (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"""


def expected_first(modern):
    wall = lambda *parts: datetime.datetime(*parts, tzinfo=None if modern else UTC)  # noqa: E731
    return {
        "id": 1, "b": True, "i8": -128, "i16": 32767, "i32": 2147483647, "f": 1.5, "d": -2.25e10, "dc": decimal.Decimal("12345.67"),
        "dc38": decimal.Decimal("-12345678901234567890.123456789012345678"), "s": 'ü 😀 "q"', "bs": b"\x00\xff\x10",
        "dt": datetime.date(1, 1, 1), "t": datetime.time(23, 59, 59, 999000), "ts3": wall(1969, 12, 31, 23, 59, 59, 100000),
        "ts6": wall(2024, 5, 1, 0, 0, 0, 123456), "l3": datetime.datetime(2024, 5, 1, 0, 0, 0, 123000, tzinfo=UTC),
        "l6": datetime.datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC), "ai": [1, None, 3], "m": {"a": 1, "b": None},
        "r": {"x": 7, "y": "seven"}, "ar": [{"p": 1, "q": ["x", None]}], "mm": {"k": {"z": 0.5}},
    }  # fmt: skip


def test_rule_9_1_and_9_4_ours_read_by_fastavro():
    with decimal.localcontext(prec=50):
        for codec in CODECS:
            for modern in (False, True):
                folder = DIRECTORY / f"ours-{codec}-{modern}"
                options = f",'avro.codec'='{codec}','avro.timestamp_mapping.legacy'='{str(not modern).lower()}'"
                done = sluice(table("t", COLUMNS, folder, options) + f"INSERT INTO t VALUES {VALUES};\n")
                check(done.returncode == 0, f"writing with {codec}: {done.stderr}")
                records = read_all(folder)
                check([codec] * 2 == [seen for seen, _ in records], f"the header of a file says {codec}: {records}")
                found = sorted((record for _, record in records), key=lambda record: record["id"])
                check(len(found) == 2 and found[0] == expected_first(modern), f"{codec}: {found}")
                check(len(found) == 2 and set(found[1].values()) == {2, None}, f"{codec}, NULLs: {found}")


WRITER = {
    "type": "record", "name": "Order", "namespace": "shop", "fields": [
        {"name": "late", "type": ["string", "null"], "default": "x"},
        {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["RED", "GREEN"]}},
        {"name": "id", "type": "int"},
        {"name": "unwanted", "type": {"type": "map", "values": {"type": "array", "items": ["null", "Colour", "long"]}}},
        {"name": "fixed_dec", "type": {"type": "fixed", "name": "Fx", "size": 8, "logicalType": "decimal", "precision": 12, "scale": 3}},
        {"name": "bytes_dec", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 1}},
        {"name": "uid", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "any", "type": ["null", "int", "long", {"type": "record", "name": "Other", "fields": []}]},
        {"name": "t_ms", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "t_us", "type": {"type": "long", "logicalType": "time-micros"}},
        {"name": "ts_ms", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "ts_us", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "lts_us", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "small", "type": "int"},
        {"name": "f", "type": "float"},
        {"name": "raw", "type": {"type": "fixed", "name": "Raw", "size": 3}},
        {"name": "nest", "type": {"type": "record", "name": "Nest", "fields": [
            {"name": "b", "type": {"type": "array", "items": "Colour"}},
            {"name": "a", "type": ["null", "boolean"]}]}},
        {"name": "renamed", "aliases": ["old_name"], "type": "long"},
    ],
}  # fmt: skip
READER = (
    "id BIGINT, late STRING, colour STRING, fixed_dec DECIMAL(12,3), bytes_dec DECIMAL(12,3), uid STRING, `any` BIGINT, t_ms TIME(3), "
    "t_us TIME(3), ts_ms TIMESTAMP(3), ts_us TIMESTAMP(6), lts_us TIMESTAMP(3), `day` DATE, small SMALLINT, f DOUBLE, `raw` BYTES, "
    "nest ROW<a BOOLEAN, b ARRAY<STRING>, gone INT>, old_name BIGINT, missing STRING"
)


def record(number):
    day = datetime.datetime(2024, 5, 1, tzinfo=UTC) + datetime.timedelta(microseconds=number * 1001)
    return {
        "late": None if number % 3 == 0 else f"t{number}", "colour": ["RED", "GREEN"][number % 2], "id": number,
        "unwanted": {"k": [None, "RED", number]}, "fixed_dec": decimal.Decimal(-number) / 1000, "bytes_dec": decimal.Decimal(number) / 10,
        "uid": uuid.UUID(int=number), "any": [None, number, 2**40 + number][number % 3], "t_ms": day.time(), "t_us": day.time(),
        "ts_ms": day, "ts_us": day, "lts_us": day.replace(tzinfo=None), "day": day.date(), "small": number - 500, "f": number / 2,
        "raw": bytes([1, 2, number % 256]), "nest": {"a": number % 2 == 0, "b": ["GREEN"] * (number % 3)}, "renamed": number * 7,
    }  # fmt: skip


def expected_row(number):
    given = record(number)
    micros = given["ts_us"].strftime("%Y-%m-%d %H:%M:%S.%f")
    return {
        "id": number, "late": given["late"], "colour": given["colour"], "fixed_dec": given["fixed_dec"].quantize(decimal.Decimal("0.001")),
        "uid": str(given["uid"]), "any": given["any"], "ts_ms": micros[:23], "ts_us": micros, "lts_us": micros[:23],
        "day": "2024-05-01", "small": number - 500, "old_name": number * 7, "missing": None, "f": number / 2,
        "bytes_dec": given["bytes_dec"].quantize(decimal.Decimal("0.001")),
        "nest": {"a": given["nest"]["a"], "b": given["nest"]["b"], "gone": None},
    }  # fmt: skip


def same(found, wanted):
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(same(found.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, str):
        return found == wanted
    if isinstance(wanted, (float, decimal.Decimal)):
        return found is not None and decimal.Decimal(str(found)) == decimal.Decimal(str(wanted))
    return found == wanted


def test_rule_9_2_to_9_4_fastavros_read_by_us():
    schema = fastavro.parse_schema(WRITER)
    for codec in CODECS:
        folder = DIRECTORY / f"theirs-{codec}"
        folder.mkdir()
        with open(folder / "file.avro", "wb") as file:
            fastavro.writer(file, schema, (record(i) for i in range(1000)), codec=codec, sync_interval=2000)
        rows = rows_of(sluice(table("t", READER, folder) + "SELECT * FROM t;\n"), codec)
        check(len(rows) == 1000, f"{codec}: {len(rows)} rows")
        for row in rows:
            wanted = expected_row(int(row["id"]))
            bad = [key for key, value in wanted.items() if not same(row[key], value)]
            if bad:
                check(False, f"{codec}: {[(key, row[key], wanted[key]) for key in bad]}")
                break
        rows = rows_of(sluice(table("t", READER, folder) + "SELECT COUNT(*) AS n, SUM(old_name) AS s FROM t;\n"), codec)
        check(rows and (int(rows[0]["n"]), int(rows[0]["s"])) == (1000, 7 * 499500), f"{codec}: projection {rows}")


def test_damaged_files_are_named():
    folder = DIRECTORY / "theirs-snappy"
    whole = (folder / "file.avro").read_bytes()
    for name, damaged in (("cut", whole[:-100]), ("flip", whole[:5000] + bytes([whole[5000] ^ 4]) + whole[5001:])):
        bad = DIRECTORY / name
        bad.mkdir()
        for i in range(5):
            (bad / f"good{i}.avro").write_bytes(whole)
        (bad / "broken.avro").write_bytes(damaged)
        done = sluice(table("t", READER, bad) + "SELECT COUNT(*) FROM t;\n")
        check(done.returncode == 1 and "broken.avro" in done.stderr and "block " in done.stderr, f"{name}: {done.stderr}")


# ---- Random schemas: written by fastavro, read and written again by us, read by fastavro ----


def random_type(rng, depth):
    """An SQL type, its Avro type, and a maker of values."""
    scalar = rng.randrange(8)
    if depth > 0 and rng.random() < 0.4:
        sql, avro, make = random_type(rng, depth - 1)
        if rng.random() < 0.5:
            return f"ARRAY<{sql}>", {"type": "array", "items": ["null", avro]}, lambda: [maybe(rng, make) for _ in range(rng.randrange(4))]
        if rng.random() < 0.5:
            return f"MAP<STRING, {sql}>", {"type": "map", "values": [avro, "null"]}, lambda: {f"k{i}": maybe(rng, make) for i in range(rng.randrange(4))}
        other_sql, other_avro, other = random_type(rng, depth - 1)
        fields = [{"name": "y", "type": ["null", other_avro]}, {"name": "x", "type": ["null", avro]}]
        name = f"R{rng.getrandbits(60)}"
        return (f"ROW<x {sql}, y {other_sql}>", {"type": "record", "name": name, "fields": fields},
                lambda: {"x": maybe(rng, make), "y": maybe(rng, other)})  # fmt: skip
    return [
        ("BOOLEAN", "boolean", lambda: rng.random() < 0.5),
        ("INT", "int", lambda: rng.randrange(-(2**31), 2**31)),
        ("BIGINT", "long", lambda: rng.randrange(-(2**63), 2**63) >> rng.randrange(64)),
        ("DOUBLE", "double", lambda: rng.uniform(-1e9, 1e9)),
        ("STRING", "string", lambda: "".join(rng.choice("aé한😀\n\"") for _ in range(rng.randrange(20)))),
        ("BYTES", "bytes", lambda: rng.randbytes(rng.randrange(20))),
        ("FLOAT", "float", lambda: rng.randrange(-1000, 1000) / 4),
        ("STRING", "string", lambda: "x" * rng.randrange(300)),
    ][scalar]


def maybe(rng, make):
    return None if rng.random() < 0.2 else make()


def test_random_schemas_there_and_back():
    for seed in range(12):
        rng = random.Random(seed)
        columns = [random_type(rng, 2) for _ in range(rng.randrange(1, 7))]
        fields = [{"name": f"c{i}", "type": ["null", avro]} for i, (_, avro, _) in enumerate(columns)]
        schema = fastavro.parse_schema({"type": "record", "name": "r", "fields": [{"name": "n", "type": "int"}] + fields})
        records = [{"n": n, **{f"c{i}": maybe(rng, make) for i, (_, _, make) in enumerate(columns)}} for n in range(300)]
        source, sink = DIRECTORY / f"random-{seed}", DIRECTORY / f"random-out-{seed}"
        source.mkdir()
        with open(source / "f.avro", "wb") as file:
            fastavro.writer(file, schema, records, codec=rng.choice(CODECS), sync_interval=rng.choice([100, 16000]))
        types = "n INT, " + ", ".join(f"c{i} {sql}" for i, (sql, _, _) in enumerate(columns))
        done = sluice(table("a", types, source) + table("b", types, sink, f",'avro.codec'='{rng.choice(CODECS)}'") + "INSERT INTO b SELECT * FROM a;\n")
        check(done.returncode == 0, f"seed {seed}: {done.stderr}")
        found = sorted((record for _, record in read_all(sink)), key=lambda record: record["n"])
        check(found == records, f"seed {seed}: {types} came back otherwise")


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
