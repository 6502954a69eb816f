#include "types/coercion.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string Text(const Result<SqlType>& type) {
  return type.ok() ? type->ToString() : "error: " + type.status().message();
}

SqlType N(SqlType type) { return type.NotNull(); }

TEST(Arithmetic, ResultTypes) {
  using Op = ArithmeticOp;
  const SqlType d32 = N(SqlType::Decimal(3, 2));
  const std::tuple<Op, SqlType, SqlType, const char*> cases[] = {
      {Op::kAdd, N(SqlType::Int()), N(SqlType::Bigint()), "BIGINT NOT NULL"},
      {Op::kAdd, SqlType::Tinyint(), N(SqlType::Tinyint()), "TINYINT"},
      {Op::kMultiply, N(SqlType::Decimal(2, 1)), d32, "DECIMAL(6, 3) NOT NULL"},
      {Op::kDivide, N(SqlType::Decimal(2, 1)), N(SqlType::Int()), "DECIMAL(13, 12) NOT NULL"},
      {Op::kDivide, N(SqlType::Int()), N(SqlType::Decimal(3, 1)), "DECIMAL(17, 6) NOT NULL"},
      {Op::kAdd, N(SqlType::Decimal(2, 1)), N(SqlType::Int()), "DECIMAL(12, 1) NOT NULL"},
      {Op::kMultiply, N(SqlType::Decimal(38, 18)), N(SqlType::Decimal(38, 18)),
       "DECIMAL(38, 6) NOT NULL"},
      {Op::kModulo, N(SqlType::Decimal(5, 2)), N(SqlType::Decimal(4, 1)), "DECIMAL(5, 2) NOT NULL"},
      {Op::kAdd, N(SqlType::Float()), N(SqlType::Int()), "FLOAT NOT NULL"},
      {Op::kAdd, N(SqlType::Float()), N(SqlType::Decimal(3, 1)), "DOUBLE NOT NULL"},
      {Op::kAdd, N(SqlType::Float()), N(SqlType::Double()), "DOUBLE NOT NULL"},
      {Op::kAdd, N(SqlType::Timestamp(0)), N(SqlType::IntervalDayTime()), "TIMESTAMP(0) NOT NULL"},
      {Op::kAdd, N(SqlType::IntervalDayTime()), N(SqlType::Date()), "DATE NOT NULL"},
      {Op::kMultiply, N(SqlType::Int()), N(SqlType::IntervalYearMonth()),
       "INTERVAL YEAR TO MONTH NOT NULL"},
      {Op::kModulo, N(SqlType::Double()), N(SqlType::Int()),
       "error: Cannot apply '%' to arguments of type '<DOUBLE> % <INTEGER>'. Supported form(s): "
       "'<EXACT_NUMERIC> % <EXACT_NUMERIC>'"},
      {Op::kAdd, SqlType::Null(), SqlType::Null(), "error: Illegal use of 'NULL'"},
  };
  for (const auto& [op, a, b, expected] : cases)
    EXPECT_EQ(Text(ArithmeticType(op, a, b)), expected);
  EXPECT_TRUE(
      Text(ArithmeticType(Op::kAdd, SqlType::Int(), SqlType::Char(1)))
          .starts_with("error: Cannot apply '+' to arguments of type '<INTEGER> + <CHAR(1)>'"));
}

TEST(Common, Types) {
  const std::pair<std::vector<SqlType>, const char*> cases[] = {
      {{N(SqlType::Int()), N(SqlType::Bigint())}, "BIGINT NOT NULL"},
      {{SqlType::Int(), N(SqlType::Decimal(10, 2))}, "DECIMAL(12, 2)"},
      {{SqlType::Bigint(), SqlType::Decimal(10, 2)}, "DECIMAL(21, 2)"},
      {{SqlType::Decimal(10, 2), SqlType::Float()}, "DOUBLE"},
      {{SqlType::Char(2), SqlType::Char(2)}, "CHAR(2)"},
      {{SqlType::Char(2), SqlType::Char(3)}, "VARCHAR(3)"},
      {{SqlType::Char(2), SqlType::String()}, "STRING"},
      {{SqlType::Timestamp(3), SqlType::Timestamp(6)}, "TIMESTAMP(6)"},
      {{SqlType::Timestamp(3), SqlType::TimestampLtz(6)}, "TIMESTAMP_LTZ(6)"},
      {{SqlType::Null(), N(SqlType::Int())}, "INT"},
      {{SqlType::Array(N(SqlType::Int())), SqlType::Array(SqlType::Bigint())}, "ARRAY<BIGINT>"},
      {{SqlType::Int(), SqlType::String()},
       "error: Types INT and STRING have no common type. Cast one of them."},
      {{SqlType::Int(), SqlType::Date()},
       "error: Types INT and DATE have no common type. Cast one of them."},
  };
  for (const auto& [types, expected] : cases) EXPECT_EQ(Text(CommonType(types)), expected);
}

