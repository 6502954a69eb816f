alter table t drop primary key;
alter table t drop constraint c;
alter table t drop watermark;
