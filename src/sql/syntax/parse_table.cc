// CREATE TABLE and ALTER TABLE.
#include "sql/syntax/parser_impl.h"

namespace sluice::sql {

// Behind CREATE … TABLE.
Result<StatementPtr> Parser::ParseCreateTable(CreateMode mode, bool temporary) {
  auto create = New<CreateTable>();
  create->mode = mode;
  create->temporary = temporary;
  SLUICE_ASSIGN_OR_RETURN(create->if_not_exists, ParseIfNotExists());
  SLUICE_ASSIGN_OR_RETURN(create->table, ParsePath());
  if (tokens_.At("(")) SLUICE_RETURN_NOT_OK(ParseTableBody(create.get()));
  SLUICE_ASSIGN_OR_RETURN(create->comment, ParseOptionalComment());
  if (tokens_.At("DISTRIBUTED")) {
    SLUICE_ASSIGN_OR_RETURN(create->distribution, ParseDistribution());
  }
  if (tokens_.Accept("PARTITIONED")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("BY"));
    SLUICE_ASSIGN_OR_RETURN(create->partitioned_by, ParseNameList());
  }
  if (tokens_.Accept("WITH")) {
    create->has_with = true;
    SLUICE_ASSIGN_OR_RETURN(create->options, ParseOptions());
  }
  if (tokens_.Accept("LIKE")) {
    SLUICE_ASSIGN_OR_RETURN(create->like, ParseLikeClause());
  } else if (tokens_.Accept("AS")) {
    SLUICE_ASSIGN_OR_RETURN(create->query, ParseQuery());
  }
  if (create->query == nullptr && (!create->column_names.empty() || mode != CreateMode::kCreate)) {
    return tokens_.Fail();  // Only AS makes sense of bare names, and of REPLACE.
  }
  return create;
}

Status Parser::ParseTableBody(CreateTable* create) {
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  if (AtName() && (tokens_.PeekIs(1, ",") || tokens_.PeekIs(1, ")"))) {
    do {
      SLUICE_ASSIGN_OR_RETURN(Identifier name, ParseName());
      if (tokens_.At(",") || tokens_.At(")")) {
        create->column_names.push_back(std::move(name));
        continue;
      }
      return tokens_.Fail();  // Names only, or definitions only.
    } while (tokens_.Accept(","));
    return tokens_.Expect(")");
  }
  do {
    SLUICE_ASSIGN_OR_RETURN(TableElement element, ParseTableElement());
    create->elements.push_back(std::move(element));
  } while (tokens_.Accept(","));
  return tokens_.Expect(")");
}

Result<TableElement> Parser::ParseTableElement() {
  TableElement element;
  if (tokens_.Accept("WATERMARK")) {
    element.kind = ElementKind::kWatermark;
    SLUICE_ASSIGN_OR_RETURN(element.watermark, ParseWatermark());
    return element;
  }
  SLUICE_ASSIGN_OR_RETURN(std::optional<KeyConstraint> key, ParseKey(/*at_column=*/false));
  if (key) {
    element.kind = ElementKind::kPrimaryKey;
    element.primary_key = std::move(*key);
    return element;
  }
  SLUICE_ASSIGN_OR_RETURN(element.column, ParseColumn());
  return element;
}

// Behind WATERMARK.
Result<WatermarkDefinition> Parser::ParseWatermark() {
  const size_t first = tokens_.index() - 1;
  WatermarkDefinition watermark;
  SLUICE_RETURN_NOT_OK(tokens_.Expect("FOR"));
  SLUICE_ASSIGN_OR_RETURN(watermark.column, ParsePath());
  SLUICE_RETURN_NOT_OK(tokens_.Expect("AS"));
  SLUICE_ASSIGN_OR_RETURN(watermark.expression, ParseExpr());
  watermark.range = tokens_.Span(first);
  return watermark;
}

