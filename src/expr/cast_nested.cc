// ARRAY, MAP, MULTISET and ROW cast value by value.
#include <arrow/api.h>

#include "expr/cast_internal.h"
#include "types/map_keys.h"

namespace sluice::expr::internal {

namespace {

using DataPtr = std::shared_ptr<arrow::ArrayData>;

/// Offsets of a sliced list or map, moved so that they begin at 0, and the range of child values
/// they cover.
struct Extent {
  std::shared_ptr<arrow::Buffer> offsets;
  int64_t begin = 0;
  int64_t length = 0;
};

Extent RebasedOffsets(const arrow::ArrayData& data, arrow::MemoryPool* pool) {
  const int32_t* offsets = data.GetValues<int32_t>(1);
  Extent extent;
  const int64_t count = data.length;
  auto buffer = AllocateBytes((count + 1) * 4, pool);
  auto* moved = reinterpret_cast<int32_t*>(buffer->mutable_data());
  extent.begin = count == 0 ? 0 : offsets[0];
  moved[0] = 0;
  for (int64_t i = 1; i <= count; ++i) {
    moved[i] = offsets[i] - static_cast<int32_t>(extent.begin);
  }
  extent.length = moved[count];
  extent.offsets = std::move(buffer);
  return extent;
}

std::shared_ptr<arrow::Buffer> CopiedValidity(const arrow::ArrayData& data,
                                              arrow::MemoryPool* pool) {
  if (data.GetNullCount() == 0) return nullptr;
  auto buffer = AllocateBytes(arrow::bit_util::BytesForBits(data.length), pool);
  arrow::internal::CopyBitmap(data.buffers[0]->data(), data.offset, data.length,
                              buffer->mutable_data(), 0);
  return buffer;
}

Result<DataPtr> CastChild(const ArrayPtr& child, const SqlType& from, const SqlType& to,
                          const CastJob& job) {
  SLUICE_ASSIGN_OR_RETURN(ArrayPtr cast, CastArray(child, from, to, job.options, job.context));
  return cast->data();
}

Result<ArrayPtr> CastList(const CastJob& job) {
  const arrow::ArrayData& data = *job.values->data();
  Extent extent = RebasedOffsets(data, job.context.pool);
  const ArrayPtr child = arrow::MakeArray(data.child_data[0])->Slice(extent.begin, extent.length);
  SLUICE_ASSIGN_OR_RETURN(DataPtr cast,
                          CastChild(child, job.from.element(), job.to.element(), job));
  return arrow::MakeArray(arrow::ArrayData::Make(
      job.to.ToArrow(), data.length, {CopiedValidity(data, job.context.pool), extent.offsets},
      {std::move(cast)}, data.GetNullCount()));
}

Result<ArrayPtr> CastMap(const CastJob& job) {
  const arrow::ArrayData& data = *job.values->data();
  Extent extent = RebasedOffsets(data, job.context.pool);
  const auto entries = std::static_pointer_cast<arrow::StructArray>(
      arrow::MakeArray(data.child_data[0])->Slice(extent.begin, extent.length));
  SLUICE_ASSIGN_OR_RETURN(
      ArrayPtr cast_keys,
      CastArray(FromMapKeys(job.from.key(), entries->field(0)), job.from.key().WithNullable(true),
                job.to.key().WithNullable(true), job.options, job.context));
  SLUICE_ASSIGN_OR_RETURN(const ArrayPtr keys,
                          ToMapKeys(job.to.key(), std::move(cast_keys), job.context.pool));
  SLUICE_ASSIGN_OR_RETURN(DataPtr items,
                          CastChild(entries->field(1), job.from.value(), job.to.value(), job));
  const std::shared_ptr<arrow::DataType> type = job.to.ToArrow();
  auto pairs = arrow::ArrayData::Make(type->field(0)->type(), extent.length, {nullptr},
                                      {keys->data(), std::move(items)}, 0);
  return arrow::MakeArray(arrow::ArrayData::Make(
      type, data.length, {CopiedValidity(data, job.context.pool), extent.offsets},
      {std::move(pairs)}, data.GetNullCount()));
}

Result<ArrayPtr> CastRow(const CastJob& job) {
  const arrow::ArrayData& data = *job.values->data();
  const auto& rows = static_cast<const arrow::StructArray&>(*job.values);
  std::vector<DataPtr> children;
  for (size_t i = 0; i < job.from.fields().size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(DataPtr child,
                            CastChild(rows.field(static_cast<int>(i)), job.from.fields()[i].type,
                                      job.to.fields()[i].type, job));
    children.push_back(std::move(child));
  }
  return arrow::MakeArray(arrow::ArrayData::Make(job.to.ToArrow(), data.length,
                                                 {CopiedValidity(data, job.context.pool)},
                                                 std::move(children), data.GetNullCount()));
}

Result<ArrayPtr> CastStrictly(const CastJob& job) {
  switch (job.from.kind()) {
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      return CastMap(job);
    case TypeKind::kRow:
      return CastRow(job);
    default:
      return CastList(job);
  }
}

}  // namespace

Result<ArrayPtr> CastNested(const CastJob& job) {
  const CastOptions strict{.try_cast = false};
  const CastJob strict_job{job.values, job.from, job.to, strict, job.context};
  Result<ArrayPtr> all = CastStrictly(strict_job);
  if (all.ok() || !job.options.try_cast || all.status().code() != StatusCode::kDataError) {
    return all;
  }
  // One bad element makes its whole value NULL: look for the rows it is in.
  arrow::ArrayVector rows;
  for (int64_t i = 0; i < job.values->length(); ++i) {
    const ArrayPtr one = job.values->Slice(i, 1);
    Result<ArrayPtr> cast = CastStrictly({one, job.from, job.to, strict, job.context});
    if (cast.ok()) {
      rows.push_back(*std::move(cast));
    } else {
      SLUICE_ASSIGN_ARROW(ArrayPtr null,
                          arrow::MakeArrayOfNull(job.to.ToArrow(), 1, job.context.pool));
      rows.push_back(std::move(null));
    }
  }
  return FromArrow(arrow::Concatenate(rows, job.context.pool));
}

}  // namespace sluice::expr::internal
