// AND, OR, NOT, IS [NOT] NULL/TRUE/FALSE in three-valued logic.
#include <arrow/api.h>

#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/row_subset.h"

namespace sluice::expr {

namespace {

using Bits = std::vector<uint64_t>;

size_t WordCount(int64_t rows) { return static_cast<size_t>((rows + 63) / 64); }

/// For each row, whether it is TRUE and whether it is FALSE; neither means unknown.
struct Truth {
  Bits is_true;
  Bits is_false;
};

/// Copies a bitmap of any offset to words; bits behind the end are zero.
void CopyBits(const uint8_t* bits, int64_t offset, int64_t rows, Bits* words) {
  words->assign(WordCount(rows), 0);
  if (rows == 0) return;
  arrow::internal::CopyBitmap(bits, offset, rows, reinterpret_cast<uint8_t*>(words->data()), 0);
}

void Fill(Bits* words, int64_t rows, bool value) {
  words->assign(WordCount(rows), value ? ~uint64_t{0} : 0);
  if (value && rows % 64 != 0) words->back() = (uint64_t{1} << (rows % 64)) - 1;
}

Truth TruthOf(const arrow::Datum& value, int64_t rows) {
  Truth truth;
  if (value.is_scalar()) {
    const auto& scalar = static_cast<const arrow::BooleanScalar&>(*value.scalar());
    Fill(&truth.is_true, rows, scalar.is_valid && scalar.value);
    Fill(&truth.is_false, rows, scalar.is_valid && !scalar.value);
    return truth;
  }
  const arrow::ArrayData& data = *value.array();
  CopyBits(data.buffers[1]->data(), data.offset, rows, &truth.is_true);
  Fill(&truth.is_false, rows, true);
  for (size_t i = 0; i < truth.is_true.size(); ++i) truth.is_false[i] &= ~truth.is_true[i];
  if (data.GetNullCount() != 0) {
    Bits valid;
    CopyBits(data.buffers[0]->data(), data.offset, rows, &valid);
    for (size_t i = 0; i < valid.size(); ++i) {
      truth.is_true[i] &= valid[i];
      truth.is_false[i] &= valid[i];
    }
  }
  return truth;
}

/// The rows whose bit is not set.
RowSelection RowsWithout(const Bits& decided, int64_t rows) {
  RowSelection selection{false, {}, 0};
  for (int64_t row = 0; row < rows; ++row) {
    if ((decided[static_cast<size_t>(row / 64)] >> (row % 64) & 1) == 0) {
      selection.indices.push_back(static_cast<int32_t>(row));
    }
  }
  selection.count = static_cast<int64_t>(selection.indices.size());
  selection.all = selection.count == rows;
  return selection;
}

/// The truth of `condition` for the selected rows; the others are unknown.
Result<Truth> SelectedTruth(const Expr& condition, const arrow::RecordBatch& rows,
                            const RowSelection& selection, const EvalContext& context) {
  SLUICE_ASSIGN_OR_RETURN(const arrow::Datum value,
                          EvaluateSelected(condition, rows, selection, context));
  const Truth part = TruthOf(value, selection.count);
  Truth truth;
  Fill(&truth.is_true, rows.num_rows(), false);
  Fill(&truth.is_false, rows.num_rows(), false);
  for (int64_t i = 0; i < selection.count; ++i) {
    const int64_t row = selection.all ? i : selection.indices[static_cast<size_t>(i)];
    const auto word = static_cast<size_t>(row / 64);
    truth.is_true[word] |= (part.is_true[static_cast<size_t>(i / 64)] >> (i % 64) & 1)
                           << (row % 64);
    truth.is_false[word] |= (part.is_false[static_cast<size_t>(i / 64)] >> (i % 64) & 1)
                            << (row % 64);
  }
  return truth;
}

bool AllSet(const Bits& words, int64_t rows) {
  Bits full;
  Fill(&full, rows, true);
  return words == full;
}

/// AND when `is_and`, else OR. Conditions are evaluated for all rows, which is fastest; where that
/// fails, again for only the rows that those before have not decided, so that `b <> 0 AND a / b >
/// 1` works as written.
template <bool is_and>
Result<arrow::Datum> LogicKernel(std::span<const ExprPtr> arguments, const SqlType& /*type*/,
                                 const arrow::RecordBatch& rows, const EvalContext& context) {
  const int64_t count = rows.num_rows();
  Truth result;
  Fill(&result.is_true, count, is_and);
  Fill(&result.is_false, count, !is_and);
  for (const ExprPtr& argument : arguments) {
    Bits& decided = is_and ? result.is_false : result.is_true;
    if (AllSet(decided, count)) break;
    Truth truth;
    const Result<arrow::Datum> value = argument->Evaluate(rows, context);
    if (value.ok()) {
      truth = TruthOf(*value, count);
    } else {
      if (value.status().code() != StatusCode::kDataError) return value.status();
      SLUICE_ASSIGN_OR_RETURN(truth,
                              SelectedTruth(*argument, rows, RowsWithout(decided, count), context));
    }
    for (size_t i = 0; i < result.is_true.size(); ++i) {
      if (is_and) {
        result.is_true[i] &= truth.is_true[i];
        result.is_false[i] |= truth.is_false[i];
      } else {
        result.is_true[i] |= truth.is_true[i];
        result.is_false[i] &= truth.is_false[i];
      }
    }
  }
  const int64_t bytes = arrow::bit_util::BytesForBits(count);
  auto values = AllocateBytes(bytes, context.pool);
  std::memcpy(values->mutable_data(), result.is_true.data(), static_cast<size_t>(bytes));
  NullMask nulls(count, context.pool);
  Bits known = result.is_true;
  for (size_t i = 0; i < known.size(); ++i) known[i] |= result.is_false[i];
  if (!AllSet(known, count)) {
    nulls.Materialize();
    std::memcpy(nulls.bits(), known.data(), static_cast<size_t>(bytes));
  }
  return arrow::Datum(MakeFixedArray(arrow::boolean(), count, nulls, std::move(values)));
}

Result<ArrayPtr> NotKernel(const KernelCall& call) {
  return MapValues<bool>(
      call, [](bool value) { return !value; }, BooleanOperand(call.arguments[0]));
}

/// A test that is never NULL: `fn` gets whether the row is NULL and, if not, is asked for its
/// value.
template <typename Fn>
Result<ArrayPtr> Test(const KernelCall& call, Fn fn) {
  const int64_t rows = call.row_count;
  auto bits = AllocateBytes(arrow::bit_util::BytesForBits(rows), call.context.pool);
  std::memset(bits->mutable_data(), 0, static_cast<size_t>(bits->size()));
  for (int64_t row = 0; row < rows; ++row) {
    if (fn(row)) arrow::bit_util::SetBit(bits->mutable_data(), row);
  }
  return MakeFixedArray(arrow::boolean(), rows, NullMask(rows, call.context.pool), std::move(bits));
}

template <bool wanted>
Result<ArrayPtr> NullTest(const KernelCall& call) {
  const Operand operand(call.arguments[0]);
  return Test(call, [&](int64_t row) { return operand.IsNull(row) == wanted; });
}

template <bool value, bool negated>
Result<ArrayPtr> TruthTest(const KernelCall& call) {
  const BooleanOperand operand(call.arguments[0]);
  return Test(call, [&](int64_t row) {
    return (!operand.IsNull(row) && operand[row] == value) != negated;
  });
}

ScalarFunction Operator(std::string_view name, Kernel kernel, LazyKernel lazy = nullptr) {
  return {
      .name = name, .group = "logic", .kernel = kernel, .lazy_kernel = lazy, .is_operator = true};
}

}  // namespace

std::span<const ScalarFunction> LogicOperators() {
  static const ScalarFunction kFunctions[] = {
      Operator("AND", nullptr, &LogicKernel<true>),
      Operator("OR", nullptr, &LogicKernel<false>),
      Operator("NOT", &NotKernel),
      Operator("IS NULL", &NullTest<true>),
      Operator("IS NOT NULL", &NullTest<false>),
      Operator("IS TRUE", &TruthTest<true, false>),
      Operator("IS NOT TRUE", &TruthTest<true, true>),
      Operator("IS FALSE", &TruthTest<false, false>),
      Operator("IS NOT FALSE", &TruthTest<false, true>),
  };
  return kFunctions;
}

}  // namespace sluice::expr