// [CONSTRAINT n] PRIMARY KEY | UNIQUE [(cols)] [[NOT] ENFORCED]; none when no key begins here.
Result<std::optional<KeyConstraint>> Parser::ParseKey(bool at_column) {
  const size_t first = tokens_.index();
  KeyConstraint key;
  if (tokens_.Accept("CONSTRAINT")) {
    SLUICE_ASSIGN_OR_RETURN(key.name, ParseName());
  }
  if (tokens_.Accept("PRIMARY")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("KEY"));
  } else if (tokens_.Accept("UNIQUE")) {
    key.unique = true;
  } else if (key.name) {
    return tokens_.Fail();
  } else {
    return std::optional<KeyConstraint>();
  }
  if (!at_column) {
    SLUICE_ASSIGN_OR_RETURN(key.columns, ParseNameList());
  }
  if (tokens_.Accept("NOT")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("ENFORCED"));
    key.enforced = false;
  } else {
    tokens_.Accept("ENFORCED");
  }
  key.range = tokens_.Span(first);
  return std::optional(std::move(key));
}

Result<ColumnDefinition> Parser::ParseColumn() {
  const size_t first = tokens_.index();
  ColumnDefinition column;
  SLUICE_ASSIGN_OR_RETURN(column.name, ParseName());
  if (tokens_.Accept("AS")) {
    column.kind = ColumnKind::kComputed;
    SLUICE_ASSIGN_OR_RETURN(column.computed, ParseExpr());
  } else {
    SLUICE_ASSIGN_OR_RETURN(column.type, ParseType(/*allow_nullability=*/true));
    SLUICE_RETURN_NOT_OK(ParseColumnRest(&column));
  }
  SLUICE_ASSIGN_OR_RETURN(column.comment, ParseOptionalComment());
  column.range = tokens_.Span(first);
  return column;
}

Status Parser::ParseColumnRest(ColumnDefinition* column) {
  if (tokens_.Accept("METADATA")) {
    column->kind = ColumnKind::kMetadata;
    if (tokens_.Accept("FROM")) {
      SLUICE_ASSIGN_OR_RETURN(column->metadata_key, ParseString());
    }
    column->is_virtual = tokens_.Accept("VIRTUAL");
    return {};
  }
  SLUICE_ASSIGN_OR_RETURN(column->primary_key, ParseKey(/*at_column=*/true));
  return {};
}

// DISTRIBUTED BY [HASH|RANGE] (cols) [INTO n BUCKETS], DISTRIBUTED INTO n BUCKETS
Result<Distribution> Parser::ParseDistribution() {
  const size_t first = tokens_.index();
  SLUICE_RETURN_NOT_OK(tokens_.Expect("DISTRIBUTED"));
  Distribution distribution;
  const bool by = tokens_.Accept("BY");
  if (by) {
    for (std::string_view word : {"HASH", "RANGE"}) {
      if (distribution.algorithm.empty() && tokens_.Accept(word)) distribution.algorithm = word;
    }
    SLUICE_ASSIGN_OR_RETURN(distribution.columns, ParseNameList());
  }
  if (!by || tokens_.At("INTO")) {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("INTO"));
    SLUICE_ASSIGN_OR_RETURN(distribution.buckets, ParseInteger("<number>"));
    SLUICE_RETURN_NOT_OK(tokens_.Expect("BUCKETS"));
  }
  distribution.range = tokens_.Span(first);
  return distribution;
}

// Behind LIKE.
Result<LikeClause> Parser::ParseLikeClause() {
  const size_t first = tokens_.index() - 1;
  LikeClause like;
  SLUICE_ASSIGN_OR_RETURN(like.source, ParsePath());
  if (tokens_.Accept("(")) {
    while (!tokens_.At(")")) {
      SLUICE_ASSIGN_OR_RETURN(LikeOption option, ParseLikeOption());
      for (const LikeOption& other : like.options) {
        if (other.feature != option.feature) continue;
        return Status::ParseError(
            "SQL parse failed. Each like option feature can be declared only once.",
            option.range.begin);
      }
      like.options.push_back(option);
    }
    SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  }
  like.range = tokens_.Span(first);
  return like;
}

