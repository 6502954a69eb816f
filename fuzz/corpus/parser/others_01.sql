begin statement set;
end;
create catalog if not exists c comment 'x' with ('type'='hive');
alter catalog c set ('a'='b');
alter catalog c reset ('a');
alter catalog c comment 'x';
