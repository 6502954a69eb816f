CREATE TABLE t (a INT) WITH (connector='x');
CREATE TABLE t (a INT) WITH ('a'='b') COMMENT 'x';
CREATE TABLE t (a, b);
CREATE TABLE t (a, b INT) AS SELECT 1
