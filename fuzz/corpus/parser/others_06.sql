show jars;
show jobs;
show current catalog;
show current database;
show create table t;
show create view v;
