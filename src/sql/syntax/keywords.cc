// The tables are sorted and constexpr: a word is looked up by binary search and nothing runs at
// start-up.
#include "sql/syntax/keywords.h"

#include <algorithm>
#include <array>

namespace sluice::sql {
namespace {

using namespace std::string_view_literals;

// Reserved in Flink 2.3: as names they need back-ticks.
// clang-format off
constexpr std::array kReserved{
    "ABS"sv, "ALL"sv, "ALLOCATE"sv, "ALLOW"sv, "ALTER"sv, "AND"sv, "ANY"sv, "ARE"sv, "ARRAY"sv,
    "ARRAY_CONCAT_AGG"sv, "ARRAY_MAX_CARDINALITY"sv, "AS"sv, "ASENSITIVE"sv, "ASYMMETRIC"sv,
    "AT"sv, "ATOMIC"sv, "AUTHORIZATION"sv, "AVG"sv, "BEGIN"sv, "BEGIN_FRAME"sv,
    "BEGIN_PARTITION"sv, "BETWEEN"sv, "BIGINT"sv, "BINARY"sv, "BIT"sv, "BITMAP"sv, "BLOB"sv,
    "BOOLEAN"sv, "BOTH"sv, "BUCKETS"sv, "BY"sv, "BYTES"sv, "CALL"sv, "CALLED"sv, "CARDINALITY"sv,
    "CASCADED"sv, "CASE"sv, "CAST"sv, "CATALOGS"sv, "CEIL"sv, "CEILING"sv, "CHAR"sv,
    "CHARACTER"sv, "CHARACTER_LENGTH"sv, "CHAR_LENGTH"sv, "CHECK"sv, "CLASSIFIER"sv, "CLOB"sv,
    "CLOSE"sv, "COALESCE"sv, "COLLATE"sv, "COLLECT"sv, "COLUMN"sv, "COMMENT"sv, "COMMIT"sv,
    "CONDITION"sv, "CONNECT"sv, "CONNECTIONS"sv, "CONSTRAINT"sv, "CONTAINS"sv,
    "CONTAINS_SUBSTR"sv, "CONTINUOUS"sv, "CONVERT"sv, "CORR"sv, "CORRESPONDING"sv, "COUNT"sv,
    "COVAR_POP"sv, "COVAR_SAMP"sv, "CREATE"sv, "CROSS"sv, "CUBE"sv, "CUME_DIST"sv, "CURRENT"sv,
    "CURRENT_CATALOG"sv, "CURRENT_DATE"sv, "CURRENT_DEFAULT_TRANSFORM_GROUP"sv, "CURRENT_PATH"sv,
    "CURRENT_ROLE"sv, "CURRENT_ROW"sv, "CURRENT_SCHEMA"sv, "CURRENT_TIME"sv,
    "CURRENT_TIMESTAMP"sv, "CURRENT_TRANSFORM_GROUP_FOR_TYPE"sv, "CURRENT_USER"sv, "CURSOR"sv,
    "CYCLE"sv, "DATABASES"sv, "DATE"sv, "DATETIME"sv, "DATETIME_TRUNC"sv, "DATE_TRUNC"sv, "DAY"sv,
    "DEALLOCATE"sv, "DEC"sv, "DECIMAL"sv, "DECLARE"sv, "DEFAULT"sv, "DEFINE"sv, "DELETE"sv,
    "DENSE_RANK"sv, "DEREF"sv, "DESCRIBE"sv, "DETERMINISTIC"sv, "DISALLOW"sv, "DISCONNECT"sv,
    "DISTINCT"sv, "DISTRIBUTED"sv, "DISTRIBUTION"sv, "DOT"sv, "DOUBLE"sv, "DROP"sv, "DYNAMIC"sv,
    "EACH"sv, "ELEMENT"sv, "ELSE"sv, "EMPTY"sv, "END"sv, "END_FRAME"sv, "END_PARTITION"sv,
    "EQUALS"sv, "ESCAPE"sv, "EVERY"sv, "EXCEPT"sv, "EXEC"sv, "EXECUTE"sv, "EXISTS"sv, "EXP"sv,
    "EXPLAIN"sv, "EXTEND"sv, "EXTENDED"sv, "EXTERNAL"sv, "EXTRACT"sv, "FALSE"sv, "FETCH"sv,
    "FILTER"sv, "FIRST_VALUE"sv, "FLOAT"sv, "FLOOR"sv, "FOR"sv, "FOREIGN"sv, "FRAME_ROW"sv,
    "FREE"sv, "FRESHNESS"sv, "FRIDAY"sv, "FROM"sv, "FULL"sv, "FUNCTION"sv, "FUNCTIONS"sv,
    "FUSION"sv, "GET"sv, "GLOBAL"sv, "GRANT"sv, "GROUP"sv, "GROUPING"sv, "GROUPS"sv,
    "GROUP_CONCAT"sv, "HASH"sv, "HAVING"sv, "HOLD"sv, "HOUR"sv, "IDENTITY"sv, "ILIKE"sv,
    "IMPORT"sv, "IN"sv, "INCLUDE"sv, "INDICATOR"sv, "INITIAL"sv, "INNER"sv, "INOUT"sv,
    "INSENSITIVE"sv, "INSERT"sv, "INT"sv, "INTEGER"sv, "INTERSECT"sv, "INTERSECTION"sv,
    "INTERVAL"sv, "INTO"sv, "IS"sv, "JOIN"sv, "JSON_ARRAY"sv, "JSON_ARRAYAGG"sv, "JSON_EXISTS"sv,
    "JSON_OBJECT"sv, "JSON_OBJECTAGG"sv, "JSON_QUERY"sv, "JSON_SCOPE"sv, "JSON_VALUE"sv, "LAG"sv,
    "LANGUAGE"sv, "LARGE"sv, "LAST_VALUE"sv, "LATERAL"sv, "LEAD"sv, "LEADING"sv, "LEFT"sv,
    "LIKE"sv, "LIKE_REGEX"sv, "LIMIT"sv, "LN"sv, "LOCAL"sv, "LOCALTIME"sv, "LOCALTIMESTAMP"sv,
    "LOWER"sv, "MATCH"sv, "MATCHES"sv, "MATCH_NUMBER"sv, "MATCH_RECOGNIZE"sv, "MATERIALIZED"sv,
    "MAX"sv, "MEASURES"sv, "MEMBER"sv, "MERGE"sv, "METHOD"sv, "MIN"sv, "MINUS"sv, "MINUTE"sv,
    "MOD"sv, "MODELS"sv, "MODIFIES"sv, "MODIFY"sv, "MODULE"sv, "MODULES"sv, "MONDAY"sv, "MONTH"sv,
    "MORE"sv, "MULTISET"sv, "NATIONAL"sv, "NATURAL"sv, "NCHAR"sv, "NCLOB"sv, "NEW"sv, "NEXT"sv,
    "NO"sv, "NONE"sv, "NORMALIZE"sv, "NOT"sv, "NTH_VALUE"sv, "NTILE"sv, "NULL"sv, "NULLIF"sv,
    "NUMERIC"sv, "OCCURRENCES_REGEX"sv, "OCTET_LENGTH"sv, "OF"sv, "OFFSET"sv, "OLD"sv, "OMIT"sv,
    "ON"sv, "ONE"sv, "ONLY"sv, "OPEN"sv, "OR"sv, "ORDER"sv, "ORDINAL"sv, "OUT"sv, "OUTER"sv,
    "OVER"sv, "OVERLAPS"sv, "OVERLAY"sv, "PARAMETER"sv, "PARTITION"sv, "PATTERN"sv, "PER"sv,
    "PERCENT"sv, "PERCENTILE_CONT"sv, "PERCENTILE_DISC"sv, "PERCENT_RANK"sv, "PERIOD"sv,
    "PERMUTE"sv, "PIVOT"sv, "PORTION"sv, "POSITION"sv, "POSITION_REGEX"sv, "POWER"sv,
    "PRECEDES"sv, "PRECISION"sv, "PREPARE"sv, "PREV"sv, "PRIMARY"sv, "PROCEDURE"sv,
    "PROCEDURES"sv, "QUALIFY"sv, "QUARTERS"sv, "RANGE"sv, "RANK"sv, "RAW"sv, "READS"sv, "REAL"sv,
    "RECURSIVE"sv, "REF"sv, "REFERENCES"sv, "REFERENCING"sv, "REFRESH"sv, "REFRESH_MODE"sv,
    "REGR_AVGX"sv, "REGR_AVGY"sv, "REGR_COUNT"sv, "REGR_INTERCEPT"sv, "REGR_R2"sv, "REGR_SLOPE"sv,
    "REGR_SXX"sv, "REGR_SXY"sv, "REGR_SYY"sv, "RELEASE"sv, "RENAME"sv, "RESET"sv, "RESULT"sv,
    "RESUME"sv, "RETURN"sv, "RETURNS"sv, "REVOKE"sv, "RIGHT"sv, "RLIKE"sv, "ROLLBACK"sv,
    "ROLLUP"sv, "ROW"sv, "ROWS"sv, "ROW_NUMBER"sv, "RUNNING"sv, "SAFE_CAST"sv, "SAFE_OFFSET"sv,
    "SAFE_ORDINAL"sv, "SATURDAY"sv, "SAVEPOINT"sv, "SCALA"sv, "SCOPE"sv, "SCROLL"sv, "SEARCH"sv,
    "SECOND"sv, "SEEK"sv, "SELECT"sv, "SENSITIVE"sv, "SEPARATOR"sv, "SESSION_USER"sv, "SET"sv,
    "SHOW"sv, "SIMILAR"sv, "SKIP"sv, "SMALLINT"sv, "SOME"sv, "SPECIFIC"sv, "SPECIFICTYPE"sv,
    "SQL"sv, "SQLEXCEPTION"sv, "SQLSTATE"sv, "SQLWARNING"sv, "SQRT"sv, "START"sv, "STATEMENT"sv,
    "STATIC"sv, "STDDEV_POP"sv, "STDDEV_SAMP"sv, "STREAM"sv, "STRING"sv, "STRING_AGG"sv,
    "STRUCTURED"sv, "SUBMULTISET"sv, "SUBSET"sv, "SUBSTRING"sv, "SUBSTRING_REGEX"sv, "SUCCEEDS"sv,
    "SUM"sv, "SUNDAY"sv, "SUSPEND"sv, "SYMMETRIC"sv, "SYSTEM"sv, "SYSTEM_TIME"sv, "SYSTEM_USER"sv,
    "TABLE"sv, "TABLES"sv, "TABLESAMPLE"sv, "THEN"sv, "THURSDAY"sv, "TIME"sv, "TIMESTAMP"sv,
    "TIMESTAMP_DIFF"sv, "TIMESTAMP_LTZ"sv, "TIMESTAMP_TRUNC"sv, "TIMEZONE_HOUR"sv,
    "TIMEZONE_MINUTE"sv, "TIME_DIFF"sv, "TIME_TRUNC"sv, "TINYINT"sv, "TO"sv, "TRAILING"sv,
    "TRANSLATE"sv, "TRANSLATE_REGEX"sv, "TRANSLATION"sv, "TREAT"sv, "TRIGGER"sv, "TRIM"sv,
    "TRIM_ARRAY"sv, "TRUE"sv, "TRUNCATE"sv, "TRY_CAST"sv, "TUESDAY"sv, "UESCAPE"sv, "UNION"sv,
    "UNIQUE"sv, "UNKNOWN"sv, "UNNEST"sv, "UNPIVOT"sv, "UPDATE"sv, "UPPER"sv, "UPSERT"sv, "USE"sv,
    "USER"sv, "USING"sv, "VALUE"sv, "VALUES"sv, "VALUE_OF"sv, "VARBINARY"sv, "VARCHAR"sv,
    "VARIANT"sv, "VARYING"sv, "VAR_POP"sv, "VAR_SAMP"sv, "VERSIONING"sv, "VIEWS"sv, "WATERMARK"sv,
    "WATERMARKS"sv, "WEDNESDAY"sv, "WEEKS"sv, "WHEN"sv, "WHENEVER"sv, "WHERE"sv, "WIDTH_BUCKET"sv,
    "WINDOW"sv, "WITH"sv, "WITHIN"sv, "WITHOUT"sv, "YEAR"sv,
};
// clang-format on

// Reserved there and without syntax of their own here: taken as names where only a name can stand.
// clang-format off
constexpr std::array kSoft{
    "CONDITION"sv, "CONNECT"sv, "CONNECTIONS"sv, "CONTAINS"sv, "CONVERT"sv, "CYCLE"sv,
    "DATETIME"sv, "DATETIME_TRUNC"sv, "DATE_TRUNC"sv, "DOT"sv, "EMPTY"sv, "EQUALS"sv, "FREE"sv,
    "FRIDAY"sv, "GET"sv, "GROUPS"sv, "HOLD"sv, "IDENTITY"sv, "IMPORT"sv, "INCLUDE"sv, "INITIAL"sv,
    "LANGUAGE"sv, "LARGE"sv, "MEMBER"sv, "METHOD"sv, "MODELS"sv, "MONDAY"sv, "MORE"sv, "NONE"sv,
    "NORMALIZE"sv, "OLD"sv, "ORDINAL"sv, "OUT"sv, "PARAMETER"sv, "PERCENT"sv, "PERIOD"sv,
    "PORTION"sv, "REF"sv, "RELEASE"sv, "RESULT"sv, "RETURN"sv, "SATURDAY"sv, "SCALA"sv, "SCOPE"sv,
    "SEARCH"sv, "SEEK"sv, "SPECIFIC"sv, "SQL"sv, "SUNDAY"sv, "SUSPEND"sv, "SYSTEM"sv,
    "THURSDAY"sv, "TIMESTAMP_DIFF"sv, "TIMESTAMP_TRUNC"sv, "TIME_DIFF"sv, "TIME_TRUNC"sv,
    "TREAT"sv, "TUESDAY"sv, "VERSIONING"sv, "WEDNESDAY"sv,
};
// clang-format on

// Reserved, and yet callable: ABS(x), LEFT(s, 2).
// clang-format off
constexpr std::array kCallable{
    "ABS"sv, "ARRAY_CONCAT_AGG"sv, "AVG"sv, "CARDINALITY"sv, "CEIL"sv, "CEILING"sv,
    "CHARACTER_LENGTH"sv, "CHAR_LENGTH"sv, "CLASSIFIER"sv, "COALESCE"sv, "COLLECT"sv,
    "CONTAINS_SUBSTR"sv, "CORR"sv, "COUNT"sv, "COVAR_POP"sv, "COVAR_SAMP"sv, "CUME_DIST"sv,
    "CURRENT_DATE"sv, "CURRENT_TIME"sv, "CURRENT_TIMESTAMP"sv, "CURRENT_USER"sv, "DATE"sv,
    "DAY"sv, "DENSE_RANK"sv, "ELEMENT"sv, "EVERY"sv, "EXP"sv, "EXTRACT"sv, "FIRST_VALUE"sv,
    "FLOOR"sv, "FUSION"sv, "GROUPING"sv, "GROUP_CONCAT"sv, "HASH"sv, "HOUR"sv, "ILIKE"sv,
    "INTERSECTION"sv, "JSON_ARRAY"sv, "JSON_ARRAYAGG"sv, "JSON_EXISTS"sv, "JSON_OBJECT"sv,
    "JSON_OBJECTAGG"sv, "JSON_QUERY"sv, "JSON_VALUE"sv, "LAG"sv, "LAST_VALUE"sv, "LEAD"sv,
    "LEFT"sv, "LN"sv, "LOCALTIME"sv, "LOCALTIMESTAMP"sv, "LOWER"sv, "MATCH_NUMBER"sv, "MAX"sv,
    "MIN"sv, "MINUTE"sv, "MOD"sv, "MONTH"sv, "NEXT"sv, "NTH_VALUE"sv, "NTILE"sv, "NULLIF"sv,
    "OCTET_LENGTH"sv, "OVERLAY"sv, "PERCENTILE_CONT"sv, "PERCENTILE_DISC"sv, "PERCENT_RANK"sv,
    "POSITION"sv, "POWER"sv, "PREV"sv, "RANK"sv, "REGR_AVGX"sv, "REGR_AVGY"sv, "REGR_COUNT"sv,
    "REGR_INTERCEPT"sv, "REGR_R2"sv, "REGR_SLOPE"sv, "REGR_SXX"sv, "REGR_SXY"sv, "REGR_SYY"sv,
    "RIGHT"sv, "RLIKE"sv, "ROW_NUMBER"sv, "SECOND"sv, "SESSION_USER"sv, "SOME"sv, "SQRT"sv,
    "STDDEV_POP"sv, "STDDEV_SAMP"sv, "STRING_AGG"sv, "SUBSTRING"sv, "SUM"sv, "SYSTEM_USER"sv,
    "TIME"sv, "TIMESTAMP"sv, "TRANSLATE"sv, "TRIM"sv, "TRIM_ARRAY"sv, "TRUNCATE"sv, "UPPER"sv,
    "USER"sv, "VALUE_OF"sv, "VAR_POP"sv, "VAR_SAMP"sv, "WIDTH_BUCKET"sv, "YEAR"sv,
};
// clang-format on

static_assert(std::ranges::is_sorted(kReserved));
static_assert(std::ranges::is_sorted(kSoft));
static_assert(std::ranges::is_sorted(kCallable));

}  // namespace

WordClass ClassifyWord(std::string_view upper) {
  if (!std::ranges::binary_search(kReserved, upper)) return WordClass::kFree;
  return std::ranges::binary_search(kSoft, upper) ? WordClass::kSoft : WordClass::kReserved;
}

bool IsCallableWord(std::string_view upper) {
  return ClassifyWord(upper) != WordClass::kReserved ||
         std::ranges::binary_search(kCallable, upper);
}

}  // namespace sluice::sql
