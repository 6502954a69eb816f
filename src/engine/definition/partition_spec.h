// PARTITION (k = literal, …) of statements about partitions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "sql/syntax/ast.h"

namespace sluice::engine {

/// Values by partition key; keys that the spec does not name stay nullopt outside, NULL is nullopt
/// inside.
using SpecValues = std::vector<std::optional<std::optional<std::string>>>;

/// Errors name the key, with its position.
Result<SpecValues> ReadPartitionSpec(const sql::PartitionSpec& spec,
                                     const catalog::CatalogTable& table,
                                     const catalog::ObjectPath& path);

}  // namespace sluice::engine
