#!/usr/bin/env python3
"""Writes the seeds of fuzz/orc_fuzz.cc, fuzz/parquet_fuzz.cc and fuzz/merge_parquet_fuzz.cc: small files of pyarrow behind the byte that chooses their table."""

import datetime
import decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet

CORPUS = Path(__file__).resolve().parent / "corpus"
DAY = datetime.date
# The tables of FuzzTable in container.h.
TABLES = [
    pa.table({"i": pa.array([1, None, 3] * 5, pa.int64()), "s": ["a", "b", None] * 5}),
    pa.table({
        "b": [True, None, False], "d": [1.5, None, float("nan")],
        "dc": pa.array([decimal.Decimal("1.500"), None, decimal.Decimal("-9.999")], pa.decimal128(20, 3)),
        "dt": [DAY(2020, 2, 29), None, DAY(1969, 12, 31)],
        "t": pa.array([0, None, -1_500_000], pa.timestamp("us")), "x": [b"", None, b"\xff"],
    }),
    pa.table({
        "a": pa.array([[1, None], None, []], pa.list_(pa.int32())),
        "m": pa.array([[("k", 1)], None, [("l", None)]], pa.map_(pa.string(), pa.timestamp("ns"))),
        "r": pa.array([{"p": 1, "q": ["x"]}, None, {"p": None, "q": []}], pa.struct([("p", pa.int32()), ("q", pa.list_(pa.string()))])),
    }),
    pa.table({"i": pa.array([1, 2, 3], pa.int8())}),
]  # fmt: skip


def encoding_of(kind):
    """The encoding that only newer writers use for such a column, if there is one."""
    if pa.types.is_integer(kind) or pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return "DELTA_BINARY_PACKED"
    if pa.types.is_floating(kind):
        return "BYTE_STREAM_SPLIT"
    return {pa.string(): "DELTA_BYTE_ARRAY", pa.binary(): "DELTA_LENGTH_BYTE_ARRAY"}.get(kind)


def newer_pages(table):
    encodings = {field.name: encoding_of(field.type) for field in table.schema}
    return {"use_dictionary": False, "column_encoding": {name: one for name, one in encodings.items() if one},
            "data_page_version": "2.0", "compression": "gzip"}  # fmt: skip


def main():
    for at, table in enumerate(TABLES):
        for codec in ("uncompressed", "zstd"):
            path = CORPUS / "orc" / f"table{at}-{codec}"
            path.parent.mkdir(parents=True, exist_ok=True)
            orc.write_table(table, path, compression=codec)
            path.write_bytes(bytes([at]) + path.read_bytes())
        for name, options in (("plain", {"compression": "none", "use_dictionary": False}), ("pages", {"write_page_index": True}),
                              ("int96", {"use_deprecated_int96_timestamps": True}), ("newer", newer_pages(table)),
                              ("zstd", {"compression": "zstd"}), ("lz4", {"compression": "lz4"}), ("brotli", {"compression": "brotli"})):  # fmt: skip
            path = CORPUS / "parquet" / f"table{at}-{name}"
            path.parent.mkdir(parents=True, exist_ok=True)
            parquet.write_table(table, path, **options)
            path.write_bytes(bytes([at]) + path.read_bytes())
            if name == "pages":
                copy = CORPUS / "merge_parquet" / path.name
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())


if __name__ == "__main__":
    main()
