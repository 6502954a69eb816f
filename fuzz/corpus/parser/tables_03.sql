replace table t as select 1;
create table t (r row<a int, b array<row<c int>>>, watermark for r.a as r.a);
alter table if exists t rename to d.t2;
