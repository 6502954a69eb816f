#!/usr/bin/env python3
"""Every SQL type through every format, both ways: alone, in ARRAY, MAP and ROW and nested deeper, NULL at every level, extreme values.

  run_type_matrix.py [--write] [FORMAT…]

What comes back must be what the same values are without a file. The outcome is the matrix of docs/formats.md: a run whose outcome is
another one than the page's fails; --write renews the page.
"""
# ctest: timeout=300

import argparse
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.path.insert(0, str(HERE))
from sluice_session import Session  # noqa: E402
from type_matrix import FORMATS, TYPES, shapes_of, table_options  # noqa: E402

BINARY = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
PAGE = ROOT / "docs" / "formats.md"
BEGIN, END = "<!-- Written by tests/formats/run_type_matrix.py --write; do not edit. -->", "<!-- End of the written part. -->"


def reason_of(messages):
    """The sentence of a message that tells why."""
    flat = re.sub(r"\s+", " ", messages.replace("[ERROR] ", ""))
    for pattern in (
        r"Unsupported type[^.]*?(?=\. |\.$| …|$)",
        r"Only simple types[^.]*?(?=\. |\.$| …|$)",
        r"The '\w+' format [^.]*?(?=\. |\.$| …|$)",
        r"Numbers[^.]*?(?=\. |\.$| …|$)",
        r"Timestamp [^.]* does not fit into [^:]*",
    ):
        if match := re.search(pattern, flat):
            return match.group(0).strip().rstrip(".:")
    return flat.strip()[:200]


class Cell:
    """The shapes of one type that a format keeps, and why it refuses the others."""

    def __init__(self):
        self.kept, self.refused, self.lost, self.wrong = [], {}, {}, []

    def text(self, shapes):
        if len(self.kept) == len(shapes):
            return "yes"
        if len(self.kept) + len(self.lost) == len(shapes) and not self.kept:
            return "not exactly"
        return ", ".join(self.kept) or "no"


def run_shape(session, folder, fmt, sql_type, values, name, from_json):
    """None when the values come back, ("refused", why) or ("wrong", what)."""
    create = f"CREATE TABLE t (v {sql_type}) WITH ({table_options(fmt, folder / name)})"
    rows = ", ".join(f"({value})" for value in values)
    values_table, source = "", f"VALUES {rows}"
    if from_json:
        (folder / f"{name}-values").mkdir()
        (folder / f"{name}-values" / "f.json").write_text("".join(f'{{"v": {value}}}\n' for value in values), encoding="utf-8")
        values_table = f"CREATE TABLE j (v {sql_type}) WITH ('connector'='filesystem', 'path'='{folder / f'{name}-values'}', 'format'='json');\n"
        source = "SELECT v FROM j"
    wanted = session.run(f"{values_table}{source}" if from_json else f"SELECT CAST(v AS {sql_type}) AS v FROM (VALUES {rows}) AS s (v)")
    if wanted.code != 0:
        return "wrong", "the values themselves: " + wanted.messages
    written = session.run(f"{values_table}{create};\nINSERT INTO t {source}")
    if written.code != 0:
        return "refused", reason_of(written.messages)
    read = session.run(f"{create};\nSELECT * FROM t")
    if read.code != 0:
        return "wrong", "what was written cannot be read: " + read.messages
    # A change stream answers with the kind of each row.
    ours, theirs = sorted(read.text.replace('"op":"+I",', "").split("\n")), sorted(wanted.text.split("\n"))
    if ours != theirs:
        return "wrong", "wrote {} read {}".format([t for t in theirs if t not in ours][:3], [o for o in ours if o not in theirs][:3])
    return None


