select * from table(f((select * from t) partition by (a) order by (b desc)));
select sum(a) over w from t window w as (partition by b order by c), v as (w rows unbounded preceding) qualify a = 1;
execute select 1;
