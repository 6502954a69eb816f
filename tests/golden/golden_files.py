"""Compares files written by sluice with the peer's: text byte for byte up to names and order, Parquet, ORC and Avro by schema and values."""

import re
from pathlib import Path

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
# Tables whose rows are random or depend on the moment: only what is certain is compared.
RANDOM = {"streaming_names", "streaming_json", "rolling", "compaction"}


def visible_files(folder):
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part[0] in "._" for part in parts):
            yield path


def by_folder(root):
    groups = {}
    for path in visible_files(root):
        groups.setdefault(str(path.parent.relative_to(root)), []).append(path)
    return groups


def compare_files(case_folder, data):
    """Yields (folder, problem or None) for each folder of files recorded."""
    recorded = case_folder / "files"
    if not recorded.is_dir() or case_folder.name in RANDOM:
        return
    theirs, ours = by_folder(recorded), by_folder(data)
    for folder, paths in sorted(theirs.items()):
        if folder not in ours:
            yield folder, "no such folder with visible files"
        elif paths[0].read_bytes()[:4] == b"PAR1":
            yield folder, compare_parquet(paths, ours[folder])
        elif paths[0].read_bytes()[:3] == b"ORC":
            yield folder, compare_orc(paths, ours[folder])
        elif paths[0].read_bytes()[:4] == b"Obj\x01":
            yield folder, compare_avro(paths, ours[folder])
        else:
            left, right = (sorted(b"".join(p.read_bytes() for p in group).split(b"\n")) for group in (paths, ours[folder]))
            problem = None
            if left != right:
                problem = "text differs" + "".join(f"\n  theirs: {line!r}" for line in left if line not in right)
                problem += "".join(f"\n  ours:   {line!r}" for line in right if line not in left)
            yield folder, problem
    for folder in sorted(set(ours) - set(theirs)):
        if not folder.startswith(("in", "t/a=")):
            yield folder, f"files that the peer does not have: {[path.name for path in ours[folder]]}"


def compare_parquet(theirs, ours):
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    left = arrow.concat_tables([parquet.ParquetFile(path).read() for path in theirs])
    right = arrow.concat_tables([parquet.ParquetFile(path).read() for path in ours])
    problems = []
    left_schema, right_schema = (str(parquet.ParquetFile(group[0]).schema).split("\n", 1)[1] for group in (theirs, ours))
    if left_schema != right_schema:
        problems.append(f"schema differs\n  theirs: {left_schema}\n  ours:   {right_schema}")
    left_codec, right_codec = (parquet.ParquetFile(group[0]).metadata.row_group(0).column(0).compression for group in (theirs, ours))
    if left_codec != right_codec:
        problems.append(f"codec {right_codec} instead of {left_codec}")
    for name in left.column_names:
        if name not in right.column_names:
            problems.append(f"no column {name}")
            continue
        values = [sorted(map(str, column_values(table, name))) for table in (left, right)]
        if values[0] != values[1]:
            problems.append(f"column {name}: theirs {values[0]}, ours {values[1]}")
    return "\n".join(problems) or None


def compare_orc(theirs, ours):
    import pyorc

    class AsStored(pyorc.converters.ORCConverter):
        """Times as seconds and nanoseconds: Python's have microseconds only, and no years before 1."""

        @staticmethod
        def from_orc(seconds, nanoseconds, timezone):
            return seconds, nanoseconds

    as_stored = {pyorc.TypeKind.TIMESTAMP: AsStored}
    readers = [[pyorc.Reader(path.open("rb"), converters=as_stored) for path in group] for group in (theirs, ours)]
    problems = []
    for what in (lambda reader: str(reader.schema), lambda reader: reader.compression, lambda reader: reader.row_index_stride):
        left, right = (what(group[0]) for group in readers)
        if left != right:
            problems.append(f"theirs {left}, ours {right}")
    names = readers[0][0].schema.fields
    rows = [[row for reader in group for row in reader] for group in readers]
    for at, name in enumerate(names):
        values = [sorted(repr(row[at]) for row in side) for side in rows]
        if values[0] != values[1]:
            problems.append(f"column {name}: theirs {values[0]}, ours {values[1]}")
    return "\n".join(problems) or None


def compare_avro(theirs, ours):
    """Codec, schema and records; the peer wraps the record of a row in a union with null."""
    import json

    import fastavro

    sides = []
    for paths in (theirs, ours):
        schemas, records = set(), []
        for path in paths:
            with open(path, "rb") as file:
                reader = fastavro.reader(file)
                schema = json.loads(reader.metadata["avro.schema"])
                if isinstance(schema, list):
                    schema = next(branch for branch in schema if branch != "null")
                schemas.add((reader.codec, json.dumps(schema)))
                records += [repr(record) for record in reader]
        sides.append((sorted(schemas), sorted(records)))
    problems = []
    for what, left, right in zip(("schema or codec", "records"), *sides):
        if left != right:
            problems.append(f"{what} differ\n  theirs: {left}\n  ours:   {right}")
    return "\n".join(problems) or None


def column_values(table, name):
    """Values of a column; times as counts of their unit, since Python's have microseconds only."""
    import pyarrow as arrow

    column = table.column(name)
    if arrow.types.is_timestamp(column.type):
        return [f"{value} {column.type.unit}" for value in column.cast(arrow.int64()).to_pylist()]
    return column.to_pylist()


def shape(name):
    """A file name with its random and counted parts replaced."""
    name = re.sub(UUID, "U", name)
    name = re.sub(r"part-U-task-\d+-file-\d+", "part-U-task-N-file-N", name)
    name = re.sub(r"part-U-\d+-\d+", "part-U-N-N", name)
    name = re.sub(r"\.inprogress\.[0-9a-fU-]+", ".inprogress.U", name)
    return re.sub(r"k=\d", "k=N", name)


def compare_listing(data, answer):
    """Folders and shapes of names in a listing; sizes only where the content is certain."""
    theirs = set()
    tables = set()
    for line in answer:
        match = re.match(r"   (\S.*?)  (\d+) B$", line)
        if match:
            theirs.add(shape(match.group(1)))
            tables.add(match.group(1).split("/")[0])
    if not theirs:
        return None
    ours = set()
    for path in data.rglob("*"):
        name = str(path.relative_to(data))
        if path.is_file() and name.split("/")[0] in tables:
            ours.add(shape(name))
    if ours == theirs:
        return None
    return f"listing differs\n  only theirs: {sorted(theirs - ours)}\n  only ours:   {sorted(ours - theirs)}"
