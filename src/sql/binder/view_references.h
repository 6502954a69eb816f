// Which tables a stored view reads.
#pragma once

#include "catalog/catalog.h"
#include "common/result.h"

namespace sluice::sql {

/// True when `view` reads the object `path`, itself or through other views.
Result<bool> ViewReads(const catalog::CatalogTable& view, const catalog::ObjectPath& path,
                       const catalog::CatalogManager& catalogs);

}  // namespace sluice::sql
