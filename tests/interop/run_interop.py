#!/usr/bin/env python3
"""Apache Flink 2.3 and Sluice over the same files, both directions: ./dev interop [FORMAT…] [--types WORD…]

Every type of tests/formats/type_matrix.py, alone and nested, with NULL at every level, goes through every format: our files are read by
Flink, which writes what it read as JSON; Flink's files are read by us and written as JSON. Both must be, line by line, the JSON of the values
themselves. The change streams go from each format into debezium-json, with updates and deletes. Flink is brought up by
tools/services/flink.sh and stopped at the end; a run takes some minutes.
"""
# ctest: timeout=1800 manual

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.path.insert(0, str(HERE.parent / "formats"))
sys.path.insert(0, str(HERE))
from flink_differences import differences_of, refused_by_flink  # noqa: E402
from sluice_session import Session  # noqa: E402
from type_matrix import TYPES, shapes_of  # noqa: E402

BINARY = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
FLINK = ROOT / "tools" / "services" / "flink.sh"
COLUMN_OF_SHAPE = {"alone": "v", "ARRAY": "a", "MAP": "m", "ROW": "r", "deeper": "d"}

# On a machine that is busy with other work Flink gives up on slots and heartbeats too soon.
PATIENCE = """heartbeat.timeout: 300 s
taskmanager.slot.timeout: 300 s
pekko.ask.timeout: 120 s
"""


@dataclass
class Case:
    """A format with its options and the shapes that both sides hold."""

    name: str
    options: dict = field(default_factory=dict)
    shapes: tuple = ("alone", "ARRAY", "MAP", "ROW", "deeper")
    label: str = ""
    time_digits: int = 9  # Of a second: what the files hold, the rest is cut off.
    since_1970: bool = False  # Only such times.

    @property
    def shown(self):
        return self.label or self.name


def int64_case(unit, digits, since_1970=False):
    options = {"parquet.utc-timezone": "true", "parquet.write.int64.timestamp": "true", "parquet.timestamp.time.unit": unit}
    # Inside ARRAY, MAP and ROW Flink fails on ours: "Unsupported operation" in ParquetDataColumnReaderFactory.readTimestamp.
    label = f"parquet-int64-{unit}" + ("-since-1970" if since_1970 else "")
    return Case("parquet", options, ("alone",), label=label, time_digits=digits, since_1970=since_1970)


CASES = [
    Case("csv", {"csv.null-literal": "nil"}, ("alone", "ARRAY", "ROW")),
    Case("json"),
    Case("json", {"json.timestamp-format.standard": "ISO-8601", "json.encode.decimal-as-plain-number": "true"}, label="json-iso"),
    Case("avro"),
    Case("parquet", {"parquet.utc-timezone": "true"}),
    int64_case("millis", 3), int64_case("micros", 6), int64_case("nanos", 9),
    int64_case("micros", 6, since_1970=True), int64_case("nanos", 9, since_1970=True),
    Case("orc"),
    Case("raw", {}, ("alone",)),
    Case("debezium-json"), Case("canal-json"), Case("maxwell-json"), Case("ogg-json"),
]  # fmt: skip
UPDATES = {
    "debezium-json": ['{"before":null,"after":{"id":1,"s":"a","d":1.5},"op":"c","ts_ms":1}',
                      '{"before":{"id":1,"s":"a","d":1.5},"after":{"id":1,"s":null,"d":2},"op":"u"}', '{"before":{"id":1,"s":null,"d":2},"after":null,"op":"d"}'],
    "canal-json": ['{"data":[{"id":"1","s":"a","d":"1.5"},{"id":"2","s":"b","d":null}],"type":"INSERT","database":"x","table":"t"}',
                   '{"data":[{"id":"1","s":null,"d":"2"}],"old":[{"s":"a","d":"1.5"}],"type":"UPDATE"}', '{"data":[{"id":"2","s":"b","d":null}],"type":"DELETE"}'],
    "maxwell-json": ['{"database":"x","table":"t","type":"insert","ts":1,"data":{"id":1,"s":"a","d":1.5}}',
                     '{"type":"update","data":{"id":1,"s":null,"d":2},"old":{"s":"a","d":1.5}}', '{"type":"delete","data":{"id":1,"s":null,"d":2}}'],
    "ogg-json": ['{"table":"T","op_type":"I","after":{"id":1,"s":"a","d":1.5}}',
                 '{"op_type":"U","before":{"id":1,"s":"a","d":1.5},"after":{"id":1,"s":null,"d":2}}', '{"op_type":"D","before":{"id":1,"s":null,"d":2}}'],
}  # fmt: skip


