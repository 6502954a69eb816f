drop database if exists d cascade;
drop database d restrict;
set 'a' = 'b''c';
set a.b-c = file:///x//y;
set a = 'b';
set a=10 s -- ten;
