set;
reset 'a';
reset a.b;
reset;
show catalogs not like 'a%';
show databases in c ilike 'a%';
