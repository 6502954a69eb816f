#include "sql/binder/view_references.h"

#include <set>
#include <string>
#include <vector>

#include "sql/binder/syntax_walk.h"
#include "sql/syntax/parser.h"

namespace sluice::sql {

Result<bool> ViewReads(const catalog::CatalogTable& view, const catalog::ObjectPath& path,
                       const catalog::CatalogManager& catalogs) {
  std::vector<std::string> open = {view.view_query};
  std::set<catalog::ObjectPath> seen;
  while (!open.empty()) {
    Result<QueryPtr> query = ParseQuery(open.back());
    open.pop_back();
    if (!query.ok()) return query.status();
    std::vector<std::vector<std::string>> names;
    ForEachTableName(**query, [&](const NamePath& name) { names.push_back(name.Names()); });
    for (const std::vector<std::string>& name : names) {
      if (name.size() != 3) continue;  // A common table: stored views name catalog objects in full.
      catalog::ObjectPath read{name[0], name[1], name[2]};
      if (read == path) return true;
      if (!seen.insert(read).second) continue;
      SLUICE_ASSIGN_OR_RETURN(const std::optional<catalog::CatalogManager::Found> found,
                              catalogs.Find(name));
      if (found && found->table->kind == catalog::TableKind::kView)
        open.push_back(found->table->view_query);
    }
  }
  return false;
}

}  // namespace sluice::sql
