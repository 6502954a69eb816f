SELECT a b c FROM t;
SELECT 订单, 
 用户 用 户 FROM t;
SELECT a\xC2\xA0 FROM t;
SELECT a，b
