#!/usr/bin/env python3
# ctest: timeout=120
"""Our Parquet files against Flink's: runs the statements of the golden cases with sluice and compares schema and values.

Where Flink is known to be wrong (docs in src/formats/parquet/README.md), the right value is expected instead.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

if "SLUICE_PYTHON" in os.environ and os.path.realpath(sys.prefix) != os.path.realpath(
    os.path.dirname(os.path.dirname(os.environ["SLUICE_PYTHON"]))
):
    os.execv(os.environ["SLUICE_PYTHON"], [os.environ["SLUICE_PYTHON"], *sys.argv])

import pyarrow as pa
import pyarrow.parquet as pq

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "data" / "golden"

# (case, column) -> {value in Flink's file: right value}; timestamps as text.
WRONG_IN_FLINK = {
    # A fraction of a second before 1970 loses its sign, or is written with a negative time of day.
    ("types_parquet", "ts0"): {"2554-07-21 23:34:32.709551": "1969-12-31 23:59:59"},
    ("types_parquet", "l0"): {"2554-07-21 23:34:32.709551": "1969-12-31 23:59:59"},
    ("types_parquet", "ts3"): {"1970-01-01 00:00:00.100000": "1969-12-31 23:59:59.100000"},
    ("types_parquet", "l3"): {"1970-01-01 00:00:00.100000": "1969-12-31 23:59:59.100000"},
    # Years before 1582 are written in the Julian calendar.
    ("types_parquet", "ts6"): {"-62135769599999999": "0001-01-01 00:00:00.000001"},
    # The planner writes a FLOAT literal with seven digits.
    ("types_parquet", "f"): {"3.4028230607370965e+38": "3.4028234663852886e+38"},
    ("types_parquet_shanghai", "ts3"): {"1970-01-01 00:00:00.100000": "1969-12-31 23:59:59.100000"},
    ("types_parquet_shanghai", "l3"): {"2554-07-21 15:34:33.809551": "1969-12-31 15:59:59.100000"},
}
# INT64 timestamps of TIMESTAMP_LTZ say that they are instants, as the format wants it.
ADJUSTED = {"types_parquet_int64": {"l3", "l6", "l9"}}


def statements(case, directory):
    text = (GOLDEN / case / f"{case}.sql").read_text(encoding="utf-8")
    text = text.replace(f"/data/{case}/", f"{directory}/")
    kept = []
    for statement in re.split(r";\s*\n", text):
        body = "\n".join(line for line in statement.split("\n") if not line.startswith("--")).strip()
        if body and not body.upper().startswith("SELECT"):
            kept.append(body + ";")
    return "\n".join(kept)


def schema_lines(path, adjusted):
    lines = str(pq.ParquetFile(path).schema).split("\n")[1:]
    kept = []
    for line in lines:
        line = re.sub(r"field_id=-?\d+ ", "", line)
        for column in adjusted:
            if f" {column} (" in line:
                line = line.replace("isAdjustedToUTC=false", "isAdjustedToUTC=true")
        kept.append(line)
    return kept


def texts(column):
    """One text a value: timestamps as microseconds or as a date and time, everything else as Python prints it."""
    if not pa.types.is_timestamp(column.type):
        return [repr(value) for value in column.to_pylist()]
    numbers = column.cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()
    out = []
    for number in numbers:
        try:
            out.append("NULL" if number is None else str(pa.scalar(number, pa.timestamp("us")).as_py()))
        except (OverflowError, ValueError):
            out.append(str(number))
    return out


def rows(path, case, ours):
    table = pq.ParquetFile(path, coerce_int96_timestamp_unit="us").read()
    columns = []
    for name in table.column_names:
        values = texts(table.column(name))
        if not ours:
            fixes = WRONG_IN_FLINK.get((case, name), {})
            values = [normal(fixes.get(value, value)) for value in values]
        columns.append([normal(value) for value in values])
    return sorted(zip(*columns))


def normal(value):
    """The same instant has one text, whether it came as a number or as a date."""
    if re.fullmatch(r"-?\d{12,}", value):
        return value
    return re.sub(r"\.(\d*?)0+$", r".\1", value).rstrip(".") if re.match(r"\d{4}-\d\d-\d\d ", value) else value


def run_case(case):
    failures = []
    with tempfile.TemporaryDirectory(prefix="sluice-parquet-") as directory:
        script = pathlib.Path(directory) / "case.sql"
        script.write_text(statements(case, directory), encoding="utf-8")
        state = {**os.environ, "XDG_STATE_HOME": os.path.join(directory, "state")}
        result = subprocess.run(
            [os.environ["SLUICE_BINARY"], "run", str(script)], capture_output=True, text=True, env=state, timeout=100
        )
        if result.returncode != 0:
            return [f"{case}: sluice failed: {result.stderr.strip() or result.stdout.strip()}"]
        for table in sorted((GOLDEN / case / "files").iterdir()):
            theirs = next(path for path in table.iterdir() if path.is_file())
            ours = [p for p in (pathlib.Path(directory) / table.name).rglob("part-*") if p.is_file()]
            if not ours:
                failures.append(f"{case}/{table.name}: no file was written")
                continue
            expected = schema_lines(theirs, ADJUSTED.get(case, ()))
            written = schema_lines(ours[0], ())
            if expected != written:
                failures += [f"{case}/{table.name}: schema {a!r}, ours {b!r}" for a, b in zip(expected, written) if a != b]
            our_rows = sorted(row for path in ours for row in rows(path, case, True))
            if rows(theirs, case, False) != our_rows:
                for a, b in zip(rows(theirs, case, False), our_rows):
                    failures += [f"{case}/{table.name}: value {x}, ours {y}" for x, y in zip(a, b) if x != y]
    return failures


def main():
    failures = []
    for case in ("types_parquet", "types_parquet_int64", "types_parquet_shanghai", "refused_parquet"):
        failures += run_case(case)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
