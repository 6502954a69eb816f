-- Kafka to a data lake, exactly once: JSON orders become Parquet by day and hour; an hour is committed (_SUCCESS) when the watermark
-- says that it is complete.
--
--   tools/services/kafka.sh start                       # a broker for trying things out: prints its address
--   tools/services/kafka.sh topic orders 4
--   tools/services/kafka.sh produce orders < orders.json
--   ./dev run examples/kafka_to_lake.sql
--
-- Stop it with Ctrl-C: it takes a last checkpoint, publishes, and the same command goes on where it was.

SET 'execution.checkpointing.interval' = '10 s';
SET 'table.local-time-zone' = 'UTC';
-- A Kafka partition without rows must not hold back the watermark for ever.
SET 'table.exec.source.idle-timeout' = '5 s';

CREATE TABLE orders_topic (
  user_id STRING,
  order_amount DOUBLE,
  log_ts TIMESTAMP(3),
  WATERMARK FOR log_ts AS log_ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'orders',
  'properties.bootstrap.servers' = '127.0.0.1:19092',
  'properties.group.id' = 'orders-to-lake',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json'
);

CREATE TABLE orders_lake (
  user_id STRING,
  order_amount DOUBLE,
  dt STRING,
  `hour` STRING
) PARTITIONED BY (dt, `hour`) WITH (
  'connector' = 'filesystem',
  'path' = 'orders-lake',
  'format' = 'parquet',
  'partition.time-extractor.timestamp-pattern' = '$dt $hour:00:00',
  'sink.partition-commit.trigger' = 'partition-time',
  'sink.partition-commit.delay' = '1 h',
  'sink.partition-commit.policy.kind' = 'success-file'
);

INSERT INTO orders_lake
SELECT user_id, order_amount, DATE_FORMAT(log_ts, 'yyyy-MM-dd'), DATE_FORMAT(log_ts, 'HH')
FROM orders_topic;
