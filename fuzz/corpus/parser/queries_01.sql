select a from t group by a, (b, c), rollup(d), cube (e, (f, g)), grouping sets ((a), ()) having count(*) > 1;
select a from t order by 1 desc, b nulls first limit 10 offset 5 rows;
select a from t offset 5 fetch next 3 rows only;
