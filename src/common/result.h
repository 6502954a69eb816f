// Result<T>: a value or the Status that says why there is none.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "common/check.h"
#include "common/status.h"

namespace sluice {

template <typename T>
class [[nodiscard]] Result {
 public:
  using ValueType = T;

  Result(Status status)
      : state_(std::in_place_index<0>, std::move(status)) {  // NOLINT: implicit by design.
    SLUICE_CHECK(!std::get<0>(state_).ok(), "a Result was made from an OK status");
  }
  Result(T value)
      : state_(std::in_place_index<1>, std::move(value)) {}  // NOLINT: implicit by design.
  /// Converts from anything that T converts from (derived pointers, const qualification).
  template <typename U>
  requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::decay_t<U>, T> &&
           !std::is_same_v<std::decay_t<U>, Status> && !std::is_same_v<std::decay_t<U>, Result<T>>)
      Result(U&& value)
      : state_(std::in_place_index<1>, std::forward<U>(value)) {}  // NOLINT: implicit by design.

  bool ok() const { return state_.index() == 1; }
  Status status() const { return ok() ? Status() : std::get<0>(state_); }

  T& value() & { return Get(); }
  const T& value() const& { return const_cast<Result*>(this)->Get(); }
  T&& value() && { return std::move(Get()); }
  T& operator*() & { return Get(); }
  const T& operator*() const& { return const_cast<Result*>(this)->Get(); }
  T&& operator*() && { return std::move(Get()); }
  T* operator->() { return &Get(); }
  const T* operator->() const { return &const_cast<Result*>(this)->Get(); }

 private:
  T& Get() {
    SLUICE_CHECK(ok(), "value of a failed Result: " + std::get<0>(state_).ToString());
    return std::get<1>(state_);
  }
  std::variant<Status, T> state_;
};

}  // namespace sluice

#define SLUICE_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!result.ok()) [[unlikely]]                                       \
    return result.status();                                            \
  declaration = std::move(result).value()

/// SLUICE_ASSIGN_OR_RETURN(auto x, MakeX()); returns the Status on failure.
#define SLUICE_ASSIGN_OR_RETURN(declaration, ...) \
  SLUICE_ASSIGN_OR_RETURN_INNER(SLUICE_CONCAT(sluice_result_, __LINE__), declaration, (__VA_ARGS__))