def with_options(name, path, options=None):
    every = {"connector": "filesystem", "path": str(path), "format": name, **(options or {})}
    return "WITH (" + ", ".join(f"'{key}'='{value}'" for key, value in every.items()) + ")"


def lines_of(folder):
    lines = []
    for path in sorted(folder.rglob("*")) if folder.exists() else []:
        if path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts):
            lines += path.read_text(encoding="utf-8").split("\n")[:-1]
    return sorted(lines)


def in_order(line):
    """The JSON text with the entries of maps in one order, which Flink takes from a hash table; numbers as they are written."""
    return json.dumps(json.loads(line, parse_float=str, parse_int=str), sort_keys=True, ensure_ascii=False)


def cut_times(line, digits):
    """The line with no more than so many digits of a second."""
    def cut(found):
        fraction = found[2][:digits].rstrip("0")
        return found[1] + ("." + fraction if fraction else "")

    return re.sub(r"(\d\d:\d\d:\d\d)\.(\d+)", cut, line)


def within_int64_nanos(shapes):
    """The same times in years that 64 bits of nanoseconds reach."""
    def moved(value):
        return value.replace("'0001-", "'1678-").replace("'1582-", "'1782-").replace("'9999-", "'2261-")

    return {shape: (kind, [moved(value) for value in values]) for shape, (kind, values) in shapes.items()}


def is_before_1970(value):
    year = re.search(r"'(\d{4})-", value)
    return year is not None and int(year[1]) < 1970


class Table:
    """One type in one format: its columns and the rows that both sides must hold."""

    def __init__(self, case, sql_type, number, folder):
        self.case, self.type, self.name = case, sql_type, f"{case.shown.replace('-', '_')}_{number}"
        self.folder = folder / self.name
        shapes = {shape: found for shape, found in shapes_of(sql_type).items()
                  if shape in case.shapes and not refused_by_flink(case.name, sql_type.sql, shape)}  # fmt: skip
        self.shapes = list(shapes)
        if case.name == "csv":  # Flink reads the literal of a NULL array as an array of it, and fails on that of a NULL row.
            shapes = {shape: (kind, [value for value in values if shape == "alone" or not value.startswith("CAST(NULL")])
                      for shape, (kind, values) in shapes.items()}  # fmt: skip
        if "int64" in case.label and case.time_digits == 9 and "TIMESTAMP" in sql_type.sql:
            shapes = within_int64_nanos(shapes)
        if case.since_1970:
            shapes = {shape: (kind, [value for value in values if not is_before_1970(value)]) for shape, (kind, values) in shapes.items()}
        length = max((len(values) for _, values in shapes.values()), default=0)
        self.rows = []
        for row in range(length):
            cells = [values[row] if row < len(values) else values[0] if case.name == "csv" else f"CAST(NULL AS {kind})"
                     for kind, values in shapes.values()]  # fmt: skip
            if case.name == "raw":  # One column, no NULL.
                if "NULL" not in cells[0]:
                    self.rows.append(f"({cells[0]})")
            else:
                self.rows.append(f"({row}, " + ", ".join(cells) + ")")
        self.json_lines = []  # Of types without literals in SQL.
        if sql_type.from_json:
            for row in range(length):
                cells = [f'"{COLUMN_OF_SHAPE[shape]}":{values[row] if row < len(values) else "null"}' for shape, (_, values) in shapes.items()]
                self.json_lines.append("{" + ",".join([f'"id":{row}', *cells]) + "}\n")
        columns = [f"{COLUMN_OF_SHAPE[shape]} {kind}" for shape, (kind, _) in shapes.items()]
        self.columns = ", ".join(([] if case.name == "raw" else ["id INT"]) + columns)
        self.json = "debezium-json" if case.name in UPDATES else "json"

    def create(self, name, folder, as_text):
        form, options = (self.json, {}) if as_text else (self.case.name, self.case.options)
        return f"CREATE TABLE {name} ({self.columns}) {with_options(form, self.folder / folder, options)};\n"

    def of_flink(self, step):
        """Statements for Flink: tables, and the INSERT of a step."""
        if step == "read":
            return self.create(f"ours_{self.name}", "ours", False) + self.create(f"back_{self.name}", "flink-read", True), (
                f"INSERT INTO back_{self.name} SELECT * FROM ours_{self.name};\n")  # fmt: skip
        return self.create(f"ref_{self.name}", "values", True) + self.create(f"theirs_{self.name}", "theirs", False), (
            f"INSERT INTO theirs_{self.name} SELECT * FROM ref_{self.name};\n")  # fmt: skip


