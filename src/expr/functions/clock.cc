// Functions of the current time.
#include <arrow/api.h>

#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/signature.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::expr {

namespace {

int64_t QueryMillis(const EvalContext& context) {
  return context.fixed_now_ms ? *context.fixed_now_ms : context.clock->NowMillis();
}

template <typename T>
Result<ArrayPtr> Repeat(const KernelCall& call, T value) {
  auto buffer = AllocateBytes(call.row_count * static_cast<int64_t>(sizeof(T)), call.context.pool);
  std::fill_n(reinterpret_cast<T*>(buffer->mutable_data()), call.row_count, value);
  return MakeFixedArray(call.result_type.ToArrow(), call.row_count,
                        NullMask(call.row_count, call.context.pool), std::move(buffer));
}

Result<ArrayPtr> CurrentTimestampKernel(const KernelCall& call) {
  return Repeat<int64_t>(call, QueryMillis(call.context));
}

Result<ArrayPtr> RowTimestampKernel(const KernelCall& call) {
  return Repeat<int64_t>(call, call.context.clock->NowMillis());
}

Result<ArrayPtr> LocalTimestampKernel(const KernelCall& call) {
  return Repeat<int64_t>(call,
                         call.context.session_zone.InstantToLocalMillis(QueryMillis(call.context)));
}

Result<ArrayPtr> CurrentDateKernel(const KernelCall& call) {
  const int64_t local = call.context.session_zone.InstantToLocalMillis(QueryMillis(call.context));
  return Repeat<int32_t>(call, static_cast<int32_t>(FloorDiv(local, kMillisPerDay)));
}

Result<ArrayPtr> CurrentTimeKernel(const KernelCall& call) {
  const int64_t local = call.context.session_zone.InstantToLocalMillis(QueryMillis(call.context));
  return Repeat<int32_t>(call, static_cast<int32_t>(FloorMod(local, kMillisPerDay) / 1000 * 1000));
}

Result<ArrayPtr> UnixNowKernel(const KernelCall& call) {
  return Repeat<int64_t>(call, FloorDiv(QueryMillis(call.context), 1000));
}

Result<Signature> ResolveWatermark(std::span<const Argument> arguments) {
  const SqlType& type = arguments[0].type;
  if (!type.is_timestamp()) {
    return Status::Validation(
        "The argument of CURRENT_WATERMARK() must be a rowtime attribute, but was '" +
        type.ToString() + "'.");
  }
  return Signature{{type}, type};
}

Result<ArrayPtr> WatermarkKernel(const KernelCall& call) {
  if (!call.context.watermark_ms) return NullResult(call);
  const int64_t factor = TimestampUnitsPerSecond(call.result_type.precision()) / 1000;
  return Repeat<int64_t>(call, *call.context.watermark_ms * factor);
}

ScalarFunction Clock(std::string_view name, SqlType type, Kernel kernel, FunctionDoc doc,
                     Stability stability = Stability::kPerQuery) {
  return {.name = name,
          .group = "temporal",
          .signatures = {{{}, std::move(type)}},
          .nulls = Nulls::kNever,
          .kernel = kernel,
          .stability = stability,
          .doc = doc};
}

}  // namespace

std::span<const ScalarFunction> ClockFunctions() {
  const SqlType instant = SqlType::TimestampLtz(3);
  static const ScalarFunction kFunctions[] = {
      Clock("CURRENT_TIMESTAMP", instant, &CurrentTimestampKernel,
            {"CURRENT_TIMESTAMP", "The current instant; fixed for the query in batch mode.", ""}),
      Clock("NOW", instant, &CurrentTimestampKernel,
            {"NOW()", "The same as CURRENT_TIMESTAMP.", ""}),
      Clock("CURRENT_ROW_TIMESTAMP", instant, &RowTimestampKernel,
            {"CURRENT_ROW_TIMESTAMP()",
             "The current instant, taken anew for the rows in both modes.", ""},
            Stability::kPerRow),
      Clock("PROCTIME", instant, &RowTimestampKernel,
            {"PROCTIME()", "The processing time attribute.", ""}, Stability::kPerRow),
      Clock("LOCALTIMESTAMP", SqlType::Timestamp(3), &LocalTimestampKernel,
            {"LOCALTIMESTAMP", "The current wall time in the session's zone.", ""}),
      Clock("CURRENT_DATE", SqlType::Date(), &CurrentDateKernel,
            {"CURRENT_DATE", "The current date in the session's zone.", ""}),
      Clock("CURRENT_TIME", SqlType::Time(0), &CurrentTimeKernel,
            {"CURRENT_TIME", "The current time of day in the session's zone.", ""}),
      Clock("LOCALTIME", SqlType::Time(0), &CurrentTimeKernel,
            {"LOCALTIME", "The same as CURRENT_TIME.", ""}),
      {.name = "UNIX_TIMESTAMP_NOW",
       .group = "temporal",
       .signatures = {{{}, SqlType::Bigint()}},
       .nulls = Nulls::kNever,
       .kernel = &UnixNowKernel,
       .stability = Stability::kPerQuery,
       .is_operator = true},
      {.name = "CURRENT_WATERMARK",
       .group = "temporal",
       .resolve = &ResolveWatermark,
       .min_arguments = 1,
       .max_arguments = 1,
       .nulls = Nulls::kAlways,
       .kernel = &WatermarkKernel,
       .stability = Stability::kPerQuery,
       .doc = {"CURRENT_WATERMARK(rowtime)", "The watermark here, NULL before the first one.", ""}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
