-- nothing;
CREATE TABLE t (a INT,);
CREATE TABLE t (
  a INT,
  ...
) WITH (...);
CREATE TABLE t (a INT) WITH (...)
