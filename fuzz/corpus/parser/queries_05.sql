select * from ((select 1) union (select 2)) as u;
select * from (values (1, 2)) as t(a, b);
select * from t /*+ OPTIONS('a'='b', 'c' = 'd') */ as x;
