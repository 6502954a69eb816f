-- days before 1582-10-15: DATE is stored in the proleptic Gregorian calendar, TIMESTAMP in the hybrid one, and the file names neither
SET 'execution.runtime-mode'='batch';
SET 'table.local-time-zone'='UTC';
CREATE TABLE old_days (id INT, d DATE, t TIMESTAMP(3), a ARRAY<DATE>) WITH ('connector'='filesystem','path'='/data/orc_old_days/old_days','format'='orc');
INSERT INTO old_days VALUES
 (1, DATE '0001-01-01', TIMESTAMP '0001-01-01 00:00:00.500', ARRAY[DATE '0001-01-01', CAST(NULL AS DATE)]),
 (2, DATE '1582-10-04', TIMESTAMP '1582-10-04 12:00:00', ARRAY[DATE '1582-10-04']),
 (3, DATE '1582-10-15', TIMESTAMP '1582-10-15 00:00:00', ARRAY[DATE '1582-10-15']),
 (4, DATE '2020-02-29', TIMESTAMP '2020-02-29 23:59:59.999', ARRAY[DATE '2020-02-29']),
 (5, CAST(NULL AS DATE), CAST(NULL AS TIMESTAMP(3)), CAST(NULL AS ARRAY<DATE>));
