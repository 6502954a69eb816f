insert into t select 1;
insert overwrite t /*+ options('a'='b') */ partition (dt = '2020', h = 1) (a, b.c) values (1, 2);
insert into t (select 1);
insert into t (a) (select 1);
execute insert into t table s;
execute statement set begin insert into a select 1; insert into b select 2;; create table c as select 3; end;
