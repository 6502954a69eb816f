// Assertions about our own mistakes; user input, files, brokers and clocks never trip one.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Prints file, line, condition and message to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view message);

}  // namespace sluice

/// On in every build. `message` is evaluated on failure only.
#define SLUICE_CHECK(condition, message)                                \
  do {                                                                  \
    if (!(condition)) [[unlikely]]                                      \
      ::sluice::CheckFailed(__FILE__, __LINE__, #condition, (message)); \
  } while (false)

#ifdef NDEBUG
#define SLUICE_DCHECK(condition, message) \
  do {                                    \
  } while (false)
#else
#define SLUICE_DCHECK(condition, message) SLUICE_CHECK(condition, message)
#endif
