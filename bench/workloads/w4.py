"""W4: Kafka JSON -> partitioned Parquet, exactly once. A topic of two partitions, read from its start to its end."""
from harness import compare, data, kafka, limits, sluice
from workloads import lake

TITLE = "Kafka JSON (2 partitions) → 48 Parquet partitions, exactly once"


def topic_table(broker, topic):
    return (f"CREATE TABLE source ({data.COLUMNS['orders']}, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='kafka', "
            f"'topic'='{topic}', 'properties.bootstrap.servers'='{broker}', 'scan.startup.mode'='earliest-offset', "
            "'scan.bounded.mode'='latest-offset', 'format'='json');\n")


def case_of(options, broker, counts, folder, wanted, name, interval, more):
    case = compare.Case("W4", name, options.rows)
    drain = limits.run("kafka_drain", broker.address, "orders", "0", counts[0]).get("kafka drain")
    walk = limits.run("json", *data.files(folder)).get("json walk")
    encode = limits.run("parquet_encode", 2_000_000).get("parquet encode")
    if drain and walk and encode:
        case.limit_name = "librdkafka drain, json walk, parquet encode"
        case.limit_cpu_s = sum(limit.cpu_for(options.rows) for limit in (drain, walk, encode))
    path = options.work / "out_sluice"
    sql = lake.job(topic_table(broker.address, "orders"), path, interval, more)
    compare.alternate(case, lambda: lake.checked_run(options, "sluice", lambda: sluice.run(options, sql), path, wanted), {}, options.repeats)
    return case


def run(options, flink):
    folder = data.make(options, "orders", "json")
    wanted = lake.expected(options, folder, "json")
    broker = kafka.Broker()
    try:
        counts = broker.fill("orders", 2, data.files(folder))
        ten = case_of(options, broker, counts, folder, wanted, TITLE + ", 10 s", "10 s", "")
        one = case_of(options, broker, counts, folder, wanted, TITLE + ", 1 s, files span checkpoints", "1 s",
                      ", 'sink.rolling-policy.on-checkpoint'='false'")
        if flink:
            fewer = data.make(options, "orders", "json", options.flink_rows)
            fewer_wanted = lake.expected(options, fewer, "json")
            broker.fill("fewer", 2, data.files(fewer))
            target = options.work / "out_flink"
            sql = lake.job(topic_table(broker.address, "fewer"), target, "10 s")
            theirs = lambda: compare.scaled(lake.checked_run(options, "flink", lambda: flink.run(options, sql), target, fewer_wanted),
                                            options.rows / options.flink_rows)
            path = options.work / "out_sluice"
            mine = lake.job(topic_table(broker.address, "orders"), path, "10 s")
            compare.alternate(ten, lambda: lake.checked_run(options, "sluice", lambda: sluice.run(options, mine), path, wanted),
                              {"flink": theirs}, options.flink_repeats)
        return [ten, one]
    finally:
        broker.wipe()