Result<LikeOption> Parser::ParseLikeOption() {
  const size_t first = tokens_.index();
  LikeOption option;
  if (tokens_.Accept("INCLUDING")) {
    option.merge = LikeMerge::kIncluding;
  } else if (tokens_.Accept("EXCLUDING")) {
    option.merge = LikeMerge::kExcluding;
  } else {
    SLUICE_RETURN_NOT_OK(tokens_.Expect("OVERWRITING"));
    option.merge = LikeMerge::kOverwriting;
  }
  const bool any = option.merge != LikeMerge::kOverwriting;
  if (any && tokens_.Accept("ALL")) {
    option.feature = LikeFeature::kAll;
  } else if (any && tokens_.Accept("CONSTRAINTS")) {
    option.feature = LikeFeature::kConstraints;
  } else if (any && tokens_.Accept("DISTRIBUTION")) {
    option.feature = LikeFeature::kDistribution;
  } else if (any && tokens_.Accept("PARTITIONS")) {
    option.feature = LikeFeature::kPartitions;
  } else if (tokens_.Accept("GENERATED")) {
    option.feature = LikeFeature::kGenerated;
  } else if (tokens_.Accept("METADATA")) {
    option.feature = LikeFeature::kMetadata;
  } else if (tokens_.Accept("OPTIONS")) {
    option.feature = LikeFeature::kOptions;
  } else if (tokens_.Accept("WATERMARKS")) {
    option.feature = LikeFeature::kWatermarks;
  } else {
    return tokens_.Fail();
  }
  option.range = tokens_.Span(first);
  return option;
}

// (k = literal, …)
Result<PartitionSpec> Parser::ParsePartitionSpec() {
  SLUICE_RETURN_NOT_OK(tokens_.Expect("("));
  PartitionSpec spec;
  do {
    PartitionEntry entry;
    SLUICE_ASSIGN_OR_RETURN(entry.name, ParseName());
    SLUICE_RETURN_NOT_OK(tokens_.Expect("="));
    tokens_.Note("<literal>");
    SLUICE_ASSIGN_OR_RETURN(entry.value, ParsePrefix());
    if (entry.value->kind != ExprKind::kLiteral) {
      return Status::ParseError("SQL parse failed. The value of partition column '" +
                                    entry.name.name + "' must be a literal.",
                                entry.value->range.begin);
    }
    spec.push_back(std::move(entry));
  } while (tokens_.Accept(","));
  SLUICE_RETURN_NOT_OK(tokens_.Expect(")"));
  return spec;
}

// Behind ALTER TABLE.
Result<StatementPtr> Parser::ParseAlterTable() {
  auto alter = New<AlterTable>();
  SLUICE_ASSIGN_OR_RETURN(alter->if_exists, ParseIfExists());
  SLUICE_ASSIGN_OR_RETURN(alter->table, ParsePath());
  SLUICE_RETURN_NOT_OK(ParseAlterAction(alter.get()));
  return alter;
}

Status Parser::ParseAlterAction(AlterTable* alter) {
  if (tokens_.Accept("RENAME")) return ParseAlterRename(alter);
  if (tokens_.Accept("SET")) {
    alter->action = AlterTableKind::kSetOptions;
    SLUICE_ASSIGN_OR_RETURN(alter->options, ParseOptions());
    return {};
  }
  if (tokens_.Accept("RESET")) {
    alter->action = AlterTableKind::kResetOptions;
    SLUICE_ASSIGN_OR_RETURN(alter->keys, ParseKeyList());
    return {};
  }
  if (tokens_.Accept("ADD")) return ParseAlterAdd(alter);
  if (tokens_.Accept("MODIFY")) return ParseAlterModify(alter);
  if (tokens_.Accept("DROP")) return ParseAlterDrop(alter);
  if (tokens_.PeekIs(0, "COMPACT")) {
    return tokens_.Unsupported("ALTER TABLE … COMPACT", tokens_.Peek().range);
  }
  if (tokens_.PeekIs(0, "PARTITION")) {
    return tokens_.Unsupported("ALTER TABLE … PARTITION", tokens_.Peek().range);
  }
  return tokens_.Fail();
}

Status Parser::ParseAlterRename(AlterTable* alter) {
  if (tokens_.Accept("TO")) {
    alter->action = AlterTableKind::kRenameTable;
    SLUICE_ASSIGN_OR_RETURN(alter->new_name, ParsePath());
    return {};
  }
  alter->action = AlterTableKind::kRenameColumn;
  SLUICE_ASSIGN_OR_RETURN(alter->column, ParsePath());
  SLUICE_RETURN_NOT_OK(tokens_.Expect("TO"));
  SLUICE_ASSIGN_OR_RETURN(alter->new_column, ParseName());
  return {};
}

