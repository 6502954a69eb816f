#include "engine/definition/state_folder.h"

#include <cstdlib>
#include <string_view>

namespace sluice::engine {

std::string StateFolder(const OptionMap& configuration) {
  if (const auto it = configuration.find("execution.checkpointing.dir");
      it != configuration.end() && !it->second.empty()) {
    const std::string_view scheme = "file://";
    return it->second.starts_with(scheme) ? it->second.substr(scheme.size()) : it->second;
  }
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != '\0')
    return std::string(state) + "/sluice";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr && *home != '\0' ? home : "/tmp") + "/.local/state/sluice";
}

}  // namespace sluice::engine
