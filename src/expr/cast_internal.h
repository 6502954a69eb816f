// One cast of one array: what the kernels in cast_*.cc share.
#pragma once

#include "expr/cast.h"
#include "expr/kernel_support.h"

namespace sluice::expr::internal {

struct CastJob {
  const ArrayPtr& values;
  const SqlType& from;
  const SqlType& to;
  const CastOptions& options;
  const EvalContext& context;

  KernelArgument argument() const { return {values, false, &from}; }
  KernelCall call() const { return {context, {}, to, values->length()}; }
};

Result<ArrayPtr> CastNumberToNumber(const CastJob& job);  // Also from and to BOOLEAN and DECIMAL.
Result<ArrayPtr> CastToText(const CastJob& job);          // To CHAR and VARCHAR from anything.
Result<ArrayPtr> CastFromText(const CastJob& job);        // To anything but CHAR and VARCHAR.
Result<ArrayPtr> CastBinaryToBinary(const CastJob& job);
Result<ArrayPtr> CastDatetime(const CastJob& job);
Result<ArrayPtr> CastNested(const CastJob& job);

/// A DECIMAL as 128-bit integer of another scale, HALF_UP; nullopt when it does not fit in
/// `precision` digits.
std::optional<__int128> Rescale(__int128 value, int from_scale, int to_scale, int precision);
/// 10^exponent, exponent 0 to 38.
__int128 PowerOfTen(int exponent);
double DecimalToDouble(__int128 value, int scale);

}  // namespace sluice::expr::internal
