// Catalogs, databases and what is in them. Implementations: in memory (session), on disk and Hive
// (later).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/table.h"
#include "common/result.h"

namespace sluice::catalog {

struct Database {
  std::optional<std::string> comment;
  OptionMap options;
};

/// One catalog. Names compare case-sensitively. Thread-safe is not needed: a session owns its
/// catalogs.
class Catalog {
 public:
  virtual ~Catalog() = default;
  virtual std::string default_database() const = 0;

  virtual std::vector<std::string> ListDatabases() = 0;
  virtual Result<Database> GetDatabase(const std::string& name) = 0;
  virtual Status CreateDatabase(const std::string& name, Database database) = 0;
  virtual Status AlterDatabase(const std::string& name, Database database) = 0;
  /// Removes the database and all in it: RESTRICT is checked by the manager.
  virtual Status DropDatabase(const std::string& name) = 0;

  /// Tables and views, sorted.
  virtual Result<std::vector<std::string>> ListTables(const std::string& database) = 0;
  /// Null when there is none.
  virtual Result<std::shared_ptr<const CatalogTable>> FindTable(const std::string& database,
                                                                const std::string& name) = 0;
  virtual Status CreateTable(const std::string& database, const std::string& name,
                             CatalogTable table) = 0;
  virtual Status AlterTable(const std::string& database, const std::string& name,
                            CatalogTable table) = 0;
  virtual Status RenameTable(const std::string& database, const std::string& name,
                             const std::string& new_name) = 0;
  virtual Status DropTable(const std::string& database, const std::string& name) = 0;
};

std::unique_ptr<Catalog> MakeMemoryCatalog(std::string default_database);

/// The catalogs of a session, its current ones and its temporary objects.
class CatalogManager {
 public:
  /// Starts with the in-memory catalog `default_catalog` and its `default_database`.
  CatalogManager();

  const std::string& current_catalog() const { return current_catalog_; }
  const std::string& current_database() const { return current_database_; }
  /// Fails with "A catalog with name [x] does not exist." and the nearest.
  Status UseCatalog(const std::string& name);
  /// Fails with "A database with name [x] does not exist in the catalog: [c]."
  Status UseDatabase(const std::vector<std::string>& path);

  struct CatalogInfo {
    std::string type = "generic_in_memory";
    std::optional<std::string> comment;
    OptionMap options;
    std::unique_ptr<Catalog> catalog;
  };
  std::vector<std::string> ListCatalogs() const;
  Status CreateCatalog(const std::string& name, std::optional<std::string> comment,
                       OptionMap options, bool if_not_exists);
  Status AlterCatalog(const std::string& name, OptionMap options,
                      std::optional<std::string> comment);
  Status DropCatalog(const std::string& name, bool if_exists);
  Result<const CatalogInfo*> FindCatalog(const std::string& name) const;
  Result<Catalog*> GetCatalog(const std::string& name) const;

  Status CreateDatabase(const std::vector<std::string>& path, Database database,
                        bool if_not_exists);
  Status AlterDatabase(const std::vector<std::string>& path, const OptionMap& options);
  Status DropDatabase(const std::vector<std::string>& path, bool if_exists, bool cascade);
  Result<std::vector<std::string>> ListDatabases(const std::optional<std::string>& catalog) const;

  /// Completes one to three names with the current catalog and database.
  Result<ObjectPath> Qualify(const std::vector<std::string>& names) const;

  struct Found {
    ObjectPath path;
    std::shared_ptr<const CatalogTable> table;
  };
  /// Temporary objects first. nullopt when there is none (also when catalog or database do not
  /// exist).
  Result<std::optional<Found>> Find(const std::vector<std::string>& names) const;
  /// Fails with "Object 'x' not found" style text and the nearest name.
  Result<Found> Get(const std::vector<std::string>& names) const;

  /// Tables and views (temporary ones included) of a database, sorted.
  Result<std::vector<std::string>> ListTables(const std::vector<std::string>& database_path,
                                              bool views_only) const;
  /// "Table (or view) db.t already exists in Catalog c." unless `if_not_exists`. Returns false when
  /// it existed.
  Result<bool> CreateTable(const ObjectPath& path, CatalogTable table, bool if_not_exists);
  Status AlterTable(const ObjectPath& path, CatalogTable table);
  Status RenameTable(const ObjectPath& path, const std::string& new_name);
  /// `kind` must match; texts of sql.md §2, §3.4.
  Status DropTable(const std::vector<std::string>& names, TableKind kind, bool temporary,
                   bool if_exists);

 private:
  std::map<std::string, CatalogInfo> catalogs_;
  std::map<ObjectPath, std::shared_ptr<const CatalogTable>> temporary_;
  std::string current_catalog_;
  std::string current_database_;
};

}  // namespace sluice::catalog
