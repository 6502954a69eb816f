select * from t left join lateral (select 1) x on true;
select * from t cross join unnest(arr) with ordinality as u (c, n);
select * from table(tumble(table b, descriptor(ts), interval '10' minutes));
