SELECT `abc;
SELECT `abc
` FROM t;
SELECT 'a' 'b';
SELECT 1x
