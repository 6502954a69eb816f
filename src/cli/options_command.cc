#include "cli/options_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "common/nearest_name.h"
#include "common/options.h"
#include "connectors/all_connectors.h"
#include "engine/definition/config_keys.h"
#include "formats/all_formats.h"

namespace sluice::cli {

namespace {

constexpr std::string_view kSession = "session";
/// Their defaults depend on the machine: the page must not.
constexpr std::array<std::string_view, 2> kOfTheMachine = {"parallelism.default",
                                                           "sluice.memory.limit"};

struct Line {
  std::string key, type, default_text, doc;
};

struct Section {
  std::string name, title;
  std::vector<Line> lines;
};

std::string TypeText(const OptionSpec& spec) {
  switch (spec.type) {
    case OptionType::kString:
      return "text";
    case OptionType::kBoolean:
      return "boolean";
    case OptionType::kInt:
    case OptionType::kLong:
      return "integer";
    case OptionType::kDouble:
      return "number";
    case OptionType::kDuration:
      return "duration";
    case OptionType::kMemorySize:
      return "memory size";
    case OptionType::kList:
      return "list";
    case OptionType::kEnum:
      break;
  }
  std::string text;
  for (const std::string_view value : spec.allowed) {
    text += (text.empty() ? "" : ", ") + std::string(value);
  }
  return text;
}

std::string DefaultText(const OptionSpec& spec) {
  if (spec.required) return "(required)";
  if (std::ranges::find(kOfTheMachine, spec.key) != kOfTheMachine.end()) return "(by machine)";
  return std::string(spec.default_text);
}

Section MakeSection(std::string_view name, std::string title, std::string_view prefix,
                    std::span<const OptionSpec> specs) {
  Section section{std::string(name), std::move(title), {}};
  for (const OptionSpec& spec : specs) {
    section.lines.push_back({std::string(prefix) + std::string(spec.key), TypeText(spec),
                             DefaultText(spec), std::string(spec.doc)});
  }
  return section;
}

std::vector<Section> AllSections() {
  std::vector<Section> sections;
  sections.push_back(MakeSection("table", "Every table", "", connectors::GenericTableOptions()));
  for (const connectors::Connector* connector : connectors::AllConnectors()) {
    const std::string name(connector->name);
    sections.push_back(MakeSection(name, "Connector " + name, "", connector->options));
  }
  for (const formats::Format* format : formats::AllFormats()) {
    const std::string name(format->name);
    sections.push_back(MakeSection(name, "Format " + name, name + ".", format->options));
  }
  sections.push_back(MakeSection(kSession, "Session: SET 'key' = 'value' or -D key=value", "",
                                 engine::ConfigKeys()));
  return sections;
}

/// A section by its name whole, else the lines whose key begins with `name`.
std::vector<Section> Select(const std::vector<Section>& all, std::string_view name) {
  std::vector<Section> selected;
  for (const Section& section : all) {
    if (section.name == name) return {section};
    Section part{section.name, section.title, {}};
    std::ranges::copy_if(section.lines, std::back_inserter(part.lines),
                         [&](const Line& line) { return line.key.starts_with(name); });
    if (!part.lines.empty()) selected.push_back(std::move(part));
  }
  return selected;
}

int RefuseName(const std::vector<Section>& all, const std::string& name) {
  std::vector<std::string> known;
  for (const Section& section : all) {
    known.push_back(section.name);
    for (const Line& line : section.lines) known.push_back(line.key);
  }
  std::fprintf(stderr, "sluice options: nothing is called '%s'.%s\n", name.c_str(),
               DidYouMean(name, known).c_str());
  return 1;
}

/// One line of a Markdown table: bars and line breaks would end the cell, angle brackets would be
/// taken for tags.
std::string MarkdownCell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') {
      cell += "\\|";
    } else if (c == '<') {
      cell += "&lt;";
    } else {
      cell += c == '\n' ? ' ' : c;
    }
  }
  return cell;
}

std::string Code(std::string_view text) {
  return text.empty() ? std::string() : "`" + MarkdownCell(text) + "`";
}

void PrintMarkdown(const std::vector<Section>& sections) {
  std::printf(
      "# Options\n\nWritten by `sluice options --markdown` from the lists that check what you "
      "write; `sluice options NAME` shows a part in the terminal.\nA key ending in `*` stands for "
      "all keys that begin so. Durations: `10 s`, `5 min`, `1 d`; memory sizes: `64 kb`, `128 mb`, "
      "`1 gb`.\n");
  for (const Section& section : sections) {
    if (section.lines.empty()) continue;
    std::printf("\n## %s\n\n| option | type or values | default | meaning |\n|---|---|---|---|\n",
                section.title.c_str());
    for (const Line& line : section.lines) {
      std::printf("| %s | %s | %s | %s |\n", Code(line.key).c_str(),
                  MarkdownCell(line.type).c_str(), Code(line.default_text).c_str(),
                  MarkdownCell(line.doc).c_str());
    }
  }
}

/// For reading in a terminal: the key, what it takes, and its meaning below it.
void PrintText(const std::vector<Section>& sections) {
  bool first = true;
  for (const Section& section : sections) {
    if (section.lines.empty()) continue;
    std::printf("%s%s\n", first ? "" : "\n", section.title.c_str());
    first = false;
    for (const Line& line : section.lines) {
      std::printf("  %s  [%s%s%s]\n      %s\n", line.key.c_str(), line.type.c_str(),
                  line.default_text.empty() ? "" : "; ", line.default_text.c_str(),
                  line.doc.c_str());
    }
  }
}

engine::TextTable ToTable(const std::vector<Section>& sections) {
  engine::TextTable table;
  table.columns = {"of", "option", "type or values", "default", "meaning"};
  for (const Section& section : sections) {
    for (const Line& line : section.lines) {
      table.rows.push_back({section.name, line.key, line.type, line.default_text, line.doc});
    }
  }
  return table;
}

}  // namespace

int PrintOptions(const OptionsArguments& arguments) {
  const std::vector<Section> all = AllSections();
  std::vector<Section> sections = arguments.names.empty() ? all : std::vector<Section>();
  for (const std::string& name : arguments.names) {
    const std::vector<Section> selected = Select(all, name);
    if (selected.empty()) return RefuseName(all, name);
    sections.insert(sections.end(), selected.begin(), selected.end());
  }
  if (arguments.markdown) {
    PrintMarkdown(sections);
  } else if (arguments.output == OutputFormat::kTable) {
    PrintText(sections);
  } else {
    PrintTextTable(arguments.output, ToTable(sections), stdout);
  }
  return 0;
}

}  // namespace sluice::cli
