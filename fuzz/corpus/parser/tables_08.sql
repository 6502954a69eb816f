alter table t add if not exists partition (a='1', b=-2) with ('k'='v') partition (a='2', b=3);
alter table t drop if exists partition (a='1'), partition (a='2');
drop temporary table if exists t;
