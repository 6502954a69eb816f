show tables from c.d like 'a%';
show views;
show columns in t like 'a';
show partitions t partition (a='1');
show user functions;
show full modules;
