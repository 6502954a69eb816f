// Every function's documented example gives what it says, and the registry is in order.
#include <set>

#include <gtest/gtest.h>

#include "common/text.h"
#include "expr/mini_sql.h"
#include "expr/registry.h"

namespace sluice::expr::testing {
namespace {

TEST(FunctionDocs, ExamplesHold) {
  int examples = 0;
  for (const ScalarFunction* function : AllFunctions()) {
    const std::string_view example = function->doc.example;
    if (example.empty()) continue;
    SCOPED_TRACE(std::string(example));
    const size_t arrow = example.find(" => ");
    ASSERT_NE(arrow, std::string_view::npos);
    EXPECT_EQ(Value(example.substr(0, arrow)), Value(example.substr(arrow + 4)));
    ++examples;
  }
  EXPECT_GT(examples, 150);
}

TEST(FunctionDocs, EveryFunctionIsDocumentedOnce) {
  std::set<std::string_view> names;
  for (const ScalarFunction* function : AllFunctions()) {
    SCOPED_TRACE(std::string(function->name));
    EXPECT_TRUE(names.insert(function->name).second) << "registered twice";
    EXPECT_EQ(function->name, ToUpperAscii(function->name));
    EXPECT_TRUE(function->kernel != nullptr || function->lazy_kernel != nullptr);
    EXPECT_FALSE(function->group.empty());
    if (function->is_operator) continue;
    EXPECT_FALSE(function->doc.usage.empty());
    EXPECT_FALSE(function->doc.summary.empty());
    EXPECT_EQ(FindFunction(ToLowerAscii(function->name)), function);
  }
}

TEST(Registry, UnknownNamesAreHelpedOn) {
  const SqlType types[] = {SqlType::Int()};
  EXPECT_EQ(UnknownFunction("foo_bar_baz", types).message(),
            "No match found for function signature foo_bar_baz(<NUMERIC>).");
  EXPECT_NE(UnknownFunction("length", types).message().find("Use CHAR_LENGTH(s)"),
            std::string::npos);
  EXPECT_NE(UnknownFunction("SUBSTRNG", types).message().find("SUBSTRING"), std::string::npos);
  EXPECT_EQ(Value("NVL(1, 2)"),
            "error: No match found for function signature NVL(<NUMERIC>, <NUMERIC>). Use "
            "COALESCE(a, b) or "
            "IFNULL(a, b).");
}

}  // namespace
}  // namespace sluice::expr::testing
