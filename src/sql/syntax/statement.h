// Syntax tree of statements. One struct a statement; what a statement means is for binder, catalog
// and engine.
#pragma once

#include "sql/syntax/query.h"

namespace sluice::sql {

enum class StatementKind {
  kQuery,
  kInsert,
  kStatementSet,
  kBeginStatementSet,
  kEndStatementSet,
  kCreateTable,
  kAlterTable,
  kDropTable,
  kCreateView,
  kAlterView,
  kDropView,
  kCreateCatalog,
  kAlterCatalog,
  kDropCatalog,
  kUseCatalog,
  kCreateDatabase,
  kAlterDatabase,
  kDropDatabase,
  kUseDatabase,
  kSet,
  kReset,
  kShow,
  kDescribe,
  kExplain,
  kStopJob,
  kCompactTable,
  kCleanTable,
  kUnsupported,
};

struct Statement {
  virtual ~Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  template <typename T>
  const T& As() const {
    SLUICE_CHECK(kind == T::kKind, "statement of another kind");
    return static_cast<const T&>(*this);
  }
  template <typename T>
  T& As() {
    SLUICE_CHECK(kind == T::kKind, "statement of another kind");
    return static_cast<T&>(*this);
  }
  template <typename T>
  const T* If() const {
    return kind == T::kKind ? static_cast<const T*>(this) : nullptr;
  }

  const StatementKind kind;
  SourceRange range;  // Without the closing semicolon.