def run_cell(task):
    fmt, case, folder = task
    cell = Cell()
    mode = "streaming" if fmt.is_change_stream else "batch"
    settings = {"parallelism.default": 1, "table.local-time-zone": "UTC", "execution.runtime-mode": mode}
    session = Session(BINARY, folder / "session", settings, output="json")
    for shape, (sql_type, values) in shapes_of(case).items():
        if shape not in fmt.shapes:
            continue
        if fmt.name == "raw" and not case.from_json:  # A NULL cannot be told from an empty record.
            values = [value for value in values if "NULL" not in value]
        if fmt.name == "raw" and not values:
            values = [f"CAST(NULL AS {sql_type})"]
        outcome = run_shape(session, folder, fmt, sql_type, values, shape, case.from_json)
        lossy, note = fmt.losses.get(case.name, ((), ""))
        if outcome is not None and outcome[0] == "wrong" and shape in lossy:
            cell.lost[shape] = note
        elif shape in lossy:
            cell.wrong.append(f"{fmt.label or fmt.name}, {case.name}, {shape}: a loss is listed, but none showed")
        elif outcome is None:
            cell.kept.append(shape)
        elif outcome[0] == "refused":
            cell.refused[shape] = outcome[1]
        else:
            cell.wrong.append(f"{fmt.label or fmt.name}, {case.name}, {shape}: {outcome[1]}")
    return cell


def run_all(formats, folder):
    tasks = []
    for fmt in formats:
        for case in TYPES:
            place = folder / f"{len(tasks)}"
            place.mkdir()
            tasks.append((fmt, case, place))
    with ThreadPoolExecutor(int(os.environ.get("SLUICE_JOBS", "2"))) as pool:
        cells = list(pool.map(run_cell, tasks))
    return {(fmt.label or fmt.name, case.name): cell for (fmt, case, _), cell in zip(tasks, cells)}


def page_text(cells):
    labels = [fmt.label or fmt.name for fmt in FORMATS]
    shapes = {fmt.label or fmt.name: [shape for shape in fmt.shapes] for fmt in FORMATS}
    lines = [BEGIN, "", "| type | " + " | ".join(labels) + " |", "|---" * (len(labels) + 1) + "|"]
    for case in TYPES:
        wanted = {label: [s for s in shapes[label] if s in shapes_of(case)] for label in labels}
        lines.append(f"| {case.name} | " + " | ".join(cells[label, case.name].text(wanted[label]) for label in labels) + " |")
    lines += ["", "What is refused, and in which words:", "", "| format | type | words |", "|---|---|---|"]
    for label in labels:
        alike = {}
        for case in TYPES:
            for shape, words in cells[label, case.name].refused.items():
                alike.setdefault((shape, words.replace(case.sql, "T").replace("|", "\\|")), []).append(case.name)
                break
        for (shape, words), types in alike.items():
            listed = "every type T" if len(types) > len(TYPES) // 2 else ", ".join(types)
            lines.append(f"| {label} | {listed}{'' if shape == 'alone' else ' in ' + shape} | {words} |")
    lines += ["", "What is taken and not kept exactly:", "", "| format | type | what |", "|---|---|---|"]
    for label in labels:
        for case in TYPES:
            if lost := cells[label, case.name].lost:
                where = "" if len(lost) == len(shapes[label]) else " in " + ", ".join(lost)
                lines.append(f"| {label} | {case.name}{where} | {next(iter(lost.values()))} |")
    lines += ["", END]
    return "\n".join(lines)


def page_with(part):
    whole = PAGE.read_text(encoding="utf-8") if PAGE.exists() else BEGIN + "\n" + END + "\n"
    return whole[: whole.index(BEGIN)] + part + whole[whole.index(END) + len(END) :]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("formats", nargs="*")
    arguments = parser.parse_args()
    formats = [fmt for fmt in FORMATS if not arguments.formats or fmt.name in arguments.formats]
    with tempfile.TemporaryDirectory(prefix="sluice-matrix-") as folder:
        cells = run_all(formats, Path(folder))
    wrong = [problem for cell in cells.values() for problem in cell.wrong]
    for problem in wrong:
        print("WRONG", problem)
    kept = sum(len(cell.kept) for cell in cells.values())
    print(f"{len(cells)} cells, {kept} shapes kept, {len(wrong)} wrong")
    if len(formats) < len(FORMATS):
        return 1 if wrong else 0
    page = page_with(page_text(cells))
    if arguments.write:
        PAGE.write_text(page, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page:
        print(page_text(cells))
        print("docs/formats.md is out of date: run tests/formats/run_type_matrix.py --write")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