class Run:
    def __init__(self, folder):
        self.folder = folder
        settings = {"parallelism.default": 1, "table.local-time-zone": "UTC"}
        self.session = Session(BINARY, folder / "session", settings, output="json", timeout=120)
        self.failures, self.equal, self.differing = [], 0, 0

    def sluice(self, sql, what):
        outcome = self.session.run(sql)
        if outcome.code != 0:
            self.failures.append(f"{what}: {outcome.messages}")
        return outcome.code == 0

    def flink(self, sql):
        """None when the script ran through, else what Flink said."""
        script = self.folder / "flink.sql"
        mode = "streaming" if "debezium-json" in sql else "batch"
        script.write_text(f"SET 'execution.runtime-mode'='{mode}';\nSET 'table.dml-sync'='true';\nSET 'parallelism.default'='1';\n"
                          f"SET 'table.local-time-zone'='UTC';\nSET 'execution.checkpointing.interval'='2 s';\n{sql}")  # fmt: skip
        done = subprocess.run([str(FLINK), "sql", str(script)], capture_output=True, text=True, timeout=600, check=False)
        text = done.stdout + done.stderr
        if done.returncode == 0 and "[ERROR]" not in text:
            return None
        caused = re.findall(r"^(?:Caused by: )?[\w.$]+(?:Exception|Error): .*", text, re.MULTILINE)
        return " / ".join(caused[-2:])[:400] or text[-400:]

    def in_flink(self, tables, step):
        """Runs a step over all tables in one job; where that fails, over halves of them until the one at fault is known."""
        if not tables:
            return
        parts = [table.of_flink(step) for table in tables]
        inserts = "".join(insert for _, insert in parts)
        body = inserts if len(tables) == 1 else f"EXECUTE STATEMENT SET BEGIN\n{inserts}END;\n"
        said = self.flink("".join(create for create, _ in parts) + body)
        if said is None:
            return
        if len(tables) == 1:
            tables[0].error = said
            return
        middle = len(tables) // 2
        self.in_flink(tables[:middle], step)
        self.in_flink(tables[middle:], step)

    def compare(self, table, folder, what, error=None):
        name = f"{table.case.shown}, {table.type.name}, {what}"
        known = differences_of(table.case.shown, table.type.sql, what)
        found, wanted = (sorted(map(in_order, lines_of(table.folder / place))) for place in (folder, "values"))
        if table.case.time_digits < 9:
            wanted = sorted(cut_times(line, table.case.time_digits) for line in wanted)
        if error is None and found == wanted and len(wanted) > 0:
            if known.fails:
                self.failures.append(f"{name}: a difference is listed ({known.fails}), but none shows")
            self.equal += len(wanted)
            return
        if known.fails:
            self.differing += 1
            return
        if error is not None:
            self.failures.append(f"{name}: Flink says {error}")
            return
        ours = [line for line in found if line not in wanted][:2]
        theirs = [line for line in wanted if line not in found][:2]
        self.failures.append(f"{name}: {len(found)} lines of {len(wanted)}; found {str(ours)[:700]}, should be {str(theirs)[:700]}")

    def run_format(self, case, types):
        tables = [Table(case, kind, number, self.folder) for number, kind in enumerate(types)]
        tables = [table for table in tables if table.shapes and table.rows]
        for table in tables:
            table.error = None
            rows = ", ".join(table.rows)
            source, create = f"VALUES {rows}", ""
            if table.json_lines:
                path = table.folder / "lines"
                path.mkdir(parents=True)
                (path / "f.json").write_text("".join(table.json_lines), encoding="utf-8")
                create = f"CREATE TABLE j ({table.columns}) {with_options('json', path)};\n"
                source = "SELECT * FROM j"
            steps = [("values", True, "the values"), ("ours", False, "our file")]
            table.written = all([self.sluice(f"{create}{table.create('x', place, as_text)}INSERT INTO x {source}", f"{table.name}: {what}")
                                 for place, as_text, what in steps])  # fmt: skip
        tables = [table for table in tables if table.written]  # Flink waits for ever where nothing is.
        self.in_flink(tables, "read")
        for table in tables:
            self.compare(table, "flink-read", "ours read by Flink", table.error)
            table.error = None
        self.in_flink(tables, "write")
        for table in tables:
            what = "Flink's read by us"
            if table.error is None:
                create = table.create("x", "theirs", False) + ";\n" + table.create("y", "sluice-read", True)
                self.sluice(f"{create};\nINSERT INTO y SELECT * FROM x".replace(";\n;\n", ";\n"), f"{table.name}: {what}")
            self.compare(table, "sluice-read", what, table.error)
        print(f"{case.shown}: {len(tables)} types", flush=True)

    def run_updates(self, name):
        """Both sides read the same messages and write the changes as debezium-json."""
        folder = self.folder / f"updates-{name}"
        (folder / "in").mkdir(parents=True)
        (folder / "in" / "f.json").write_text("\n".join(UPDATES[name]) + "\n", encoding="utf-8")
        columns = "(id INT, s STRING, d DECIMAL(10, 2))"
        source = f"CREATE TABLE i {columns} {with_options(name, folder / 'in')};\n"
        error = self.flink(source + f"CREATE TABLE o {columns} {with_options('debezium-json', folder / 'flink')};\nINSERT INTO o SELECT * FROM i;\n")
        self.sluice(source + f"CREATE TABLE o {columns} {with_options('debezium-json', folder / 'ours')};\nINSERT INTO o SELECT * FROM i", name)
        theirs, ours = lines_of(folder / "flink"), lines_of(folder / "ours")
        if error or theirs != ours or not ours:
            self.failures.append(f"{name}, updates: Flink {error or theirs}, ours {ours}")
        self.equal += len(ours)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("formats", nargs="*")
    parser.add_argument("--types", nargs="*", default=[])
    parser.add_argument("--keep", help="leave all files in this folder")
    arguments = parser.parse_args()
    types = [case for case in TYPES if not arguments.types or any(word in case.name for word in arguments.types)]
    started = subprocess.run([str(FLINK), "status"], capture_output=True, check=False).returncode != 0
    with tempfile.TemporaryDirectory(prefix="sluice-interop-") as place:
        settings = Path(place) / "flink.yaml"
        settings.write_text(PATIENCE, encoding="utf-8")
        subprocess.run([str(FLINK), "start"], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SLUICE_FLINK_SETTINGS": str(settings)})
        run = Run(Path(arguments.keep or place))
        run.folder.mkdir(parents=True, exist_ok=True)
        try:
            for case in CASES:
                if arguments.formats and case.shown not in arguments.formats:
                    continue
                run.run_format(case, types)
                if case.name in UPDATES:
                    run.run_updates(case.name)
        finally:
            if started:
                subprocess.run([str(FLINK), "stop"], check=False, stdout=subprocess.DEVNULL)
    for failure in run.failures:
        print("FAILED", failure)
    print(f"{run.equal} rows equal, {run.differing} listed differences of Flink, {len(run.failures)} failures")
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main())