 protected:
  explicit Statement(StatementKind k) : kind(k) {}
};
using StatementPtr = std::unique_ptr<Statement>;

/// SELECT, VALUES, TABLE t, WITH …
struct QueryStatement final : Statement {
  static constexpr StatementKind kKind = StatementKind::kQuery;
  QueryStatement() : Statement(kKind) {}
  QueryPtr query;
};

/// k = literal, of PARTITION (…). `value` is null for a key alone (SHOW PARTITIONS t PARTITION
/// (dt), a dynamic key).
struct PartitionEntry {
  Identifier name;
  ExprPtr value;
};
using PartitionSpec = std::vector<PartitionEntry>;

struct InsertStatement final : Statement {
  static constexpr StatementKind kKind = StatementKind::kInsert;
  InsertStatement() : Statement(kKind) {}
  bool overwrite = false;
  NamePath table;
  std::vector<Hint> hints;
  PartitionSpec partition;
  std::vector<NamePath> columns;  // Empty: positional. A column may be a path into a row.
  QueryPtr query;
};

/// EXECUTE STATEMENT SET BEGIN … END; members are InsertStatement, or CreateTable with AS.
struct StatementSet final : Statement {
  static constexpr StatementKind kKind = StatementKind::kStatementSet;
  StatementSet() : Statement(kKind) {}
  std::vector<StatementPtr> statements;
};

/// The client form: BEGIN STATEMENT SET … END, each a statement of its own.
struct BeginStatementSet final : Statement {
  static constexpr StatementKind kKind = StatementKind::kBeginStatementSet;
  BeginStatementSet() : Statement(kKind) {}
};
struct EndStatementSet final : Statement {
  static constexpr StatementKind kKind = StatementKind::kEndStatementSet;
  EndStatementSet() : Statement(kKind) {}
};

enum class ColumnKind { kPhysical, kMetadata, kComputed };
enum class PositionKind { kNone, kFirst, kAfter };  // ALTER TABLE … ADD c INT FIRST | AFTER d

struct KeyConstraint {
  std::optional<Identifier> name;
  std::vector<Identifier> columns;  // Empty when written at a column: that column.
  bool enforced = true;             // False when NOT ENFORCED was written.
  bool unique = false;              // UNIQUE instead of PRIMARY KEY.
  SourceRange range;
};

struct ColumnDefinition {
  ColumnKind kind = ColumnKind::kPhysical;
  Identifier name;
  TypePtr type;      // Null for a computed column, and for names-only lists of CREATE TABLE … AS.
  ExprPtr computed;  // kComputed.
  std::optional<std::string> metadata_key;   // FROM 'key'; none: the column's name.
  bool is_virtual = false;                   // VIRTUAL metadata column.
  std::optional<KeyConstraint> primary_key;  // Written at the column.
  std::optional<std::string> comment;
  PositionKind position = PositionKind::kNone;  // ALTER TABLE only.
  std::optional<Identifier> after;
  SourceRange range;
};

struct WatermarkDefinition {
  NamePath column;  // More than one part for a field of a row.
  ExprPtr expression;
  SourceRange range;
};

enum class ElementKind { kColumn, kWatermark, kPrimaryKey };
struct TableElement {
  ElementKind kind = ElementKind::kColumn;
  ColumnDefinition column;
  WatermarkDefinition watermark;
  KeyConstraint primary_key;
};

enum class LikeMerge { kIncluding, kExcluding, kOverwriting };
enum class LikeFeature {
  kAll,
  kConstraints,
  kDistribution,
  kGenerated,
  kMetadata,
  kOptions,
  kPartitions,
  kWatermarks
};
struct LikeOption {
  LikeMerge merge = LikeMerge::kIncluding;
  LikeFeature feature = LikeFeature::kAll;
  SourceRange range;
};
struct LikeClause {
  NamePath source;
  std::vector<LikeOption> options;
  SourceRange range;
};

/// DISTRIBUTED … (tier L: kept so that it can be refused by name, or ignored).
struct Distribution {
  std::string algorithm;  // HASH, RANGE or "".
  std::vector<Identifier> columns;
  std::optional<int64_t> buckets;
  SourceRange range;
};

enum class CreateMode { kCreate, kReplace, kCreateOrReplace };

struct CreateTable final : Statement {
  static constexpr StatementKind kKind = StatementKind::kCreateTable;
  CreateTable() : Statement(kKind) {}
  CreateMode mode = CreateMode::kCreate;
  bool temporary = false;
  bool if_not_exists = false;
  NamePath table;
  std::vector<TableElement> elements;
  /// CREATE TABLE t (b, a) AS SELECT …: names only, `elements` is empty.
  std::vector<Identifier> column_names;
  std::optional<std::string> comment;
  std::optional<Distribution> distribution;
  std::vector<Identifier> partitioned_by;
  bool has_with = false;
  std::vector<OptionPair> options;
  std::optional<LikeClause> like;
  QueryPtr query;  // AS query; null without.
};

enum class AlterTableKind {
  kRenameTable,
  kRenameColumn,
  kSetOptions,
  kResetOptions,
  kAdd,
  kModify,
  kDropColumns,
  kDropPrimaryKey,
  kDropConstraint,
  kDropWatermark,
  kAddPartitions,
  kDropPartitions,
};

struct PartitionToAdd {
  PartitionSpec spec;
  std::vector<OptionPair> options;
};

struct AlterTable final : Statement {
  static constexpr StatementKind kKind = StatementKind::kAlterTable;
  AlterTable() : Statement(kKind) {}
  AlterTableKind action = AlterTableKind::kRenameTable;
  bool if_exists = false;
  NamePath table;
  NamePath new_name;                       // kRenameTable
  NamePath column;                         // kRenameColumn: the old name
  Identifier new_column;                   // kRenameColumn
  std::vector<OptionPair> options;         // kSetOptions
  std::vector<std::string> keys;           // kResetOptions
  std::vector<TableElement> elements;      // kAdd, kModify
  std::vector<NamePath> columns;           // kDropColumns
  Identifier constraint;                   // kDropConstraint
  bool partition_if = false;               // ADD IF NOT EXISTS, DROP IF EXISTS
  std::vector<PartitionToAdd> partitions;  // kAddPartitions, kDropPartitions
};

struct DropTable final : Statement {
  static constexpr StatementKind kKind = StatementKind::kDropTable;
  DropTable() : Statement(kKind) {}
  bool temporary = false;
  bool if_exists = false;
  NamePath table;
};

struct CreateView final : Statement {
  static constexpr StatementKind kKind = StatementKind::kCreateView;
  CreateView() : Statement(kKind) {}
  bool temporary = false;
  bool if_not_exists = false;
  bool or_replace = false;
  NamePath view;
  std::vector<Identifier> columns;
  std::vector<std::optional<std::string>> column_comments;  // Beside `columns`.
  std::optional<std::string> comment;
  QueryPtr query;
};

/// Exactly one of `new_name` (RENAME TO) and `query` (AS) is set.
struct AlterView final : Statement {
  static constexpr StatementKind kKind = StatementKind::kAlterView;
  AlterView() : Statement(kKind) {}
  NamePath view;
  std::optional<NamePath> new_name;
  QueryPtr query;
};

struct DropView final : Statement {
  static constexpr StatementKind kKind = StatementKind::kDropView;
  DropView() : Statement(kKind) {}
  bool temporary = false;
  bool if_exists = false;
  NamePath view;
};

struct CreateCatalog final : Statement {
  static constexpr StatementKind kKind = StatementKind::kCreateCatalog;
  CreateCatalog() : Statement(kKind) {}
  bool if_not_exists = false;
  Identifier name;
  std::optional<std::string> comment;
  std::vector<OptionPair> options;
};

enum class AlterOptionsKind { kSet, kReset, kComment };

struct AlterCatalog final : Statement {
  static constexpr StatementKind kKind = StatementKind::kAlterCatalog;
  AlterCatalog() : Statement(kKind) {}
  Identifier name;
  AlterOptionsKind action = AlterOptionsKind::kSet;
  std::vector<OptionPair> options;  // kSet
  std::vector<std::string> keys;    // kReset
  std::string comment;              // kComment
};

struct DropCatalog final : Statement {
  static constexpr StatementKind kKind = StatementKind::kDropCatalog;
  DropCatalog() : Statement(kKind) {}
  bool if_exists = false;
  Identifier name;
};

struct UseCatalog final : Statement {
  static constexpr StatementKind kKind = StatementKind::kUseCatalog;
  UseCatalog() : Statement(kKind) {}
  Identifier name;
};

struct CreateDatabase final : Statement {
  static constexpr StatementKind kKind = StatementKind::kCreateDatabase;
  CreateDatabase() : Statement(kKind) {}
  bool if_not_exists = false;
  NamePath name;
  std::optional<std::string> comment;
  std::vector<OptionPair> options;
};

struct AlterDatabase final : Statement {
  static constexpr StatementKind kKind = StatementKind::kAlterDatabase;
  AlterDatabase() : Statement(kKind) {}
  NamePath name;
  std::vector<OptionPair> options;
};

struct DropDatabase final : Statement {
  static constexpr StatementKind kKind = StatementKind::kDropDatabase;
  DropDatabase() : Statement(kKind) {}
  bool if_exists = false;
  bool cascade = false;
  NamePath name;
};

struct UseDatabase final : Statement {
  static constexpr StatementKind kKind = StatementKind::kUseDatabase;
  UseDatabase() : Statement(kKind) {}
  NamePath name;
};

/// SET (both empty), SET 'k' = 'v', SET k = v.
struct SetStatement final : Statement {
  static constexpr StatementKind kKind = StatementKind::kSet;
  SetStatement() : Statement(kKind) {}
  std::optional<std::string> key;
  std::string value;
  SourceRange key_range;
  SourceRange value_range;
};

struct ResetStatement final : Statement {
  static constexpr StatementKind kKind = StatementKind::kReset;
  ResetStatement() : Statement(kKind) {}
  std::optional<std::string> key;  // None: RESET of everything.
  SourceRange key_range;
};

enum class ShowKind {
  kCatalogs,
  kDatabases,
  kTables,
  kViews,
  kColumns,
  kPartitions,
  kFunctions,
  kUserFunctions,
  kModules,
  kFullModules,
  kJars,
  kJobs,
  kCurrentCatalog,
  kCurrentDatabase,
  kCreateTable,
  kCreateView,
  kCreateCatalog,
};
struct ShowStatement final : Statement {
  static constexpr StatementKind kKind = StatementKind::kShow;
  ShowStatement() : Statement(kKind) {}
  ShowKind what = ShowKind::kTables;
  /// FROM | IN of the listing kinds, the table of COLUMNS, PARTITIONS and CREATE TABLE / VIEW, the
  /// catalog of CREATE CATALOG.
  std::optional<NamePath> object;
  std::optional<std::string> like;  // LIKE 'p' or ILIKE 'p'
  bool ilike = false;
  bool not_like = false;
  PartitionSpec partition;  // SHOW PARTITIONS t PARTITION (…)
};

enum class DescribeKind { kTable, kCatalog, kDatabase, kJob };
/// DESCRIBE | DESC [EXTENDED] t, DESCRIBE CATALOG c, DESCRIBE DATABASE d, DESCRIBE JOB 'id'.
struct DescribeStatement final : Statement {
  static constexpr StatementKind kKind = StatementKind::kDescribe;
  DescribeStatement() : Statement(kKind) {}
  DescribeKind what = DescribeKind::kTable;
  bool extended = false;
  NamePath object;
  std::string job_id;
};

enum class ExplainDetail { kEstimatedCost, kChangelogMode, kJsonExecutionPlan, kPlanAdvice };
/// `statement` is a QueryStatement, InsertStatement, StatementSet or CreateTable with AS.
struct ExplainStatement final : Statement {
  static constexpr StatementKind kKind = StatementKind::kExplain;
  ExplainStatement() : Statement(kKind) {}
  std::vector<ExplainDetail> details;
  StatementPtr statement;
};

struct StopJobStatement final : Statement {
  static constexpr StatementKind kKind = StatementKind::kStopJob;
  StopJobStatement() : Statement(kKind) {}
  std::string job_id;
  bool with_savepoint = false;
  bool with_drain = false;
};

/// COMPACT TABLE t [PARTITION (…)]. No statement of the peer.
struct CompactTableStatement final : Statement {
  static constexpr StatementKind kKind = StatementKind::kCompactTable;
  CompactTableStatement() : Statement(kKind) {}
  NamePath table;
  PartitionSpec partition;
};

/// CLEAN TABLE t [OLDER THAN 'duration'] [DRY RUN]. No statement of the peer.
struct CleanTableStatement final : Statement {
  static constexpr StatementKind kKind = StatementKind::kCleanTable;
  CleanTableStatement() : Statement(kKind) {}
  NamePath table;
  std::optional<std::string> older_than;
  SourceRange older_than_range;
  bool dry_run = false;
};

/// A statement of tier L: understood, named, not offered. `feature` fits "<feature> is not
/// supported": "CREATE FUNCTION", "DELETE".
struct UnsupportedStatement final : Statement {
  static constexpr StatementKind kKind = StatementKind::kUnsupported;
  UnsupportedStatement() : Statement(kKind) {}
  std::string feature;
  std::string text;  // The whole statement as written.
};

}  // namespace sluice::sql
