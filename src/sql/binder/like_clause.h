// CREATE TABLE … LIKE: what is taken from the source table and what the new table's own parts may
// replace.
#pragma once

#include <set>
#include <string>

#include "catalog/table.h"
#include "sql/binder/binder.h"

namespace sluice::sql {

/// How each feature of the source table is merged; Flink's defaults.
struct LikeMerges {
  LikeMerge constraints = LikeMerge::kIncluding;
  LikeMerge generated = LikeMerge::kIncluding;
  LikeMerge metadata = LikeMerge::kIncluding;
  LikeMerge options = LikeMerge::kOverwriting;
  LikeMerge partitions = LikeMerge::kIncluding;
  LikeMerge watermarks = LikeMerge::kIncluding;
};
LikeMerges MergesOf(const LikeClause& like);

/// Finds the source of LIKE: "Source table '…' of the LIKE clause not found in the catalog".
Result<std::shared_ptr<const catalog::CatalogTable>> FindLikeSource(
    const LikeClause& like, const catalog::CatalogManager& catalogs);

/// The table that a CREATE TABLE … LIKE starts from: the parts of `source` that `merges` keeps.
/// Physical columns always come along.
catalog::CatalogTable StartFromLike(const catalog::CatalogTable& source, const LikeMerges& merges);

/// Puts the new table's options over those taken from the source.
Status MergeLikeOptions(const std::vector<OptionPair>& own, const LikeMerges& merges,
                        catalog::CatalogTable* table);

}  // namespace sluice::sql
