"""The SQL types, their extreme values and the formats that the tests of this folder go through."""

import datetime
import decimal
from dataclasses import dataclass, field


@dataclass
class TypeCase:
    """A SQL type, values of it as SQL, the same values as Python sees them, and its Arrow type by name."""

    sql: str
    values: list  # (SQL text, Python value)
    arrow: str
    shown: str = ""  # For the page; the SQL type when empty.

    @property
    def name(self):
        return self.shown or self.sql

    @property
    def from_json(self):
        """The values are JSON texts instead of SQL."""
        return self.sql.startswith("MULTISET")


@dataclass
class FormatCase:
    """A format with the options that let it keep every value apart."""

    name: str
    options: dict = field(default_factory=dict)
    shapes: tuple = ("alone", "ARRAY", "MAP", "ROW", "deeper")
    label: str = ""
    losses: dict = field(default_factory=dict)  # {type: (shapes, what is not kept)}; one that no longer shows fails the run.

    @property
    def is_change_stream(self):
        return self.name.endswith("-json")


def text(value):
    return "'" + value.replace("'", "''") + "'"


def timestamps(precision, texts):
    """Wall times with their count of microseconds, nanoseconds above six digits."""
    cases = []
    for shown in texts:
        day, _, rest = shown.partition(".")
        moment = datetime.datetime.fromisoformat(day)
        seconds = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(seconds=1)
        nanos = int(rest.ljust(9, "0")) if rest else 0
        unit, each = ("ns", 10**9) if precision > 6 else ("us", 10**6) if precision > 3 else ("ms", 10**3)
        cases.append((shown, seconds * each + nanos * each // 10**9, unit))
    return cases


def timestamp_case(precision, texts):
    values = timestamps(precision, texts)
    sql = f"TIMESTAMP({precision})"
    return TypeCase(sql, [(f"CAST('{shown}' AS {sql})", count) for shown, count, _ in values], f"timestamp[{values[0][2]}]")


def local_timestamp_case(precision, texts):
    values = timestamps(precision, texts)
    sql = f"TIMESTAMP_LTZ({precision})"
    return TypeCase(sql, [(f"CAST(CAST('{shown}' AS TIMESTAMP({precision})) AS {sql})", count) for shown, count, _ in values],
                    f"timestamp[{values[0][2]}, UTC]")  # fmt: skip


def cast_case(sql, values, arrow, shown=""):
    return TypeCase(sql, [(f"CAST({literal} AS {sql})", value) for literal, value in values], arrow, shown)


def integer_case(sql, bits, arrow):
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return cast_case(sql, [(text(str(value)), value) for value in (low, -1, 0, 1, high)], arrow)


def decimal_case(precision, scale, digits):
    values = [decimal.Decimal(value) for value in digits]
    return cast_case(f"DECIMAL({precision}, {scale})", [(text(format(value, "f")), value) for value in values],
                     f"decimal128({precision}, {scale})")  # fmt: skip


LARGE = "long text 한 ü 😀 " * 2000
OLD = ["0001-01-01 00:00:00", "1582-10-14 12:00:00", "1969-12-31 23:59:59", "1970-01-01 00:00:00", "9999-12-31 23:59:59"]
NANOS = ["1677-09-22 00:00:00.000000001", "1969-12-31 23:59:58.123456789", "2020-05-20 12:34:56.789012345", "2262-04-11 00:00:00.999999999"]

TYPES = [
    cast_case("BOOLEAN", [("TRUE", True), ("FALSE", False)], "bool"),
    integer_case("TINYINT", 8, "int8"),
    integer_case("SMALLINT", 16, "int16"),
    integer_case("INT", 32, "int32"),
    integer_case("BIGINT", 64, "int64"),
    cast_case("FLOAT", [("'1.5'", 1.5), ("'-0.0'", -0.0), ("'3.4028235E38'", 3.4028234663852886e38), ("'1.4E-45'", 1.401298464324817e-45),
                        ("'NaN'", float("nan")), ("'Infinity'", float("inf")), ("'-Infinity'", float("-inf"))], "float"),
    cast_case("DOUBLE", [("'0.1'", 0.1), ("'-0.0'", -0.0), ("'1.7976931348623157E308'", 1.7976931348623157e308), ("'4.9E-324'", 5e-324),
                         ("'NaN'", float("nan")), ("'Infinity'", float("inf")), ("'-Infinity'", float("-inf"))], "double"),
    decimal_case(9, 2, ["0.00", "-0.01", "9999999.99", "-9999999.99"]),
    decimal_case(18, 0, ["0", "999999999999999999", "-999999999999999999"]),
    decimal_case(38, 0, ["9" * 38, "-" + "9" * 38, "1"]),
    decimal_case(38, 18, ["12345678901234567890.123456789012345678", "-0.000000000000000001"]),
    decimal_case(38, 38, ["0." + "9" * 38, "-0." + "0" * 37 + "1"]),
    cast_case("CHAR(5)", [(text("abcde"), "abcde"), (text("한ü😀xy"), "한ü😀xy")], "string"),
    cast_case("VARCHAR(10)", [(text("x"), "x"), (text("0123456789"), "0123456789")], "string"),
    cast_case("STRING", [(text(value), value) for value in ("", "x", "quote \" ' back \\ slash, comma; semicolon", "tab\there", "한 ü 😀", LARGE)], "string"),
    cast_case("BINARY(3)", [("X'00FF41'", b"\x00\xffA")], "binary"),
    cast_case("BYTES", [("X''", b""), ("X'00FF80C328'", b"\x00\xff\x80\xc3\x28"), ("X'48656C6C6F'", b"Hello")], "binary"),
    cast_case("DATE", [(text(day), datetime.date.fromisoformat(day)) for day in
                       ("0001-01-01", "1582-10-04", "1582-10-15", "1969-12-31", "1970-01-01", "2020-02-29", "9999-12-31")], "date32[day]"),
    cast_case("TIME(0)", [("'00:00:00'", datetime.time(0)), ("'23:59:59'", datetime.time(23, 59, 59))], "time32[ms]"),
    cast_case("TIME(3)", [("'12:34:56.789'", datetime.time(12, 34, 56, 789000))], "time32[ms]"),
    timestamp_case(0, OLD),
    timestamp_case(3, [shown + ".120" for shown in OLD]),
    timestamp_case(6, [shown + ".000001" for shown in OLD]),
    timestamp_case(9, NANOS),
    local_timestamp_case(0, OLD),
    local_timestamp_case(3, [shown + ".120" for shown in OLD]),
    local_timestamp_case(6, [shown + ".000001" for shown in OLD]),
    local_timestamp_case(9, NANOS),
    # SQL has no literal of a MULTISET: its values come from a JSON file. Counts reach the limit of INT.
    TypeCase("MULTISET<STRING>", [('{"a": 1, "": 2147483647, "한 \\"q\\"": 3}', None), ("{}", None)], ""),
]  # fmt: skip

ALL = ("alone", "ARRAY", "MAP", "ROW", "deeper")
UNESCAPED = ("as in Flink texts inside are not escaped: one that holds the delimiter of elements comes back as two, one that is the null literal "
             "as NULL, and an empty one alone as an empty ARRAY")  # fmt: skip
CUT = "nanoseconds are cut to the unit of 'parquet.timestamp.time.unit'"

FORMATS = [
    FormatCase("csv", {"csv.null-literal": "\\N", "csv.escape-character": "\\"},
               losses={"STRING": (("ARRAY",), UNESCAPED)}),
    FormatCase("json"),
    FormatCase("avro"),
    FormatCase("raw", shapes=("alone",)),
    FormatCase("parquet"),
    FormatCase("parquet", {"parquet.write.int64.timestamp": "true", "parquet.timestamp.time.unit": "micros", "parquet.utc-timezone": "true"},
               label="parquet, INT64 micros", losses={"TIMESTAMP(9)": (ALL, CUT), "TIMESTAMP_LTZ(9)": (ALL, CUT)}),
    FormatCase("orc"),
    FormatCase("debezium-json"), FormatCase("canal-json"), FormatCase("maxwell-json"), FormatCase("ogg-json"),
]  # fmt: skip


def shapes_of(case):
    """{shape: (SQL type, list of SQL values)}; every value alone and at every place of the nested types, with NULLs beside it."""
    sql = case.sql
    null = f"CAST(NULL AS {sql})"
    values = [value for value, _ in case.values]
    first, last = values[0], values[-1]
    row = f"ROW<x {sql}, y ARRAY<{sql}>, z MAP<STRING, {sql}>>"
    deep = f"ARRAY<{row}>"
    if case.from_json:
        every = ", ".join(values)
        return {
            "alone": (sql, [*values, "null"]),
            "ARRAY": (f"ARRAY<{sql}>", [f"[{every}, null]", "[]", "null"]),
            "MAP": (f"MAP<STRING, {sql}>", [f'{{"a": {first}, "b": null}}', "null"]),
            "ROW": (f"ROW<x {sql}, y INT>", [f'{{"x": {first}, "y": 1}}', '{"x": null, "y": null}', "null"]),
            "deeper": (deep, [f'[{{"x": {first}, "y": [{last}, null], "z": {{"k": null}}}}, null, {{"x": null, "y": null, "z": null}}]', "null"]),
        }  # fmt: skip
    empty = f"CAST(NULL AS ARRAY<{sql}>)"
    return {
        "alone": (sql, values + [null]),
        "ARRAY": (f"ARRAY<{sql}>", [f"ARRAY[{', '.join(values)}, {null}]", empty]),
        "MAP": (f"MAP<STRING, {sql}>", [f"MAP['a', {first}, 'b', {null}, 'c', {last}]", f"CAST(NULL AS MAP<STRING, {sql}>)"]),
        "ROW": (f"ROW<x {sql}, y INT>", [f"ROW({first}, 1)", f"ROW({null}, CAST(NULL AS INT))", f"CAST(NULL AS ROW<x {sql}, y INT>)"]),
        "deeper": (deep, [f"ARRAY[ROW({first}, ARRAY[{last}, {null}], MAP['k', {null}]), ROW({null}, {empty}, MAP['k', {last}]), "
                          f"CAST(NULL AS {row}), ROW({null}, ARRAY[{null}], CAST(NULL AS MAP<STRING, {sql}>))]",
                          f"CAST(NULL AS {deep})"]),
    }  # fmt: skip


def table_options(fmt, path):
    options = {"connector": "filesystem", "path": str(path), "format": fmt.name, **fmt.options}
    return ", ".join(f"'{key}'='{value}'" for key, value in options.items())
