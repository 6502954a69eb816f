alter table t reset ();
alter table t add a int after b;
alter table t add (a int first, b as a, watermark for ts as ts, primary key (a) not enforced);
