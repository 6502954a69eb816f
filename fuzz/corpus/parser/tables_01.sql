create table t (a int) distributed by hash(a) into 4 buckets with ();
create table t (a int) distributed into 2 buckets;
create table t (b int) with ('a'='b') like s (including all overwriting options excluding partitions);
