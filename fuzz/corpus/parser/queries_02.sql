select a from t limit all;
with x as (select 1), y (a, b) as (values (1, 2)) select * from x, y;
values 1, (2), (3, 'a'), row(4), ((5, 6));
