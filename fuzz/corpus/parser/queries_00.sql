select 1;
select *, t.*, a as b, c d from t;
select distinct a from c.d.t x (p, q) where a > 1;
