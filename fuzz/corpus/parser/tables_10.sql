alter view v as select 1;
drop view if exists v;
