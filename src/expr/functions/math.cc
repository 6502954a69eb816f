// Functions of real numbers, and random ones.
#include <cmath>
#include <numbers>

#include "common/random.h"
#include "expr/functions/lists.h"
#include "expr/kernel_support.h"

namespace sluice::expr {

namespace {

template <double (*function)(double)>
Result<ArrayPtr> UnaryKernel(const KernelCall& call) {
  return MapValues<double>(
      call, [](double x) { return function(x); }, NumberOperand<double>(call.arguments[0]));
}

template <double (*function)(double, double)>
Result<ArrayPtr> BinaryKernel(const KernelCall& call) {
  return MapValues<double>(
      call, [](double x, double y) { return function(x, y); },
      NumberOperand<double>(call.arguments[0]), NumberOperand<double>(call.arguments[1]));
}

double Cot(double x) { return 1.0 / std::tan(x); }
double Degrees(double x) { return x * (180.0 / std::numbers::pi); }
double Radians(double x) { return x * (std::numbers::pi / 180.0); }
double Log(double base, double x) { return std::log(x) / std::log(base); }
double Ln(double x) { return std::log(x); }
double Log10(double x) { return std::log10(x); }
double Log2(double x) { return std::log2(x); }
double Exp(double x) { return std::exp(x); }
double Sin(double x) { return std::sin(x); }
double Cos(double x) { return std::cos(x); }
double Tan(double x) { return std::tan(x); }
double Asin(double x) { return std::asin(x); }
double Acos(double x) { return std::acos(x); }
double Atan(double x) { return std::atan(x); }
double Sinh(double x) { return std::sinh(x); }
double Cosh(double x) { return std::cosh(x); }
double Tanh(double x) { return std::tanh(x); }
double Sqrt(double x) { return std::sqrt(x); }
double Atan2(double y, double x) { return std::atan2(y, x); }

/// Java's pow: 1 to NaN is NaN, and ±1 to an infinite power too.
double Power(double x, double y) {
  if (std::isnan(y) || (std::fabs(x) == 1.0 && std::isinf(y))) return std::nan("");
  return std::pow(x, y);
}

Result<ArrayPtr> LogKernel(const KernelCall& call) {
  return call.arguments.size() == 1 ? UnaryKernel<&Ln>(call) : BinaryKernel<&Log>(call);
}

template <int which>
Result<ArrayPtr> ConstantKernel(const KernelCall& call) {
  const double value = which == 0 ? std::numbers::pi : std::numbers::e;
  return MapValues<double>(call, [value] { return value; });
}

/// One source of randomness a thread, seeded by the operating system: RAND() without a seed
/// promises nothing that could be replayed.
Random& ThreadRandom() {
  thread_local Random random(Random::SystemSeed());
  return random;
}

Result<ArrayPtr> RandKernel(const KernelCall& call) {
  if (call.arguments.empty()) {
    return MapValues<double>(call, [] { return ThreadRandom().NextDouble(); });
  }
  // With a seed the sequence begins anew for each batch.
  const NumberOperand<int64_t> seed(call.arguments[0]);
  Random random(seed.IsNull(0) ? 0 : static_cast<uint64_t>(seed[0]));
  return MapValues<double>(
      call, [&random](int64_t) { return random.NextDouble(); }, seed);
}

Result<ArrayPtr> RandIntegerKernel(const KernelCall& call) {
  const NumberOperand<int64_t> bound(call.arguments.back());
  Random seeded(0);
  Random* random = &ThreadRandom();
  if (call.arguments.size() == 2) {
    const NumberOperand<int64_t> seed(call.arguments[0]);
    seeded = Random(seed.IsNull(0) ? 0 : static_cast<uint64_t>(seed[0]));
    random = &seeded;
  }
  return MapValues<int32_t>(
      call,
      [random](int64_t limit) -> Result<int32_t> {
        if (limit <= 0) return Status::DataError("RAND_INTEGER needs a bound above 0");
        return static_cast<int32_t>(random->Below(static_cast<uint64_t>(limit)));
      },
      bound);
}

Result<ArrayPtr> UuidKernel(const KernelCall& call) {
  return MapText(call, call.row_count * 36,
                 [](TextBuilder& out) { out.Append(ThreadRandom().Uuid()); });
}

ScalarFunction Real(std::string_view name, Kernel kernel, FunctionDoc doc) {
  return {.name = name,
          .group = "numeric",
          .signatures = {{{Accept::kDouble}, SqlType::Double()}},
          .kernel = kernel,
          .doc = doc};
}

ScalarFunction Real2(std::string_view name, Kernel kernel, FunctionDoc doc) {
  return {.name = name,
          .group = "numeric",
          .signatures = {{{Accept::kDouble, Accept::kDouble}, SqlType::Double()}},
          .kernel = kernel,
          .doc = doc};
}

}  // namespace

std::span<const ScalarFunction> MathFunctions() {
  constexpr std::string_view kGroup = "numeric";
  using A = Accept;
  const SqlType real = SqlType::Double();
  static const ScalarFunction kFunctions[] = {
      Real2("POWER", &BinaryKernel<&Power>,
            {"POWER(x, y)", "x to the power of y.", "POWER(2, 10) => 1024.0"}),
      Real("SQRT", &UnaryKernel<&Sqrt>,
           {"SQRT(x)", "Square root.", "SQRT(2) => 1.4142135623730951"}),
      Real("EXP", &UnaryKernel<&Exp>,
           {"EXP(x)", "e to the power of x.", "EXP(1) => 2.718281828459045"}),
      Real("LN", &UnaryKernel<&Ln>, {"LN(x)", "Natural logarithm.", "LN(10) => 2.302585092994046"}),
      Real("LOG10", &UnaryKernel<&Log10>,
           {"LOG10(x)", "Logarithm to base 10.", "LOG10(1000) => 3.0"}),
      Real("LOG2", &UnaryKernel<&Log2>, {"LOG2(x)", "Logarithm to base 2.", "LOG2(8) => 3.0"}),
      {.name = "LOG",
       .group = kGroup,
       .signatures = {{{A::kDouble}, real}, {{A::kDouble, A::kDouble}, real}},
       .kernel = &LogKernel,
       .doc = {"LOG([base, ]x)", "Logarithm, by default the natural one.", "LOG(2, 8) => 3.0"}},
      Real("SIN", &UnaryKernel<&Sin>, {"SIN(x)", "Sine.", "SIN(1) => 0.8414709848078965"}),
      Real("COS", &UnaryKernel<&Cos>, {"COS(x)", "Cosine.", "COS(0) => 1.0"}),
      Real("TAN", &UnaryKernel<&Tan>, {"TAN(x)", "Tangent.", "TAN(0) => 0.0"}),
      Real("COT", &UnaryKernel<&Cot>, {"COT(x)", "Cotangent.", "COT(1) > 0.64 => TRUE"}),
      Real("ASIN", &UnaryKernel<&Asin>, {"ASIN(x)", "Arc sine.", "ASIN(0) => 0.0"}),
      Real("ACOS", &UnaryKernel<&Acos>, {"ACOS(x)", "Arc cosine.", "ACOS(1) => 0.0"}),
      Real("ATAN", &UnaryKernel<&Atan>, {"ATAN(x)", "Arc tangent.", "ATAN(0) => 0.0"}),
      Real2("ATAN2", &BinaryKernel<&Atan2>,
            {"ATAN2(y, x)", "Angle of the point (x, y).", "ATAN2(0, 1) => 0.0"}),
      Real("SINH", &UnaryKernel<&Sinh>, {"SINH(x)", "Hyperbolic sine.", "SINH(0) => 0.0"}),
      Real("COSH", &UnaryKernel<&Cosh>, {"COSH(x)", "Hyperbolic cosine.", "COSH(0) => 1.0"}),
      Real("TANH", &UnaryKernel<&Tanh>, {"TANH(x)", "Hyperbolic tangent.", "TANH(0) => 0.0"}),
      Real("DEGREES", &UnaryKernel<&Degrees>,
           {"DEGREES(x)", "Degrees of an angle in radians.", "DEGREES(PI()) => 180.0"}),
      Real("RADIANS", &UnaryKernel<&Radians>,
           {"RADIANS(x)", "Radians of an angle in degrees.", "RADIANS(0) => 0.0"}),
      {.name = "PI",
       .group = kGroup,
       .signatures = {{{}, real}},
       .nulls = Nulls::kNever,
       .kernel = &ConstantKernel<0>,
       .doc = {"PI()", "The number pi.", "PI() => 3.141592653589793"}},
      {.name = "E",
       .group = kGroup,
       .signatures = {{{}, real}},
       .nulls = Nulls::kNever,
       .kernel = &ConstantKernel<1>,
       .doc = {"E()", "Euler's number.", "E() => 2.718281828459045"}},
      {.name = "RAND",
       .group = kGroup,
       .signatures = {{{}, real}, {{A::kInteger}, real}},
       .kernel = &RandKernel,
       .stability = Stability::kPerRow,
       .doc = {"RAND([seed])", "A random number from 0 up to but not 1.", "RAND() < 1 => TRUE"}},
      {.name = "RAND_INTEGER",
       .group = kGroup,
       .signatures = {{{A::kInteger}, SqlType::Int()},
                      {{A::kInteger, A::kInteger}, SqlType::Int()}},
       .kernel = &RandIntegerKernel,
       .stability = Stability::kPerRow,
       .doc = {"RAND_INTEGER([seed, ]bound)", "A random integer from 0 up to but not the bound.",
               "RAND_INTEGER(10) < 10 => TRUE"}},
      {.name = "UUID",
       .group = "string",
       .signatures = {{{}, SqlType::Char(36)}},
       .nulls = Nulls::kNever,
       .kernel = &UuidKernel,
       .stability = Stability::kPerRow,
       .doc = {"UUID()", "A random UUID (version 4).", "CHAR_LENGTH(UUID()) => 36"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
