"""W5: read back a table of 10,000 partitions, and one of 48 for whole scans: point partition, range, GROUP BY, COUNT(*).

Ours is a whole process; a peer's time is that of its statement. Answers are compared row by row.
"""
import multiprocessing

from harness import compare, data, limits, peers, settings, sluice, verify
from workloads import lake

TITLE = "read back"
PARTITIONS = 10_000


def many_table(path, partitions):
    return (f"CREATE TABLE many (order_id BIGINT, user_id INT, amount DOUBLE, note STRING, k INT) PARTITIONED BY (k) WITH "
            f"('connector'='filesystem', 'path'='{path}', 'format'='parquet');\n")


def build(options, folder, partitions):
    """Both tables, written by us: the reader is what is measured."""
    many, wide = options.work / "read_many", options.work / "read_lake"
    sluice.run(options, lake.file_table(folder, "csv") + many_table(many, partitions) +
               f"INSERT INTO many SELECT order_id, user_id, amount, note, CAST(MOD(order_id, {partitions}) AS INT) FROM source;\n")
    sluice.run(options, lake.job(lake.file_table(folder, "csv"), wide))
    return many, wide


def queries(many, wide, partitions):
    """(name, our SQL, the peers' SQL by engine)."""
    m = f"read_parquet('{many}/*/part-*', hive_partitioning=true, hive_types={{'k': 'INTEGER'}})"
    w = f"read_parquet('{wide}/*/*/part-*', hive_partitioning=true, hive_types={{'dt': 'VARCHAR', 'hour': 'VARCHAR'}})"
    few = partitions // 2
    return [
        (f"point partition of {partitions:,}", many_table(many, partitions) + f"SELECT COUNT(*), SUM(amount) FROM many WHERE k = {few};\n",
         f"SELECT COUNT(*), SUM(amount) FROM {m} WHERE k = {few}"),
        (f"1 % of {partitions:,} partitions by range",
         many_table(many, partitions) + f"SELECT COUNT(*), SUM(amount) FROM many WHERE k >= {few} AND k < {few + partitions // 100};\n",
         f"SELECT COUNT(*), SUM(amount) FROM {m} WHERE k >= {few} AND k < {few + partitions // 100}"),
        (f"COUNT(*) over {partitions:,} partitions", many_table(many, partitions) + "SELECT COUNT(*) FROM many;\n", f"SELECT COUNT(*) FROM {m}"),
        ("2 of 48 partitions", lake.table(wide) + "SELECT COUNT(*), SUM(amount) FROM lake WHERE dt = '2020-05-20' AND `hour` IN ('08', '09');\n",
         f"SELECT COUNT(*), SUM(amount) FROM {w} WHERE dt = '2020-05-20' AND hour IN ('08', '09')"),
        ("COUNT(*) over 48 partitions", lake.table(wide) + "SELECT COUNT(*) FROM lake;\n", f"SELECT COUNT(*) FROM {w}"),
        ("MIN, MAX over 48 partitions", lake.table(wide) + "SELECT MIN(order_id), MAX(order_id) FROM lake;\n",
         f"SELECT MIN(order_id), MAX(order_id) FROM {w}"),
        ("GROUP BY partition, whole table", lake.table(wide) + "SELECT dt, `hour`, COUNT(*), SUM(amount) FROM lake GROUP BY dt, `hour`;\n",
         f"SELECT dt, hour, COUNT(*), SUM(amount) FROM {w} GROUP BY dt, hour"),
        ("GROUP BY 100,000 users, whole table",
         lake.table(wide) + "SELECT COUNT(*), SUM(n), MAX(s) FROM (SELECT user_id, COUNT(*) AS n, SUM(amount) AS s FROM lake GROUP BY user_id);\n",
         f"SELECT COUNT(*), SUM(n), MAX(s) FROM (SELECT user_id, COUNT(*) AS n, SUM(amount) AS s FROM {w} GROUP BY user_id)"),
    ]


def column_bytes(table, columns):
    """What is stored of some columns, by the footers. In a process of its own: a program that is started later would be charged with the
    memory that pyarrow takes here."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(sum_of_columns, (table, columns))


def sum_of_columns(table, columns):
    from pyarrow import parquet  # noqa: PLC0415

    total = 0
    for path in table.rglob("part-*"):
        footer = parquet.read_metadata(path)
        names = {footer.schema.column(i).name: i for i in range(footer.num_columns)}
        total += sum(footer.row_group(group).column(names[column]).total_compressed_size for group in range(footer.num_row_groups) for column in columns)
    return total


def add_limit(case, many, wide, partitions):
    """The least that an answer takes: the start of a program, and what has to be opened or read."""
    start_wall, start_cpu = limits.start()
    opened = limits.run("scan_directory", many, settings.PARALLELISM).get("read files")
    cached = limits.run("memory", next(wide.rglob("part-*"))).get("page cache")
    if not (start_wall and opened and cached):
        return
    files = {"point": 1, "1 %": partitions // 100, "COUNT(*) over 10": partitions}
    columns = {"GROUP BY partition": ("amount",), "GROUP BY 100": ("user_id", "amount")}
    for beginning, count in files.items():
        if case.name.startswith(beginning):
            case.limit_name, case.limit_wall_s = "start of a program, opening and reading the files", start_wall + opened.wall_for(count)
            return
    for beginning, names in columns.items():
        if case.name.startswith(beginning):
            case.limit_name = "start of a program, the columns out of the page cache"
            case.limit_cpu_s = start_cpu + cached.cpu_for(column_bytes(wide, names))
            return
    case.limit_name, case.limit_wall_s = "start of a program", start_wall


def run(options, flink):
    folder = data.make(options, "orders", "csv")
    partitions = PARTITIONS if options.rows >= 100_000 else 100
    many, wide = build(options, folder, partitions)
    cases = []
    for name, ours, theirs in queries(many, wide, partitions):
        case = compare.Case("W5", name, options.rows)
        _, wanted = peers.ask(options, "duckdb", [theirs])
        add_limit(case, many, wide, partitions)

        def mine():
            sample, rows = sluice.query(options, ours)
            verify.expect_rows(name, rows, wanted)
            return sample

        compare.alternate(case, mine, {"duckdb": lambda: peers.ask(options, "duckdb", [theirs])[0]} if options.wants("duckdb") else {},
                          options.repeats)
        cases.append(case)
    return cases
