// The printers behind result_printer.h, one a format.
#pragma once

#include "cli/output/result_printer.h"

namespace sluice::cli {

std::unique_ptr<ResultPrinter> MakeTablePrinter(ResultHeader header, std::FILE* out);
std::unique_ptr<ResultPrinter> MakeCsvPrinter(ResultHeader header, std::FILE* out);
std::unique_ptr<ResultPrinter> MakeJsonPrinter(ResultHeader header, std::FILE* out);

void PrintTextBox(const engine::TextTable& table, std::FILE* out);
void PrintTextCsv(const engine::TextTable& table, std::FILE* out);
void PrintTextJson(const engine::TextTable& table, std::FILE* out);

}  // namespace sluice::cli
