"""What W2, W3 and W4 share: orders into Parquet of 48 hours, by us and by others, and the check of it.

The contract: columns order_id, user_id, amount, note in the files, dt and hour in the paths; snappy; files on the disk when the time ends.
"""
from harness import compare, data, limits, measure, peers, sluice, verify

COLUMNS = "order_id, user_id, amount, note, dt, hour"
SELECT = "SELECT order_id, user_id, amount, note, DATE_FORMAT(ts, 'yyyy-MM-dd'), DATE_FORMAT(ts, 'HH')"
DUCKDB_COLUMNS = ("{'order_id': 'BIGINT', 'user_id': 'INTEGER', 'amount': 'DOUBLE', 'note': 'VARCHAR', 'ts': 'TIMESTAMP'}")


def table(path, more=""):
    return (f"CREATE TABLE lake (order_id BIGINT, user_id INT, amount DOUBLE, note STRING, dt STRING, `hour` STRING) "
            f"PARTITIONED BY (dt, `hour`) WITH ('connector'='filesystem', 'path'='{path}', 'format'='parquet'{more});\n")


def file_table(folder, form):
    return (f"CREATE TABLE source ({data.COLUMNS['orders']}) WITH ('connector'='filesystem', 'path'='{folder}', 'format'='{form}');\n")


def job(source, path, interval="5 s", more=""):
    return (f"SET 'execution.checkpointing.interval' = '{interval}';\n" + source + table(path, more) +
            f"INSERT INTO lake {SELECT} FROM source;\n")


def duckdb_reader(folder, form):
    if form == "csv":
        return f"read_csv('{folder}/*', header=false, auto_detect=false, columns={DUCKDB_COLUMNS})"
    return f"read_json('{folder}/*', format='newline_delimited', columns={DUCKDB_COLUMNS})"


def duckdb_rows(folder, form):
    return (f"SELECT order_id, user_id, amount, note, strftime(ts, '%Y-%m-%d') AS dt, strftime(ts, '%H') AS hour FROM {duckdb_reader(folder, form)}")


def duckdb_copy(folder, form, path):
    return [f"COPY ({duckdb_rows(folder, form)}) TO '{path}' (FORMAT parquet, COMPRESSION snappy, PARTITION_BY (dt, hour))"]


CHDB_STRUCTURE = r"order_id Int64, user_id Int32, amount Float64, note String, ts DateTime64(3, \'UTC\')"


def chdb_copy(folder, form, path):
    """ClickHouse writes a file a partition into one folder and the columns of the key into the files, where they cost it little."""
    name = "CSV" if form == "csv" else "JSONEachRow"
    return ["SET output_format_parquet_compression_method = 'snappy'", "SET engine_file_truncate_on_insert = 1",
            f"INSERT INTO FUNCTION file('{path}/{{_partition_id}}.parquet', Parquet, 'order_id Int64, user_id Int32, amount Float64, note String, dt String, hour String') "
            "PARTITION BY concat(dt, '-', hour) "
            f"SELECT order_id, user_id, amount, note, formatDateTime(ts, '%Y-%m-%d') AS dt, formatDateTime(ts, '%H') AS hour "
            f"FROM file('{folder}/*', {name}, '{CHDB_STRUCTURE}')"]


def polars_copy(folder, form, path):
    schema = "{'order_id': pl.Int64, 'user_id': pl.Int32, 'amount': pl.Float64, 'note': pl.String, 'ts': pl.String}"
    scan = (f"pl.scan_csv('{folder}/*', has_header=False, schema={schema})" if form == "csv"
            else f"pl.scan_ndjson('{folder}/*', schema={schema})")
    # The text of the time begins with the two keys: no parser is faster than taking them as they stand.
    return [f"{scan}.select('order_id', 'user_id', 'amount', 'note', dt=pl.col('ts').str.slice(0, 10), hour=pl.col('ts').str.slice(11, 2))"
            f".sink_parquet(pl.PartitionBy('{path}', key=['dt', 'hour'], include_key=False), compression='snappy', mkdir=True)"]


