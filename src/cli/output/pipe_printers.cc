// CSV (RFC 4180, header line, NULL empty, '' as "") and JSON lines, for pipes.
#include "cli/output/cell.h"
#include "cli/output/printers.h"

namespace sluice::cli {
namespace {

void AppendCsvField(std::string_view text, std::string* out) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    *out += text;
    return;
  }
  *out += '"';
  for (const char c : text) {
    *out += c;
    if (c == '"') *out += '"';
  }
  *out += '"';
}

void Write(const std::string& text, std::FILE* out) {
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

class CsvPrinter final : public ResultPrinter {
 public:
  CsvPrinter(ResultHeader header, std::FILE* out) : header_(std::move(header)), out_(out) {}

  void Begin() override {
    std::string line = header_.changelog ? "op" : "";
    for (const Column& column : header_.schema.columns()) {
      if (!line.empty()) line += ',';
      AppendCsvField(column.name, &line);
    }
    Write(line + "\n", out_);
  }

  void Rows(const Batch& batch) override {
    std::string text;
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      if (header_.changelog) text += RowKindText(batch.row_kind(row));
      for (int i = 0; i < header_.schema.column_count(); ++i) {
        if (i > 0 || header_.changelog) text += ',';
        const std::shared_ptr<arrow::Array> values = batch.column(i);
        if (values->IsNull(row)) continue;
        std::string cell;
        AppendCellText(header_.schema.column(i).type, *values, row, header_.zone, &cell);
        AppendCsvField(cell, &text);
      }
      text += '\n';
    }
    Write(text, out_);
  }

  void End(double, bool) override {}

 private:
  const ResultHeader header_;
  std::FILE* const out_;
};

class JsonPrinter final : public ResultPrinter {
 public:
  JsonPrinter(ResultHeader header, std::FILE* out) : header_(std::move(header)), out_(out) {}

  void Begin() override {}

  void Rows(const Batch& batch) override {
    std::string text;
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      text += '{';
      if (header_.changelog)
        text += "\"op\":\"" + std::string(RowKindText(batch.row_kind(row))) + "\"";
      for (int i = 0; i < header_.schema.column_count(); ++i) {
        if (i > 0 || header_.changelog) text += ',';
        AppendJsonString(header_.schema.column(i).name, &text);
        text += ':';
        AppendJson(header_.schema.column(i).type, *batch.column(i), row, header_.zone, &text);
      }
      text += "}\n";
    }
    Write(text, out_);
  }

  void End(double, bool) override {}

 private:
  const ResultHeader header_;
  std::FILE* const out_;
};

}  // namespace

std::unique_ptr<ResultPrinter> MakeCsvPrinter(ResultHeader header, std::FILE* out) {
  return std::make_unique<CsvPrinter>(std::move(header), out);
}

std::unique_ptr<ResultPrinter> MakeJsonPrinter(ResultHeader header, std::FILE* out) {
  return std::make_unique<JsonPrinter>(std::move(header), out);
}

void PrintTextCsv(const engine::TextTable& table, std::FILE* out) {
  std::string text;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (i > 0) text += ',';
    AppendCsvField(table.columns[i], &text);
  }
  text += '\n';
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      if (row[i]) AppendCsvField(*row[i], &text);
    }
    text += '\n';
  }
  Write(text, out);
}

void PrintTextJson(const engine::TextTable& table, std::FILE* out) {
  std::string text;
  for (const auto& row : table.rows) {
    text += '{';
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      AppendJsonString(table.columns[i], &text);
      text += ':';
      if (row[i]) {
        AppendJsonString(*row[i], &text);
      } else {
        text += "null";
      }
    }
    text += "}\n";
  }
  Write(text, out);
}

std::unique_ptr<ResultPrinter> MakeResultPrinter(OutputFormat format, ResultHeader header,
                                                 std::FILE* out) {
  switch (format) {
    case OutputFormat::kTable:
      return MakeTablePrinter(std::move(header), out);
    case OutputFormat::kCsv:
      return MakeCsvPrinter(std::move(header), out);
    case OutputFormat::kJson:
      return MakeJsonPrinter(std::move(header), out);
  }
  return nullptr;
}

void PrintTextTable(OutputFormat format, const engine::TextTable& table, std::FILE* out) {
  switch (format) {
    case OutputFormat::kTable:
      return PrintTextBox(table, out);
    case OutputFormat::kCsv:
      return PrintTextCsv(table, out);
    case OutputFormat::kJson:
      return PrintTextJson(table, out);
  }
}

}  // namespace sluice::cli
