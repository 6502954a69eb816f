create table t like s;
create table t (b, a) with ('k'='v') as select a, b from s;
create or replace table t as select 1;
