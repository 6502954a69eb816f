#include "sql/binder/like_clause.h"

#include "common/nearest_name.h"

namespace sluice::sql {
namespace {

LikeMerge* FeatureOf(LikeFeature feature, LikeMerges* merges) {
  switch (feature) {
    case LikeFeature::kConstraints:
      return &merges->constraints;
    case LikeFeature::kGenerated:
      return &merges->generated;
    case LikeFeature::kMetadata:
      return &merges->metadata;
    case LikeFeature::kOptions:
      return &merges->options;
    case LikeFeature::kPartitions:
      return &merges->partitions;
    case LikeFeature::kWatermarks:
      return &merges->watermarks;
    case LikeFeature::kDistribution:  // No table has one.
    case LikeFeature::kAll:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

LikeMerges MergesOf(const LikeClause& like) {
  LikeMerges merges;
  // ALL sets the ground whatever its place in the list; the others refine it.
  for (const LikeOption& option : like.options) {
    if (option.feature != LikeFeature::kAll) continue;
    merges = {option.merge, option.merge, option.merge, option.merge, option.merge, option.merge};
  }
  for (const LikeOption& option : like.options) {
    if (LikeMerge* merge = FeatureOf(option.feature, &merges)) *merge = option.merge;
  }
  return merges;
}

Result<std::shared_ptr<const catalog::CatalogTable>> FindLikeSource(
    const LikeClause& like, const catalog::CatalogManager& catalogs) {
  const SourcePosition at = like.source.range.begin;
  SLUICE_ASSIGN_OR_RETURN(const catalog::ObjectPath path, catalogs.Qualify(like.source.Names()));
  SLUICE_ASSIGN_OR_RETURN(const std::optional<catalog::CatalogManager::Found> found,
                          catalogs.Find(like.source.Names()));
  if (found && found->table->kind == catalog::TableKind::kTable) return found->table;
  const std::string place =
      ", at line " + std::to_string(at.line) + ", column " + std::to_string(at.column);
  const std::string source = "Source table '" + path.ToQuotedString() + "' of the LIKE clause ";
  if (found) return Status::Validation(source + "can not be a VIEW" + place, at);
  std::string hint;
  if (const auto known = catalogs.ListTables({path.catalog, path.database}, false); known.ok()) {
    hint = DidYouMean(path.object, *known);
  }
  return Status::Validation(source + "not found in the catalog" + place + hint, at);
}

catalog::CatalogTable StartFromLike(const catalog::CatalogTable& source, const LikeMerges& merges) {
  catalog::CatalogTable table;
  for (const catalog::TableColumn& column : source.columns) {
    if (column.kind == catalog::ColumnKind::kComputed && merges.generated == LikeMerge::kExcluding)
      continue;
    if (column.kind == catalog::ColumnKind::kMetadata && merges.metadata == LikeMerge::kExcluding)
      continue;
    table.columns.push_back(column);
  }
  if (merges.constraints != LikeMerge::kExcluding) table.primary_key = source.primary_key;
  if (merges.watermarks != LikeMerge::kExcluding) table.watermark = source.watermark;
  // Flink 2.3 copies the partition keys even with EXCLUDING PARTITIONS; here the clause means what
  // it says.
  if (merges.partitions != LikeMerge::kExcluding) table.partition_keys = source.partition_keys;
  if (merges.options != LikeMerge::kExcluding) table.options = source.options;
  return table;
}

Status MergeLikeOptions(const std::vector<OptionPair>& own, const LikeMerges& merges,
                        catalog::CatalogTable* table) {
  OptionMap taken = table->options;
  for (const OptionPair& pair : own) {
    const auto existing = taken.find(pair.key);
    if (merges.options == LikeMerge::kIncluding && existing != taken.end()) {
      return Status::Validation(
          "There already exists an option ['" + pair.key + "' -> '" +
              MaskSecret(pair.key, existing->second) +
              "']  in the base table. You might want to specify EXCLUDING OPTIONS or OVERWRITING "
              "OPTIONS.",
          pair.key_range.begin);
    }
    table->options[pair.key] = pair.value;
  }
  return {};
}

}  // namespace sluice::sql
