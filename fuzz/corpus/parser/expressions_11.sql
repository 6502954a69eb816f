SELECT double precision,
time(3) without time zone,
timestamp,
timestamp(3) with local time zone,
timestamp_ltz(3),
timestamp(3) with time zone,
interval day to second(3),
array<map<string, row<a int not null 'c', b array<int>>>>;
