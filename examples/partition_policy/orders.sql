-- Partitions by ISO week, whose time and commit are code of the user (audit_policy.cc).
CREATE TABLE orders (id BIGINT, week STRING) PARTITIONED BY (week) WITH (
  'connector' = 'filesystem', 'path' = 'orders-by-week', 'format' = 'json',
  'sink.partition-commit.trigger' = 'partition-time',
  'sink.partition-commit.delay' = '7 d',
  'partition.time-extractor.kind' = 'custom',
  'partition.time-extractor.class' = './libaudit_policy.so',
  'sink.partition-commit.policy.kind' = 'custom,success-file',
  'sink.partition-commit.policy.class' = './libaudit_policy.so',
  'sink.partition-commit.policy.class.parameters' = 'audit.log',
  'sink.partition-commit.success-file.content' = 'json');

INSERT INTO orders VALUES (1, '2020-W21'), (2, '2020-W21'), (3, '2020-W22');

SHOW PARTITIONS orders;
