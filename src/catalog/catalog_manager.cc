#include <algorithm>

#include "catalog/catalog.h"
#include "common/nearest_name.h"
#include "common/text.h"

namespace sluice::catalog {
namespace {

constexpr std::string_view kDefaultCatalog = "default_catalog";
constexpr std::string_view kDefaultDatabase = "default_database";

Status NoDatabase(const std::string& catalog, const std::string& database,
                  std::span<const std::string> known) {
  return Status::Validation("A database with name [" + database +
                            "] does not exist in the catalog: [" + catalog + "]." +
                            DidYouMean(database, known));
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

CatalogManager::CatalogManager()
    : current_catalog_(kDefaultCatalog), current_database_(kDefaultDatabase) {
  catalogs_[current_catalog_].catalog = MakeMemoryCatalog(current_database_);
}

Result<const CatalogManager::CatalogInfo*> CatalogManager::FindCatalog(
    const std::string& name) const {
  const auto it = catalogs_.find(name);
  if (it != catalogs_.end()) return &it->second;
  return Status::Validation("A catalog with name [" + name + "] does not exist." +
                            DidYouMean(name, ListCatalogs()));
}

Result<Catalog*> CatalogManager::GetCatalog(const std::string& name) const {
  SLUICE_ASSIGN_OR_RETURN(const CatalogInfo* info, FindCatalog(name));
  return info->catalog.get();
}

std::vector<std::string> CatalogManager::ListCatalogs() const {
  std::vector<std::string> names;
  for (const auto& [name, info] : catalogs_) names.push_back(name);
  return names;
}

Status CatalogManager::UseCatalog(const std::string& name) {
  SLUICE_ASSIGN_OR_RETURN(const Catalog* catalog, GetCatalog(name));
  current_catalog_ = name;
  current_database_ = catalog->default_database();
  return {};
}

Status CatalogManager::UseDatabase(const std::vector<std::string>& path) {
  if (path.size() > 2) return Status::Validation("USE takes database or catalog.database.");
  const std::string catalog_name = path.size() == 2 ? path[0] : current_catalog_;
  SLUICE_ASSIGN_OR_RETURN(Catalog * catalog, GetCatalog(catalog_name));
  const std::vector<std::string> known = catalog->ListDatabases();
  if (!Contains(known, path.back())) return NoDatabase(catalog_name, path.back(), known);
  current_catalog_ = catalog_name;
  current_database_ = path.back();
  return {};
}

Status CatalogManager::CreateCatalog(const std::string& name, std::optional<std::string> comment,
                                     OptionMap options, bool if_not_exists) {
  if (catalogs_.contains(name)) {
    return if_not_exists ? Status() : Status::Validation("Catalog " + name + " already exists.");
  }
  const auto type = options.find("type");
  if (type == options.end()) {
    return Status::Validation(
        "Catalog options do not contain an option key 'type' for discovering a catalog.");
  }
  if (type->second != "generic_in_memory") {
    const std::vector<std::string> known = {"generic_in_memory"};
    return Status::Unsupported("Could not find any factory for catalog type '" + type->second +
                               "'. Available: generic_in_memory." +
                               DidYouMean(type->second, known));
  }
  std::string database = "default";
  for (const auto& [key, value] : options) {
    if (key == "default-database") {
      database = value;
    } else if (key != "type") {
      const std::vector<std::string> known = {"type", "default-database"};
      return Status::Validation("Unsupported options found for 'generic_in_memory': " + key + "." +
                                DidYouMean(key, known));
    }
  }
  CatalogInfo& info = catalogs_[name];
  info.comment = std::move(comment);
  info.options = std::move(options);
  info.catalog = MakeMemoryCatalog(database);
  return {};
}

Status CatalogManager::AlterCatalog(const std::string& name, OptionMap options,
                                    std::optional<std::string> comment) {
  SLUICE_RETURN_NOT_OK(FindCatalog(name).status());
  CatalogInfo& info = catalogs_[name];
  info.options = std::move(options);
  info.comment = std::move(comment);
  return {};
}

Status CatalogManager::DropCatalog(const std::string& name, bool if_exists) {
  if (!catalogs_.contains(name)) return if_exists ? Status() : FindCatalog(name).status();
  if (name == current_catalog_)
    return Status::Validation("Cannot drop a catalog which is currently in use.");
  catalogs_.erase(name);
  return {};
}

Status CatalogManager::CreateDatabase(const std::vector<std::string>& path, Database database,
                                      bool if_not_exists) {
  const std::string catalog_name = path.size() == 2 ? path[0] : current_catalog_;
  SLUICE_ASSIGN_OR_RETURN(Catalog * catalog, GetCatalog(catalog_name));
  if (Contains(catalog->ListDatabases(), path.back())) {
    if (if_not_exists) return {};
    return Status::Validation("Database " + path.back() + " already exists in Catalog " +
                              catalog_name + ".");
  }
  return catalog->CreateDatabase(path.back(), std::move(database));
}

Status CatalogManager::AlterDatabase(const std::vector<std::string>& path,
                                     const OptionMap& options) {
  const std::string catalog_name = path.size() == 2 ? path[0] : current_catalog_;
  SLUICE_ASSIGN_OR_RETURN(Catalog * catalog, GetCatalog(catalog_name));
  SLUICE_ASSIGN_OR_RETURN(Database database, catalog->GetDatabase(path.back()));
  for (const auto& [key, value] : options) database.options[key] = value;
  return catalog->AlterDatabase(path.back(), std::move(database));
}

Status CatalogManager::DropDatabase(const std::vector<std::string>& path, bool if_exists,
                                    bool cascade) {
  const std::string catalog_name = path.size() == 2 ? path[0] : current_catalog_;
  SLUICE_ASSIGN_OR_RETURN(Catalog * catalog, GetCatalog(catalog_name));
  const std::vector<std::string> known = catalog->ListDatabases();
  if (!Contains(known, path.back()))
    return if_exists ? Status() : NoDatabase(catalog_name, path.back(), known);
  if (catalog_name == current_catalog_ && path.back() == current_database_) {
    return Status::Validation("Cannot drop a database which is currently in use.");
  }
  SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> tables, catalog->ListTables(path.back()));
  if (!tables.empty() && !cascade) {
    return Status::Validation(
        "Database " + path.back() + " in catalog " + catalog_name +
        " is not empty. Drop its tables first, or use DROP DATABASE … CASCADE.");
  }
  return catalog->DropDatabase(path.back());
}

Result<std::vector<std::string>> CatalogManager::ListDatabases(
    const std::optional<std::string>& catalog) const {
  SLUICE_ASSIGN_OR_RETURN(Catalog * found, GetCatalog(catalog.value_or(current_catalog_)));
  return found->ListDatabases();
}

Result<ObjectPath> CatalogManager::Qualify(const std::vector<std::string>& names) const {
  switch (names.size()) {
    case 1:
      return ObjectPath{current_catalog_, current_database_, names[0]};
    case 2:
      return ObjectPath{current_catalog_, names[0], names[1]};
    case 3:
      return ObjectPath{names[0], names[1], names[2]};
    default:
      return Status::Validation("A table name has at most three parts (catalog.database.table): " +
                                Join(names, "."));
  }
}

Result<std::optional<CatalogManager::Found>> CatalogManager::Find(
    const std::vector<std::string>& names) const {
  SLUICE_ASSIGN_OR_RETURN(ObjectPath path, Qualify(names));
  if (const auto it = temporary_.find(path); it != temporary_.end()) {
    return std::optional<Found>(Found{std::move(path), it->second});
  }
  const auto catalog = catalogs_.find(path.catalog);
  if (catalog == catalogs_.end()) return std::optional<Found>();
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<const CatalogTable> table,
                          catalog->second.catalog->FindTable(path.database, path.object));
  if (table == nullptr) return std::optional<Found>();
  return std::optional<Found>(Found{std::move(path), std::move(table)});
}

Result<CatalogManager::Found> CatalogManager::Get(const std::vector<std::string>& names) const {
  SLUICE_ASSIGN_OR_RETURN(std::optional<Found> found, Find(names));
  if (found) return *std::move(found);
  SLUICE_ASSIGN_OR_RETURN(const ObjectPath path, Qualify(names));
  std::string hint;
  if (const auto known = ListTables({path.catalog, path.database}, false); known.ok()) {
    hint = DidYouMean(path.object, *known);
  }
  return Status::Validation("Object '" + Join(names, ".") + "' not found." + hint);
}

Result<std::vector<std::string>> CatalogManager::ListTables(
    const std::vector<std::string>& database_path, bool views_only) const {
  const std::string catalog_name = database_path.size() == 2 ? database_path[0] : current_catalog_;
  const std::string database = database_path.empty() ? current_database_ : database_path.back();
  SLUICE_ASSIGN_OR_RETURN(Catalog * catalog, GetCatalog(catalog_name));
  const std::vector<std::string> databases = catalog->ListDatabases();
  std::vector<std::string> names;
  for (const auto& [path, table] : temporary_) {
    if (path.catalog == catalog_name && path.database == database &&
        (!views_only || table->kind == TableKind::kView)) {
      names.push_back(path.object);
    }
  }
  if (!Contains(databases, database)) {
    if (names.empty()) return NoDatabase(catalog_name, database, databases);
  } else {
    SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> permanent,
                            catalog->ListTables(database));
    for (const std::string& name : permanent) {
      if (views_only) {
        SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<const CatalogTable> table,
                                catalog->FindTable(database, name));
        if (table->kind != TableKind::kView) continue;
      }
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<bool> CatalogManager::CreateTable(const ObjectPath& path, CatalogTable table,
                                         bool if_not_exists) {
  if (table.temporary) {
    if (temporary_.contains(path)) {
      if (if_not_exists) return false;
      return Status::Validation("Temporary table '" + path.ToQuotedString() + "' already exists");
    }
    temporary_[path] = std::make_shared<const CatalogTable>(std::move(table));
    return true;
  }
  SLUICE_ASSIGN_OR_RETURN(Catalog * catalog, GetCatalog(path.catalog));
  const std::vector<std::string> databases = catalog->ListDatabases();
  if (!Contains(databases, path.database))
    return NoDatabase(path.catalog, path.database, databases);
  SLUICE_ASSIGN_OR_RETURN(const auto existing, catalog->FindTable(path.database, path.object));
  if (existing != nullptr) {
    if (if_not_exists) return false;
    return Status::Validation("Table (or view) " + path.database + "." + path.object +
                              " already exists in Catalog " + path.catalog + ".");
  }
  SLUICE_RETURN_NOT_OK(catalog->CreateTable(path.database, path.object, std::move(table)));
  return true;
}

Status CatalogManager::AlterTable(const ObjectPath& path, CatalogTable table) {
  if (const auto it = temporary_.find(path); it != temporary_.end()) {
    it->second = std::make_shared<const CatalogTable>(std::move(table));
    return {};
  }
  SLUICE_ASSIGN_OR_RETURN(Catalog * catalog, GetCatalog(path.catalog));
  return catalog->AlterTable(path.database, path.object, std::move(table));
}

Status CatalogManager::RenameTable(const ObjectPath& path, const std::string& new_name) {
  ObjectPath target = path;
  target.object = new_name;
  SLUICE_ASSIGN_OR_RETURN(const auto occupied,
                          Find({target.catalog, target.database, target.object}));
  if (occupied) {
    return Status::Validation("Table (or view) " + target.database + "." + new_name +
                              " already exists in Catalog " + path.catalog + ".");
  }
  if (auto node = temporary_.extract(path); !node.empty()) {
    node.key() = target;
    temporary_.insert(std::move(node));
    return {};
  }
  SLUICE_ASSIGN_OR_RETURN(Catalog * catalog, GetCatalog(path.catalog));
  return catalog->RenameTable(path.database, path.object, new_name);
}

Status CatalogManager::DropTable(const std::vector<std::string>& names, TableKind kind,
                                 bool temporary, bool if_exists) {
  SLUICE_ASSIGN_OR_RETURN(const ObjectPath path, Qualify(names));
  const std::string word = kind == TableKind::kTable ? "Table" : "View";
  const auto temporary_object = temporary_.find(path);
  const bool has_temporary =
      temporary_object != temporary_.end() && temporary_object->second->kind == kind;
  if (temporary) {
    if (has_temporary) {
      temporary_.erase(temporary_object);
      return {};
    }
    if (if_exists) return {};
    return Status::Validation("Temporary " + ToLowerAscii(word) + " with identifier '" +
                              path.ToQuotedString() + "' does not exist.");
  }
  std::shared_ptr<const CatalogTable> permanent;
  const auto catalog = catalogs_.find(path.catalog);
  if (catalog != catalogs_.end()) {
    SLUICE_ASSIGN_OR_RETURN(permanent,
                            catalog->second.catalog->FindTable(path.database, path.object));
  }
  if (has_temporary) {
    return Status::Validation(
        "Temporary " + ToLowerAscii(word) + " with identifier '" + path.ToQuotedString() +
        "' exists. Drop it first before removing the permanent " + ToLowerAscii(word) + ".");
  }
  if (permanent == nullptr || permanent->kind != kind) {
    if (if_exists) return {};
    std::string hint;
    if (const auto known = ListTables({path.catalog, path.database}, kind == TableKind::kView);
        known.ok()) {
      hint = DidYouMean(path.object, *known);
    }
    return Status::Validation(word + " with identifier '" + path.ToString() + "' does not exist." +
                              hint);
  }
  return catalog->second.catalog->DropTable(path.database, path.object);
}

}  // namespace sluice::catalog
