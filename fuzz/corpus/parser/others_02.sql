drop catalog if exists c;
use catalog c;
use catalog.d;
use c.d;
create database if not exists c.d comment 'x' with ('a'='b');
alter database d set ('a'='b');
