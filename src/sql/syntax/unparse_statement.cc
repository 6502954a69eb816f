#include "sql/syntax/sql_writer.h"

namespace sluice::sql {
namespace {

std::string_view ShowWords(ShowKind kind) {
  switch (kind) {
    case ShowKind::kCatalogs:
      return "CATALOGS";
    case ShowKind::kDatabases:
      return "DATABASES";
    case ShowKind::kTables:
      return "TABLES";
    case ShowKind::kViews:
      return "VIEWS";
    case ShowKind::kColumns:
      return "COLUMNS";
    case ShowKind::kPartitions:
      return "PARTITIONS";
    case ShowKind::kFunctions:
      return "FUNCTIONS";
    case ShowKind::kUserFunctions:
      return "USER FUNCTIONS";
    case ShowKind::kModules:
      return "MODULES";
    case ShowKind::kFullModules:
      return "FULL MODULES";
    case ShowKind::kJars:
      return "JARS";
    case ShowKind::kJobs:
      return "JOBS";
    case ShowKind::kCurrentCatalog:
      return "CURRENT CATALOG";
    case ShowKind::kCurrentDatabase:
      return "CURRENT DATABASE";
    case ShowKind::kCreateTable:
      return "CREATE TABLE";
    case ShowKind::kCreateView:
      return "CREATE VIEW";
    case ShowKind::kCreateCatalog:
      return "CREATE CATALOG";
  }
  return "";
}

std::string_view FeatureWord(LikeFeature feature) {
  switch (feature) {
    case LikeFeature::kAll:
      return "ALL";
    case LikeFeature::kConstraints:
      return "CONSTRAINTS";
    case LikeFeature::kDistribution:
      return "DISTRIBUTION";
    case LikeFeature::kGenerated:
      return "GENERATED";
    case LikeFeature::kMetadata:
      return "METADATA";
    case LikeFeature::kOptions:
      return "OPTIONS";
    case LikeFeature::kPartitions:
      return "PARTITIONS";
    case LikeFeature::kWatermarks:
      return "WATERMARKS";
  }
  return "";
}

}  // namespace

void SqlWriter::PutOptions(const std::vector<OptionPair>& options) {
  Put("(");
  PutList(
      options,
      [this](const OptionPair& option) {
        Put("\n  " + QuoteString(option.key) + " = " + QuoteString(option.value));
      },
      ",");
  Put(options.empty() ? ")" : "\n)");
}

void SqlWriter::PutKeys(const std::vector<std::string>& keys) {
  Put("(");
  PutList(keys, [this](const std::string& key) { Put(QuoteString(key)); });
  Put(")");
}

void SqlWriter::PutPartition(const PartitionSpec& spec) {
  Put(" PARTITION (");
  PutList(spec, [this](const PartitionEntry& entry) {
    Write(entry.name);
    if (entry.value == nullptr) return;
    Put(" = ");
    Write(*entry.value);
  });
  Put(")");
}

void SqlWriter::PutComment(const std::optional<std::string>& comment) {
  if (comment) Put(" COMMENT " + QuoteString(*comment));
}

void SqlWriter::WriteKey(const KeyConstraint& key, bool at_column) {
  if (key.name) {
    Put("CONSTRAINT ");
    Write(*key.name);
    Put(" ");
  }
  Put(key.unique ? "UNIQUE" : "PRIMARY KEY");
  if (!at_column) {
    Put(" ");
    PutNames(key.columns);
  }
  PutIf(!key.enforced, " NOT ENFORCED");
}

void SqlWriter::WriteColumn(const ColumnDefinition& column) {
  Write(column.name);
  if (column.kind == ColumnKind::kComputed) {
    Put(" AS ");
    Write(*column.computed);
  } else {
    Put(" ");
    Write(*column.type);
  }
  if (column.kind == ColumnKind::kMetadata) {
    Put(" METADATA");
    if (column.metadata_key) Put(" FROM " + QuoteString(*column.metadata_key));
    PutIf(column.is_virtual, " VIRTUAL");
  }
  if (column.primary_key) {
    Put(" ");
    WriteKey(*column.primary_key, true);
  }
  PutComment(column.comment);
  PutIf(column.position == PositionKind::kFirst, " FIRST");
  if (column.position == PositionKind::kAfter) {
    Put(" AFTER ");
    Write(*column.after);
  }
}

void SqlWriter::WriteElement(const TableElement& element) {
  switch (element.kind) {
    case ElementKind::kColumn:
      return WriteColumn(element.column);
    case ElementKind::kPrimaryKey:
      return WriteKey(element.primary_key, false);
    case ElementKind::kWatermark:
      Put("WATERMARK FOR ");
      Write(element.watermark.column);
      Put(" AS ");
      return Write(*element.watermark.expression);
  }
}

void SqlWriter::WriteElements(const std::vector<TableElement>& elements) {
  Put("(");
  PutList(
      elements,
      [this](const TableElement& element) {
        Put("\n  ");
        WriteElement(element);
      },
      ",");
  Put("\n)");
}

void SqlWriter::WriteLikeClause(const LikeClause& like) {
  Put("\nLIKE ");
  Write(like.source);
  if (like.options.empty()) return;
  Put(" (");
  PutList(
      like.options,
      [this](const LikeOption& option) {
        Put(option.merge == LikeMerge::kIncluding   ? "INCLUDING "
            : option.merge == LikeMerge::kExcluding ? "EXCLUDING "
                                                    : "OVERWRITING ");
        Put(FeatureWord(option.feature));
      },
      " ");
  Put(")");
}

void SqlWriter::WriteCreateTable(const CreateTable& create) {
  Put(create.mode == CreateMode::kReplace           ? "REPLACE "
      : create.mode == CreateMode::kCreateOrReplace ? "CREATE OR REPLACE "
                                                    : "CREATE ");
  PutIf(create.temporary, "TEMPORARY ");
  Put("TABLE ");
  PutIf(create.if_not_exists, "IF NOT EXISTS ");
  Write(create.table);
  if (!create.elements.empty()) {
    Put(" ");
    WriteElements(create.elements);
  } else if (!create.column_names.empty()) {
    Put(" ");
    PutNames(create.column_names);
  }
  if (create.comment) Put("\nCOMMENT " + QuoteString(*create.comment));
  if (create.distribution) {
    const Distribution& distribution = *create.distribution;
    Put("\nDISTRIBUTED");
    if (!distribution.columns.empty()) {
      Put(" BY " + distribution.algorithm);
      PutNames(distribution.columns);
    }
    if (distribution.buckets) Put(" INTO " + std::to_string(*distribution.buckets) + " BUCKETS");
  }
  if (!create.partitioned_by.empty()) {
    Put("\nPARTITIONED BY ");
    PutNames(create.partitioned_by);
  }
  if (create.has_with) {
    Put("\nWITH ");
    PutOptions(create.options);
  }
  if (create.like) WriteLikeClause(*create.like);
  if (create.query != nullptr) {
    Put("\nAS ");
    Write(*create.query);
  }
}

void SqlWriter::WriteAlterTable(const AlterTable& alter) {
  Put(alter.if_exists ? "ALTER TABLE IF EXISTS " : "ALTER TABLE ");
  Write(alter.table);
  switch (alter.action) {
    case AlterTableKind::kRenameTable:
      Put(" RENAME TO ");
      return Write(alter.new_name);
    case AlterTableKind::kRenameColumn:
      Put(" RENAME ");
      Write(alter.column);
      Put(" TO ");
      return Write(alter.new_column);
    case AlterTableKind::kSetOptions:
      Put(" SET ");
      return PutOptions(alter.options);
    case AlterTableKind::kResetOptions:
      Put(" RESET ");
      return PutKeys(alter.keys);
    case AlterTableKind::kAdd:
      Put(" ADD ");
      return WriteElements(alter.elements);
    case AlterTableKind::kModify:
      Put(" MODIFY ");
      return WriteElements(alter.elements);
    case AlterTableKind::kDropColumns:
      Put(" DROP (");
      PutList(alter.columns, [this](const NamePath& column) { Write(column); });
      return Put(")");
    case AlterTableKind::kDropPrimaryKey:
      return Put(" DROP PRIMARY KEY");
    case AlterTableKind::kDropConstraint:
      Put(" DROP CONSTRAINT ");
      return Write(alter.constraint);
    case AlterTableKind::kDropWatermark:
      return Put(" DROP WATERMARK");
    case AlterTableKind::kAddPartitions:
      Put(alter.partition_if ? " ADD IF NOT EXISTS" : " ADD");
      return PutList(
          alter.partitions,
          [this](const PartitionToAdd& partition) {
            PutPartition(partition.spec);
            if (partition.options.empty()) return;
            Put(" WITH ");
            PutOptions(partition.options);
          },
          "");
    case AlterTableKind::kDropPartitions:
      Put(alter.partition_if ? " DROP IF EXISTS" : " DROP");
      return PutList(
          alter.partitions,
          [this](const PartitionToAdd& partition) { PutPartition(partition.spec); }, ",");
  }
}

void SqlWriter::WriteCreateView(const CreateView& create) {
  Put(create.or_replace ? "CREATE OR REPLACE " : "CREATE ");
  Put(create.temporary ? "TEMPORARY VIEW " : "VIEW ");
  PutIf(create.if_not_exists, "IF NOT EXISTS ");
  Write(create.view);
  if (!create.columns.empty()) {
    Put(" (");
    for (size_t i = 0; i < create.columns.size(); ++i) {
      PutIf(i > 0, ", ");
      Write(create.columns[i]);
      if (i < create.column_comments.size()) PutComment(create.column_comments[i]);
    }
    Put(")");
  }
  PutComment(create.comment);
  Put(" AS ");
  Write(*create.query);
}

void SqlWriter::WriteInsert(const InsertStatement& insert) {
  Put(insert.overwrite ? "INSERT OVERWRITE " : "INSERT INTO ");
  Write(insert.table);
  PutHints(insert.hints);
  if (!insert.partition.empty()) PutPartition(insert.partition);
  if (!insert.columns.empty()) {
    Put(" (");
    PutList(insert.columns, [this](const NamePath& column) { Write(column); });
    Put(")");
  }
  Put(" ");
  Write(*insert.query);
}

void SqlWriter::WriteShow(const ShowStatement& show) {
  Put("SHOW ");
  Put(ShowWords(show.what));
  if (show.object) {
    const bool listing = show.what == ShowKind::kDatabases || show.what == ShowKind::kTables ||
                         show.what == ShowKind::kViews || show.what == ShowKind::kColumns ||
                         show.what == ShowKind::kFunctions || show.what == ShowKind::kUserFunctions;
    Put(listing ? " FROM " : " ");
    Write(*show.object);
  }
  if (!show.partition.empty()) PutPartition(show.partition);
  if (show.like) {
    PutIf(show.not_like, " NOT");
    Put(show.ilike ? " ILIKE " : " LIKE ");
    Put(QuoteString(*show.like));
  }
}

void SqlWriter::WriteDescribe(const DescribeStatement& describe) {
  if (describe.what == DescribeKind::kJob)
    return Put("DESCRIBE JOB " + QuoteString(describe.job_id));
  Put("DESCRIBE ");
  PutIf(describe.what == DescribeKind::kCatalog, "CATALOG ");
  PutIf(describe.what == DescribeKind::kDatabase, "DATABASE ");
  PutIf(describe.extended, "EXTENDED ");
  Write(describe.object);
}

void SqlWriter::WriteExplain(const ExplainStatement& explain) {
  Put("EXPLAIN ");
  PutList(explain.details, [this](ExplainDetail detail) {
    Put(detail == ExplainDetail::kEstimatedCost       ? "ESTIMATED_COST"
        : detail == ExplainDetail::kChangelogMode     ? "CHANGELOG_MODE"
        : detail == ExplainDetail::kJsonExecutionPlan ? "JSON_EXECUTION_PLAN"
                                                      : "PLAN_ADVICE");
  });
  PutIf(!explain.details.empty(), " ");
  Write(*explain.statement);
}

void SqlWriter::WriteCatalogStatement(const Statement& statement) {
  if (const auto* create = statement.If<CreateCatalog>()) {
    Put(create->if_not_exists ? "CREATE CATALOG IF NOT EXISTS " : "CREATE CATALOG ");
    Write(create->name);
    PutComment(create->comment);
    Put(" WITH ");
    PutOptions(create->options);
  } else if (const auto* alter = statement.If<AlterCatalog>()) {
    Put("ALTER CATALOG ");
    Write(alter->name);
    if (alter->action == AlterOptionsKind::kComment) return PutComment(alter->comment);
    Put(alter->action == AlterOptionsKind::kSet ? " SET " : " RESET ");
    if (alter->action == AlterOptionsKind::kSet) return PutOptions(alter->options);
    PutKeys(alter->keys);
  } else if (const auto* drop = statement.If<DropCatalog>()) {
    Put(drop->if_exists ? "DROP CATALOG IF EXISTS " : "DROP CATALOG ");
    Write(drop->name);
  } else if (const auto* use = statement.If<UseCatalog>()) {
    Put("USE CATALOG ");
    Write(use->name);
  } else if (const auto* create_db = statement.If<CreateDatabase>()) {
    Put(create_db->if_not_exists ? "CREATE DATABASE IF NOT EXISTS " : "CREATE DATABASE ");
    Write(create_db->name);
    PutComment(create_db->comment);
    if (create_db->options.empty()) return;
    Put(" WITH ");
    PutOptions(create_db->options);
  } else if (const auto* alter_db = statement.If<AlterDatabase>()) {
    Put("ALTER DATABASE ");
    Write(alter_db->name);
    Put(" SET ");
    PutOptions(alter_db->options);
  } else if (const auto* drop_db = statement.If<DropDatabase>()) {
    Put(drop_db->if_exists ? "DROP DATABASE IF EXISTS " : "DROP DATABASE ");
    Write(drop_db->name);
    PutIf(drop_db->cascade, " CASCADE");
  } else if (const auto* use_db = statement.If<UseDatabase>()) {
    Put("USE ");
    Write(use_db->name);
  }
}

void SqlWriter::WriteSmallStatement(const Statement& statement) {
  if (const auto* drop = statement.If<DropTable>()) {
    Put(drop->temporary ? "DROP TEMPORARY TABLE " : "DROP TABLE ");
    PutIf(drop->if_exists, "IF EXISTS ");
    Write(drop->table);
  } else if (const auto* drop_view = statement.If<DropView>()) {
    Put(drop_view->temporary ? "DROP TEMPORARY VIEW " : "DROP VIEW ");
    PutIf(drop_view->if_exists, "IF EXISTS ");
    Write(drop_view->view);
  } else if (const auto* alter = statement.If<AlterView>()) {
    Put("ALTER VIEW ");
    Write(alter->view);
    Put(alter->new_name ? " RENAME TO " : " AS ");
    if (alter->new_name) return Write(*alter->new_name);
    Write(*alter->query);
  } else if (const auto* set = statement.If<SetStatement>()) {
    Put("SET");
    if (set->key) Put(" " + QuoteString(*set->key) + " = " + QuoteString(set->value));
  } else if (const auto* reset = statement.If<ResetStatement>()) {
    Put("RESET");
    if (reset->key) Put(" " + QuoteString(*reset->key));
  } else if (const auto* stop = statement.If<StopJobStatement>()) {
    Put("STOP JOB " + QuoteString(stop->job_id));
    PutIf(stop->with_savepoint, " WITH SAVEPOINT");
    PutIf(stop->with_drain, " WITH DRAIN");
  } else if (const auto* compact = statement.If<CompactTableStatement>()) {
    Put("COMPACT TABLE ");
    Write(compact->table);
    if (!compact->partition.empty()) PutPartition(compact->partition);
  } else if (const auto* clean = statement.If<CleanTableStatement>()) {
    Put("CLEAN TABLE ");
    Write(clean->table);
    if (clean->older_than) Put(" OLDER THAN " + QuoteString(*clean->older_than));
    PutIf(clean->dry_run, " DRY RUN");
  } else if (const auto* members = statement.If<StatementSet>()) {
    Put("EXECUTE STATEMENT SET BEGIN\n");
    for (const StatementPtr& member : members->statements) {
      Write(*member);
      Put(";\n");
    }
    Put("END");
  }
}

void SqlWriter::Write(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::kQuery:
      return Write(*statement.As<QueryStatement>().query);
    case StatementKind::kInsert:
      return WriteInsert(statement.As<InsertStatement>());
    case StatementKind::kBeginStatementSet:
      return Put("BEGIN STATEMENT SET");
    case StatementKind::kEndStatementSet:
      return Put("END");
    case StatementKind::kCreateTable:
      return WriteCreateTable(statement.As<CreateTable>());
    case StatementKind::kAlterTable:
      return WriteAlterTable(statement.As<AlterTable>());
    case StatementKind::kCreateView:
      return WriteCreateView(statement.As<CreateView>());
    case StatementKind::kCreateCatalog:
    case StatementKind::kAlterCatalog:
    case StatementKind::kDropCatalog:
    case StatementKind::kUseCatalog:
    case StatementKind::kCreateDatabase:
    case StatementKind::kAlterDatabase:
    case StatementKind::kDropDatabase:
    case StatementKind::kUseDatabase:
      return WriteCatalogStatement(statement);
    case StatementKind::kShow:
      return WriteShow(statement.As<ShowStatement>());
    case StatementKind::kDescribe:
      return WriteDescribe(statement.As<DescribeStatement>());
    case StatementKind::kExplain:
      return WriteExplain(statement.As<ExplainStatement>());
    case StatementKind::kUnsupported:
      return Put(statement.As<UnsupportedStatement>().text);
    case StatementKind::kStatementSet:
    case StatementKind::kDropTable:
    case StatementKind::kAlterView:
    case StatementKind::kDropView:
    case StatementKind::kSet:
    case StatementKind::kReset:
    case StatementKind::kStopJob:
    case StatementKind::kCompactTable:
    case StatementKind::kCleanTable:
      return WriteSmallStatement(statement);
  }
}

std::string ToSql(const Statement& statement) {
  SqlWriter writer;
  writer.Write(statement);
  return writer.Finish();
}

}  // namespace sluice::sql
