show create catalog c;
desc t;
describe extended c.d.t;
describe catalog extended c;
describe catalog;
describe job '228d70913eab60dda85c5e7f78b5782c';
