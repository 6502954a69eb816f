alter table t modify a bigint not null comment 'x';
alter table t drop a;
alter table t drop (a, b);
