alter table t rename a to b;
alter table t set ('a'='b');
alter table t reset ('a', 'b');
