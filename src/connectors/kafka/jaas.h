// Reads `sasl.jaas.config`: one login module with its options, as Java clients take it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sluice::connectors::kafka {

struct JaasEntry {
  std::string module;  // The class as written, package and shading prefix included.
  std::map<std::string, std::string> options;

  /// Last part of the class name: "PlainLoginModule".
  std::string_view module_name() const;
};

/// Parses `<class> required|requisite|sufficient|optional name="value" … ;`. Messages never contain
/// values.
Result<JaasEntry> ParseJaasConfig(std::string_view text);

}  // namespace sluice::connectors::kafka
