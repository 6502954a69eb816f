select * from tumble(data => table b, timecol => descriptor(ts), size => interval '10' minutes, `offset` => interval '1' minute) w;
select * from table(session(table b partition by a, c, descriptor(ts), interval '5' minutes));
select * from table(hop((select * from t), descriptor(ts), interval '5' minutes, interval '1' hour));
