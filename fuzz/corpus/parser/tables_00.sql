create table t (a int);
create temporary table if not exists c.d.t (a int not null comment 'x', b as a + 1 comment 'y', `file.path` string not null metadata, k string metadata from 'key' virtual comment 'z', ts timestamp(3), watermark for ts as ts - interval '5' second, constraint pk primary key (a) not enforced) comment 'tc' partitioned by (a, datetime) with ('connector' = 'x', 'p'='//');
create table t (a int primary key not enforced, b int unique, c timestamp(3) with local time zone);
