create view if not exists v (a comment 'x', b) comment 'y' as select 1, 2;
create temporary view v as with x as (select 1) select * from x;
alter view v rename to w;