TEST(Cast, Allowed) {
  using K = CastKind;
  const std::tuple<SqlType, SqlType, K> cases[] = {
      {SqlType::Int(), SqlType::Bigint(), K::kImplicit},
      {SqlType::Bigint(), SqlType::Int(), K::kExplicit},
      {SqlType::Int(), SqlType::String(), K::kExplicit},
      {SqlType::Int(), SqlType::Bytes(), K::kNone},
      {SqlType::Int(), SqlType::Timestamp(3), K::kAdvised},
      {SqlType::Timestamp(3), SqlType::Bigint(), K::kAdvised},
      {SqlType::Double(), SqlType::Decimal(5, 2), K::kImplicit},
      {SqlType::Double(), SqlType::Float(), K::kExplicit},
      {SqlType::Decimal(5, 2), SqlType::Bigint(), K::kExplicit},
      {SqlType::Boolean(), SqlType::Int(), K::kExplicit},
      {SqlType::String(), SqlType::Varchar(5), K::kImplicit},
      {SqlType::String(), SqlType::Char(5), K::kExplicit},
      {SqlType::Char(3), SqlType::Char(5), K::kImplicit},
      {SqlType::String(), SqlType::Date(), K::kExplicit},
      {SqlType::Bytes(), SqlType::Binary(4), K::kExplicit},
      {SqlType::Binary(4), SqlType::Bytes(), K::kImplicit},
      {SqlType::Date(), SqlType::Timestamp(3), K::kExplicit},
      {SqlType::Timestamp(3), SqlType::Date(), K::kImplicit},
      {SqlType::Timestamp(3), SqlType::TimestampLtz(3), K::kImplicit},
      {SqlType::TimestampLtz(3), SqlType::Date(), K::kExplicit},
      {SqlType::Date(), SqlType::Int(), K::kNone},
      {SqlType::Date(), SqlType::Time(), K::kNone},
      {SqlType::Array(SqlType::Int()), SqlType::Array(SqlType::Bigint()), K::kImplicit},
      {SqlType::Array(SqlType::Int()), SqlType::Array(SqlType::String()), K::kExplicit},
      {SqlType::Array(SqlType::Int()), SqlType::Map(SqlType::Int(), SqlType::Int()), K::kNone},
      {SqlType::Null(), SqlType::Date(), K::kImplicit},
  };
  for (const auto& [from, to, expected] : cases) {
    EXPECT_EQ(CanCast(from, to), expected) << from.ToString() << " to " << to.ToString();
  }
  EXPECT_NE(CastAdvice(SqlType::Int(), SqlType::Timestamp(3)).find("TO_TIMESTAMP(FROM_UNIXTIME("),
            std::string::npos);
  EXPECT_EQ(CheckExplicitCast(SqlType::Date(), SqlType::Int()).message(),
            "Cast function cannot convert value of type DATE to type INTEGER.");
}

TEST(Comparison, Types) {
  EXPECT_EQ(Text(ComparisonType("=", N(SqlType::Int()), N(SqlType::Decimal(2, 1)))),
            "DECIMAL(11, 1) NOT NULL");
  EXPECT_EQ(Text(ComparisonType("=", SqlType::String(), N(SqlType::Date()))), "DATE");
  EXPECT_EQ(Text(ComparisonType("<", SqlType::Timestamp(3), SqlType::TimestampLtz(3))),
            "TIMESTAMP_LTZ(3)");
  EXPECT_TRUE(
      Text(ComparisonType("=", SqlType::Int(), SqlType::Char(2)))
          .starts_with(
              "error: implicit type conversion between INTEGER and CHAR is not supported now"));
  EXPECT_TRUE(
      Text(ComparisonType("=", SqlType::Date(), SqlType::Timestamp(0)))
          .starts_with("error: Cannot apply '=' to arguments of type '<DATE> = <TIMESTAMP(0)>'"));
  EXPECT_TRUE(
      ComparisonType("=", SqlType::Array(SqlType::Int()), SqlType::Array(SqlType::Int())).ok());
  EXPECT_FALSE(
      ComparisonType("<", SqlType::Array(SqlType::Int()), SqlType::Array(SqlType::Int())).ok());
}

TEST(Aggregates, Types) {
  EXPECT_EQ(Text(SumType(N(SqlType::Int()))), "INT");
  EXPECT_EQ(Text(SumType(N(SqlType::Decimal(10, 2)))), "DECIMAL(38, 2)");
  EXPECT_EQ(Text(AvgType(N(SqlType::Int()))), "INT");
  EXPECT_EQ(Text(AvgType(N(SqlType::Decimal(10, 2)))), "DECIMAL(38, 6)");
  EXPECT_FALSE(SumType(SqlType::String()).ok());
}

}  // namespace
}  // namespace sluice