def pyarrow_copy(folder, form, path):
    if form != "csv":
        return None
    names = data.names("orders")
    return [f"ds.write_dataset(ds.dataset('{folder}', format=ds.CsvFileFormat(read_options=csv.ReadOptions(column_names={names}), "
            "convert_options=csv.ConvertOptions(column_types={'ts': pa.timestamp('ms')})))"
            ".scanner(columns={'order_id': ds.field('order_id'), 'user_id': ds.field('user_id'), 'amount': ds.field('amount'), 'note': ds.field('note'), "
            "'dt': pc.strftime(ds.field('ts'), format='%Y-%m-%d'), 'hour': pc.strftime(ds.field('ts'), format='%H')}), "
            f"'{path}', format='parquet', partitioning=ds.partitioning(pa.schema([('dt', pa.string()), ('hour', pa.string())]), flavor='hive'), "
            "file_options=ds.ParquetFileFormat().make_write_options(compression='snappy'), max_rows_per_group=1000000)"]


WRITERS = {"duckdb": duckdb_copy, "chdb": chdb_copy, "polars": polars_copy, "pyarrow": pyarrow_copy}


def expected(options, folder, form):
    return verify.digest(options, COLUMNS, f"({duckdb_rows(folder, form)})")


def written(options, path, pattern="**/part-*"):
    in_paths = "hive_partitioning=true, hive_types={'dt': 'VARCHAR', 'hour': 'VARCHAR'}"
    return verify.digest(options, COLUMNS, f"read_parquet('{path}/{pattern}', {in_paths if '/' in pattern else 'hive_partitioning=false'})")


def checked_run(options, name, run, path, wanted, pattern="**/part-*"):
    """Runs into an empty folder and checks what was written. Gives the Sample."""
    measure.put_aside(options, path)
    if name == "chdb":
        path.mkdir()  # It makes no folders.
    sample = run()
    verify.expect(name, written(options, path, pattern), wanted)
    measure.put_aside(options, path)
    return sample


def engines(options, folder, form, wanted):
    """For each wanted peer a callable that writes the table and is checked."""
    def writer(engine, statements):
        path = options.work / f"out_{engine}"
        pattern = "*.parquet" if engine == "chdb" else "**/*.parquet"
        return lambda: checked_run(options, engine, lambda: peers.ask(options, engine, statements(folder, form, path), path)[0], path, wanted, pattern)
    return {engine: writer(engine, statements) for engine, statements in WRITERS.items()
            if options.wants(engine) and statements(folder, form, options.work) is not None}


def files_case(options, flink, workload, title, form, scan_limit):
    """The cases of a file workload: orders as `form` into the lake."""
    folder = data.make(options, "orders", form)
    wanted = expected(options, folder, form)
    case = compare.Case(workload, title, options.rows)
    scan = limits.run(scan_limit[0], *data.files(folder)).get(scan_limit[1])
    encode = limits.run("parquet_encode", 2_000_000).get("parquet encode")
    if scan and encode:
        case.limit_name = f"{scan_limit[1]}, parquet encode"
        case.limit_cpu_s = scan.cpu_for(options.rows) + encode.cpu_for(options.rows)
    path = options.work / "out_sluice"
    ours = lambda: checked_run(options, "sluice", lambda: sluice.run(options, job(file_table(folder, form), path)), path, wanted)
    compare.alternate(case, ours, engines(options, folder, form, wanted), options.repeats)
    if flink:
        fewer = data.make(options, "orders", form, options.flink_rows)
        fewer_wanted = expected(options, fewer, form)
        target = options.work / "out_flink"
        theirs = lambda: compare.scaled(
            checked_run(options, "flink", lambda: flink.run(options, job(file_table(fewer, form), target)), target, fewer_wanted),
            options.rows / options.flink_rows)
        compare.alternate(case, ours, {"flink": theirs}, options.flink_repeats)
    return [case]