Status Parser::ParseAlterAdd(AlterTable* alter) {
  if (tokens_.PeekIs(0, "DISTRIBUTION")) {
    return tokens_.Unsupported("ALTER TABLE … ADD DISTRIBUTION", tokens_.Peek().range);
  }
  SLUICE_ASSIGN_OR_RETURN(alter->partition_if, ParseIfNotExists());
  if (!alter->partition_if && !tokens_.At("PARTITION")) {
    alter->action = AlterTableKind::kAdd;
    return ParseAlterElements(alter);
  }
  alter->action = AlterTableKind::kAddPartitions;
  if (!tokens_.At("PARTITION")) return tokens_.Fail();
  while (tokens_.Accept("PARTITION")) {
    PartitionToAdd partition;
    SLUICE_ASSIGN_OR_RETURN(partition.spec, ParsePartitionSpec());
    if (tokens_.Accept("WITH")) {
      SLUICE_ASSIGN_OR_RETURN(partition.options, ParseOptions());
    }
    if (tokens_.PeekIs(0, "LOCATION")) {
      return tokens_.Unsupported("ADD PARTITION … LOCATION (the Hive dialect)",
                                 tokens_.Peek().range);
    }
    alter->partitions.push_back(std::move(partition));
  }
  return {};
}

Status Parser::ParseAlterModify(AlterTable* alter) {
  if (tokens_.PeekIs(0, "DISTRIBUTION")) {
    return tokens_.Unsupported("ALTER TABLE … MODIFY DISTRIBUTION", tokens_.Peek().range);
  }
  alter->action = AlterTableKind::kModify;
  return ParseAlterElements(alter);
}

Status Parser::ParseAlterElements(AlterTable* alter) {
  const bool list = tokens_.Accept("(");
  do {
    SLUICE_ASSIGN_OR_RETURN(TableElement element, ParseAlterElement());
    alter->elements.push_back(std::move(element));
  } while (list && tokens_.Accept(","));
  return list ? tokens_.Expect(")") : Status::OK();
}

Result<TableElement> Parser::ParseAlterElement() {
  SLUICE_ASSIGN_OR_RETURN(TableElement element, ParseTableElement());
  if (element.kind != ElementKind::kColumn) return element;
  if (tokens_.Accept("FIRST")) {
    element.column.position = PositionKind::kFirst;
  } else if (tokens_.Accept("AFTER")) {
    element.column.position = PositionKind::kAfter;
    SLUICE_ASSIGN_OR_RETURN(element.column.after, ParseName());
  }
  return element;
}

Status Parser::ParseAlterDrop(AlterTable* alter) {
  if (tokens_.PeekIs(0, "DISTRIBUTION")) {
    return tokens_.Unsupported("ALTER TABLE … DROP DISTRIBUTION", tokens_.Peek().range);
  }
  if (tokens_.Accept("PRIMARY")) {
    alter->action = AlterTableKind::kDropPrimaryKey;
    return tokens_.Expect("KEY");
  }
  if (tokens_.Accept("CONSTRAINT")) {
    alter->action = AlterTableKind::kDropConstraint;
    SLUICE_ASSIGN_OR_RETURN(alter->constraint, ParseName());
    return {};
  }
  if (tokens_.Accept("WATERMARK")) {
    alter->action = AlterTableKind::kDropWatermark;
    return {};
  }
  if (tokens_.PeekIs(0, "IF") && tokens_.PeekIs(1, "EXISTS")) {
    SLUICE_ASSIGN_OR_RETURN(alter->partition_if, ParseIfExists());
    if (!tokens_.At("PARTITION")) return tokens_.Fail();
  }
  if (tokens_.At("PARTITION")) {
    alter->action = AlterTableKind::kDropPartitions;
    do {
      SLUICE_RETURN_NOT_OK(tokens_.Expect("PARTITION"));
      PartitionToAdd partition;
      SLUICE_ASSIGN_OR_RETURN(partition.spec, ParsePartitionSpec());
      alter->partitions.push_back(std::move(partition));
    } while (tokens_.Accept(","));
    return {};
  }
  alter->action = AlterTableKind::kDropColumns;
  const bool list = tokens_.Accept("(");
  do {
    SLUICE_ASSIGN_OR_RETURN(NamePath column, ParsePath());
    alter->columns.push_back(std::move(column));
  } while (list && tokens_.Accept(","));
  return list ? tokens_.Expect(")") : Status::OK();
}

}  // namespace sluice::sql
