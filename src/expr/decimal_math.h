// Arithmetic of DECIMAL values as 128-bit integers with a scale. Results that do not fit are
// nullopt, which SQL shows as NULL.
#pragma once

#include <optional>

namespace sluice::expr {

struct DecimalShape {
  int precision;
  int scale;
};

std::optional<__int128> DecimalAdd(__int128 a, int a_scale, __int128 b, int b_scale,
                                   DecimalShape result);
std::optional<__int128> DecimalMultiply(__int128 a, int a_scale, __int128 b, int b_scale,
                                        DecimalShape result);
/// `b` is not zero. HALF_UP.
std::optional<__int128> DecimalDivide(__int128 a, int a_scale, __int128 b, int b_scale,
                                      DecimalShape result);
/// `b` is not zero. The sign is that of `a`.
std::optional<__int128> DecimalModulo(__int128 a, int a_scale, __int128 b, int b_scale,
                                      DecimalShape result);

}  // namespace sluice::expr
