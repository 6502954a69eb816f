"""How many rows a second of processor time other libraries decode and encode, on one thread: FOLDER LIBRARY...

Prints {"csv_decode": {"pyarrow": rows a second, …}, …}. The files are those that formats_bench writes.
"""
import io
import json
import sys
import time

SECONDS = 0.5
NAMES = ["order_id", "user_name", "amount", "price", "order_time", "order_day", "quantity", "paid"]
SQL_TYPES = ["BIGINT", "VARCHAR", "DOUBLE", "DECIMAL(10,2)", "TIMESTAMP", "DATE", "INTEGER", "BOOLEAN"]


def rate(rows, call):
    """Rows a second of processor time; at least two calls, the first is not counted."""
    call()
    begin, count = time.process_time(), 0
    while count == 0 or time.process_time() - begin < SECONDS:
        call()
        count += 1
    return rows * count / (time.process_time() - begin)


def with_pyarrow(folder, rows):
    import pyarrow as pa
    from pyarrow import csv, json as pa_json, orc, parquet
    pa.set_cpu_count(1)
    types = dict(zip(NAMES, [pa.int64(), pa.string(), pa.float64(), pa.decimal128(10, 2), pa.timestamp("ms"), pa.date32(), pa.int32(), pa.bool_()]))
    text = open(f"{folder}/orders.csv", "rb").read()

    def read_csv():
        return csv.read_csv(io.BytesIO(text), csv.ReadOptions(use_threads=False, column_names=NAMES), convert_options=csv.ConvertOptions(column_types=types))
    table = read_csv()
    objects = open(f"{folder}/orders.json", "rb").read()
    # Its reader takes no decimals from JSON numbers and no dates from texts: a double and a text stand for them.
    json_types = pa.schema(list(dict(types, price=pa.float64(), order_day=pa.string()).items()))
    containers = {form: open(f"{folder}/orders.{form}", "rb").read() for form in ("parquet", "orc")}
    return {
        "csv_decode": rate(rows, read_csv),
        "json_decode": rate(rows, lambda: pa_json.read_json(io.BytesIO(objects), pa_json.ReadOptions(use_threads=False), pa_json.ParseOptions(explicit_schema=json_types))),
        "csv_encode": rate(rows, lambda: csv.write_csv(table, io.BytesIO(), csv.WriteOptions(include_header=False))),
        "parquet_write": rate(rows, lambda: parquet.write_table(table, io.BytesIO(), compression="snappy", use_deprecated_int96_timestamps=True,
                                                                write_page_index=True, write_page_checksum=True)),
        "parquet_read": rate(rows, lambda: parquet.read_table(io.BytesIO(containers["parquet"]), use_threads=False)),
        "orc_read": rate(rows, lambda: orc.read_table(io.BytesIO(containers["orc"]))),
        "orc_write": rate(rows, lambda: orc.write_table(table, io.BytesIO(), compression="zlib")),
    }


def with_duckdb(folder, rows):
    import duckdb
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    kinds = ", ".join(f"'{name}': '{kind}'" for name, kind in zip(NAMES, SQL_TYPES))
    csv = f"read_csv('{folder}/orders.csv', header=false, auto_detect=false, columns={{{kinds}}})"
    objects = f"read_json('{folder}/orders.json', format='newline_delimited', columns={{{kinds}}})"
    connection.execute(f"CREATE TABLE orders AS SELECT * FROM {csv}")
    counts = ", ".join(f"COUNT({name})" for name in NAMES)

    def run(statement):
        return rate(rows, lambda: connection.execute(statement).fetchall())
    return {
        "csv_decode": run(f"SELECT {counts} FROM {csv}"),
        "json_decode": run(f"SELECT {counts} FROM {objects}"),
        "csv_encode": run("COPY orders TO '/dev/null' (FORMAT csv, HEADER false)"),
        "json_encode": run("COPY orders TO '/dev/null' (FORMAT json)"),
        "parquet_read": run(f"SELECT {counts} FROM read_parquet('{folder}/orders.parquet')"),
        "parquet_write": run("COPY orders TO '/dev/null' (FORMAT parquet, COMPRESSION snappy)"),
    }


def with_polars(folder, rows):
    import polars as pl
    kinds = dict(zip(NAMES, [pl.Int64, pl.String, pl.Float64, pl.Float64, pl.String, pl.Date, pl.Int32, pl.Boolean]))
    text = open(f"{folder}/orders.csv", "rb").read()
    objects = open(f"{folder}/orders.json", "rb").read()
    container = open(f"{folder}/orders.parquet", "rb").read()
    table = pl.read_csv(io.BytesIO(text), has_header=False, schema=kinds)
    # Its readers take no decimals and no timestamps from text: a double and a text stand for them.
    return {
        "csv_decode": rate(rows, lambda: pl.read_csv(io.BytesIO(text), has_header=False, schema=kinds)),
        "json_decode": rate(rows, lambda: pl.read_ndjson(io.BytesIO(objects), schema=dict(kinds, order_day=pl.String))),
        "csv_encode": rate(rows, lambda: table.write_csv(io.BytesIO(), include_header=False)),
        "json_encode": rate(rows, lambda: table.write_ndjson(io.BytesIO())),
        "parquet_read": rate(rows, lambda: pl.read_parquet(io.BytesIO(container))),
        "parquet_write": rate(rows, lambda: table.write_parquet(io.BytesIO(), compression="snappy")),
    }


def with_fastavro(folder, rows):
    import fastavro
    container = open(f"{folder}/orders.avro", "rb").read()
    reader = fastavro.reader(io.BytesIO(container))
    schema = reader.writer_schema
    records = list(reader)
    return {
        "avro_decode": rate(rows, lambda: sum(1 for _ in fastavro.reader(io.BytesIO(container)))),
        "avro_encode": rate(rows, lambda: fastavro.writer(io.BytesIO(), schema, records)),
    }


LIBRARIES = {"pyarrow": with_pyarrow, "duckdb": with_duckdb, "polars": with_polars, "fastavro": with_fastavro}


def main():
    folder = sys.argv[1]
    with open(f"{folder}/orders.csv", "rb") as text:
        rows = sum(block.count(b"\n") for block in iter(lambda: text.read(1 << 20), b""))
    result = {}
    for library in sys.argv[2:]:
        for task, value in LIBRARIES[library](folder, rows).items():
            result.setdefault(task, {})[library] = value
    print(json.dumps(result))


if __name__ == "__main__":
    main()
