table db.t;
select 1 union all select 2 intersect select 3 except distinct select 4 minus all select 5;
(select 1 order by 1 limit 1) union (select 2);
