// The catalog of a session: gone when the session ends.
#include "catalog/catalog.h"

namespace sluice::catalog {
namespace {

class MemoryCatalog final : public Catalog {
 public:
  explicit MemoryCatalog(std::string default_database)
      : default_database_(std::move(default_database)) {
    databases_[default_database_];
  }

  std::string default_database() const override { return default_database_; }

  std::vector<std::string> ListDatabases() override {
    std::vector<std::string> names;
    for (const auto& [name, entry] : databases_) names.push_back(name);
    return names;
  }

  Result<Database> GetDatabase(const std::string& name) override {
    SLUICE_ASSIGN_OR_RETURN(const Entry* entry, Find(name));
    return entry->info;
  }

  Status CreateDatabase(const std::string& name, Database database) override {
    if (databases_.contains(name))
      return Status::AlreadyExists("Database " + name + " already exists.");
    databases_[name].info = std::move(database);
    return {};
  }

  Status AlterDatabase(const std::string& name, Database database) override {
    SLUICE_ASSIGN_OR_RETURN(Entry * entry, Find(name));
    entry->info = std::move(database);
    return {};
  }

  Status DropDatabase(const std::string& name) override {
    SLUICE_RETURN_NOT_OK(Find(name).status());
    databases_.erase(name);
    return {};
  }

  Result<std::vector<std::string>> ListTables(const std::string& database) override {
    SLUICE_ASSIGN_OR_RETURN(const Entry* entry, Find(database));
    std::vector<std::string> names;
    for (const auto& [name, table] : entry->tables) names.push_back(name);
    return names;
  }

  Result<std::shared_ptr<const CatalogTable>> FindTable(const std::string& database,
                                                        const std::string& name) override {
    const auto entry = databases_.find(database);
    if (entry == databases_.end()) return std::shared_ptr<const CatalogTable>();
    const auto table = entry->second.tables.find(name);
    return table == entry->second.tables.end() ? nullptr : table->second;
  }

  Status CreateTable(const std::string& database, const std::string& name,
                     CatalogTable table) override {
    SLUICE_ASSIGN_OR_RETURN(Entry * entry, Find(database));
    if (entry->tables.contains(name))
      return Status::AlreadyExists("Table " + name + " already exists.");
    entry->tables[name] = std::make_shared<const CatalogTable>(std::move(table));
    return {};
  }

  Status AlterTable(const std::string& database, const std::string& name,
                    CatalogTable table) override {
    SLUICE_ASSIGN_OR_RETURN(Entry * entry, Find(database));
    entry->tables[name] = std::make_shared<const CatalogTable>(std::move(table));
    return {};
  }

  Status RenameTable(const std::string& database, const std::string& name,
                     const std::string& new_name) override {
    SLUICE_ASSIGN_OR_RETURN(Entry * entry, Find(database));
    auto node = entry->tables.extract(name);
    if (node.empty()) return Status::NotFound("Table " + name + " does not exist.");
    node.key() = new_name;
    entry->tables.insert(std::move(node));
    return {};
  }

  Status DropTable(const std::string& database, const std::string& name) override {
    SLUICE_ASSIGN_OR_RETURN(Entry * entry, Find(database));
    entry->tables.erase(name);
    return {};
  }

 private:
  struct Entry {
    Database info;
    std::map<std::string, std::shared_ptr<const CatalogTable>> tables;
  };

  Result<Entry*> Find(const std::string& database) {
    const auto it = databases_.find(database);
    if (it == databases_.end())
      return Status::NotFound("Database " + database + " does not exist.");
    return &it->second;
  }

  const std::string default_database_;
  std::map<std::string, Entry> databases_;
};

}  // namespace

std::unique_ptr<Catalog> MakeMemoryCatalog(std::string default_database) {
  return std::make_unique<MemoryCatalog>(std::move(default_database));
}

}  // namespace sluice::catalog
