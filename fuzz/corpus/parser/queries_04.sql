select * from a join b on a.x = b.x left outer join c using (x) cross join d natural join e full join f on true;
select * from a join (b join c on true) on true;
select * from (a, b) join c on true;
