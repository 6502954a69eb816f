SELECT (((a))),
'it''s',
'a'
  'b',
U&'\00e9',
U&'!00e9!!' uescape '!',
E'a\
b',
x'4f2A',
N'x',
1e3,
5.,
DECIMAL '7',
true and UNKNOWN or null is null;
