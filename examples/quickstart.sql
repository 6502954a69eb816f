-- Quick start: a generator writes orders into Hive-style partitions as Parquet, each partition is committed with a _SUCCESS
-- marker, and a query reads back only the partition it needs. No service is needed:
--
--   ./dev run examples/quickstart.sql
--
-- The files are in ./quickstart-lake/dt=…/hour=…; running it again adds another 1,000,000 orders.

SET 'table.local-time-zone' = 'UTC';

-- 1. A source: 1,000,000 random orders spread over one day.
CREATE TABLE orders_source (
  order_id BIGINT,
  user_id INT,
  cents INT,
  second_of_day INT,
  order_amount AS CAST(cents AS DOUBLE) / 100,
  order_time AS TIMESTAMPADD(SECOND, second_of_day, TIMESTAMP '2020-05-20 00:00:00')
) WITH (
  'connector' = 'datagen',
  'number-of-rows' = '1000000',
  'rows-per-second' = '10000000',  -- as fast as it goes; the default is 10,000 a second
  'fields.order_id.kind' = 'sequence',
  'fields.order_id.start' = '1',
  'fields.order_id.end' = '1000000',
  'fields.user_id.min' = '1',
  'fields.user_id.max' = '5000',
  'fields.cents.min' = '100',
  'fields.cents.max' = '50000',
  'fields.second_of_day.min' = '0',
  'fields.second_of_day.max' = '86399'
);

-- 2. A table of files: one directory for each day and hour.
CREATE TABLE orders (
  order_id BIGINT,
  user_id INT,
  order_amount DOUBLE,
  order_time TIMESTAMP(3),
  dt STRING,
  `hour` STRING
) PARTITIONED BY (dt, `hour`) WITH (
  'connector' = 'filesystem',
  'path' = 'quickstart-lake',
  'format' = 'parquet',
  'sink.partition-commit.policy.kind' = 'success-file'
);

-- 3. The stream into the files: every row once, published when the job completes its checkpoint.
INSERT INTO orders
SELECT
  order_id,
  user_id,
  order_amount,
  order_time,
  DATE_FORMAT(order_time, 'yyyy-MM-dd'),
  DATE_FORMAT(order_time, 'HH')
FROM orders_source;

-- 4. Read back. Only the directory dt=2020-05-20/hour=12 is opened: see partitions=[…] in the plan.
SET 'execution.runtime-mode' = 'batch';

EXPLAIN SELECT COUNT(*), SUM(order_amount) FROM orders WHERE dt = '2020-05-20' AND `hour` = '12';

SELECT `hour`, COUNT(*) AS orders, ROUND(SUM(order_amount), 2) AS revenue
FROM orders
WHERE dt = '2020-05-20' AND `hour` IN ('11', '12')
GROUP BY `hour`
ORDER BY `hour`;
