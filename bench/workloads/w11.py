"""W11: Nexmark q10: bids -> CSV partitioned by minute, committed by partition time with a success file.

The bids come from JSON files of a day instead of Nexmark's generator, for all engines: reading them is part of the time. The published figure of
Flink is 132.8 K rows a second and core.
"""
from harness import compare, data, limits, measure, peers, settings, sluice, verify

TITLE = "Nexmark q10: bids → CSV by minute, partition-time commit"
PUBLISHED_ROWS_PER_CORE_SECOND = 132_800
PARTITIONS = 1_440
WRITTEN_OF_READ = 0.38  # Bytes of CSV for each byte of JSON.
COLUMNS = "auction, bidder, price, date_time, extra, dt, hm"
DUCKDB_COLUMNS = ("{'auction': 'BIGINT', 'bidder': 'BIGINT', 'price': 'BIGINT', 'channel': 'VARCHAR', 'url': 'VARCHAR', 'date_time': 'TIMESTAMP', "
                  "'extra': 'VARCHAR'}")


def job(folder, path):
    return ("SET 'execution.checkpointing.interval' = '5 s';\n"
            f"CREATE TABLE bid ({data.COLUMNS['bids']}, WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND) WITH "
            f"('connector'='filesystem', 'path'='{folder}', 'format'='json');\n"
            "CREATE TABLE fs_sink (auction BIGINT, bidder BIGINT, price BIGINT, date_time TIMESTAMP(3), extra STRING, dt STRING, hm STRING) "
            f"PARTITIONED BY (dt, hm) WITH ('connector'='filesystem', 'path'='{path}', 'format'='csv', 'sink.partition-commit.trigger'='partition-time', "
            "'sink.partition-commit.delay'='1 min', 'sink.partition-commit.policy.kind'='success-file', "
            "'partition.time-extractor.timestamp-pattern'='$dt $hm:00', 'sink.rolling-policy.rollover-interval'='1 min', "
            "'sink.rolling-policy.check-interval'='1 min');\n"
            "INSERT INTO fs_sink SELECT auction, bidder, price, date_time, extra, DATE_FORMAT(date_time, 'yyyy-MM-dd'), DATE_FORMAT(date_time, 'HH:mm') FROM bid;\n")


def source_rows(folder):
    return (f"SELECT auction, bidder, price, date_time, extra, strftime(date_time, '%Y-%m-%d') AS dt, strftime(date_time, '%H:%M') AS hm "
            f"FROM read_json('{folder}/*', format='newline_delimited', columns={DUCKDB_COLUMNS})")


def written(options, path, pattern="*/*/part-*"):
    columns = "{'auction': 'BIGINT', 'bidder': 'BIGINT', 'price': 'BIGINT', 'date_time': 'TIMESTAMP', 'extra': 'VARCHAR'}"
    return verify.digest(options, COLUMNS, f"read_csv('{path}/{pattern}', header=false, columns={columns}, hive_partitioning=true, "
                                           "hive_types={'dt': 'VARCHAR', 'hm': 'VARCHAR'})")


def run(options, flink):
    folder = data.make(options, "bids", "json")
    wanted = verify.digest(options, COLUMNS, f"({source_rows(folder)})")
    case = compare.Case("W11", TITLE, options.rows)

    def checked(name, path, measured, expected, commits, pattern="*/*/part-*"):
        measure.put_aside(options, path)
        sample = measured()
        verify.expect(name, written(options, path, pattern), expected)
        partitions, markers = len(list(path.glob("*/*"))), len(list(path.glob("*/*/_SUCCESS")))
        if commits and partitions != markers:
            raise measure.Failed(f"{name}: {markers} of {partitions} partitions are committed")
        measure.put_aside(options, path)
        return sample

    target = options.work / "q10_sluice"
    ours = lambda: checked("sluice", target, lambda: sluice.run(options, job(folder, target)), wanted, True)
    others = {}
    if options.wants("duckdb"):
        out = options.work / "q10_duckdb"
        copy = [f"COPY ({source_rows(folder)}) TO '{out}' (FORMAT csv, HEADER false, PARTITION_BY (dt, hm))"]
        others["duckdb"] = lambda: checked("duckdb", out, lambda: peers.ask(options, "duckdb", copy, out)[0], wanted, False, "*/*/*.csv")
    compare.alternate(case, ours, others, options.repeats)
    if flink:
        fewer = data.make(options, "bids", "json", options.flink_rows)
        expected = verify.digest(options, COLUMNS, f"({source_rows(fewer)})")
        theirs = options.work / "q10_flink"
        compare.alternate(case, ours, {"flink": lambda: compare.scaled(
            checked("flink", theirs, lambda: flink.run(options, job(fewer, theirs)), expected, True), options.rows / options.flink_rows)}, options.flink_repeats)
    walk = limits.run("json", *data.files(folder)).get("json walk")
    size = sum(path.stat().st_size for path in data.files(folder)) * WRITTEN_OF_READ
    made = limits.files_made(options.work, "once", PARTITIONS, int(size / PARTITIONS), settings.PARALLELISM)
    if walk and made:
        case.limit_name, case.limit_cpu_s = "json walk, as many files of as many bytes made durable", walk.cpu_for(options.rows) + made.cpu_s
    rate = options.rows / case.ours.median("cpu_s")
    case.extra["rows per core-second over Flink's published"] = rate / PUBLISHED_ROWS_PER_CORE_SECOND
    case.note = "DuckDB writes without commit" if "duckdb" in case.peers else ""
    return [case]
