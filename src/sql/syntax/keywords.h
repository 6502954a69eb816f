// Which words need back-ticks as names.
#pragma once

#include <string_view>

namespace sluice::sql {

enum class WordClass {
  kFree,
  kSoft,  // Reserved in Flink 2.3, taken as a name here (a script that uses it is not portable).
  kReserved,  // A name only in back-ticks.
};
/// `upper`: the word in upper case.
WordClass ClassifyWord(std::string_view upper);

/// True when `upper` followed by '(' is an ordinary call.
bool IsCallableWord(std::string_view upper);

}  // namespace sluice::sql
