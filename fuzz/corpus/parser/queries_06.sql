select /*+ BROADCAST(a, b.c), STATE_TTL('a'='1d') */ * from a;
select * from o join r for system_time as of o.ts as r on o.k = r.k;
select * from t, lateral table(f(a)) as x(b);
