#include "common/nearest_name.h"

#include <algorithm>
#include <cctype>

namespace sluice {
namespace {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = std::tolower(static_cast<unsigned char>(a[i - 1])) ==
                        std::tolower(static_cast<unsigned char>(b[j - 1]));
      const size_t substitute = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> NearestName(std::string_view written,
                                       std::span<const std::string> known) {
  // Very long words come from hostile input: the distance is quadratic.
  if (written.empty() || written.size() > 200) return std::nullopt;
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(1, (written.size() + 1) / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(written, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = &candidate;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string DidYouMean(std::string_view written, std::span<const std::string> known) {
  const std::optional<std::string> nearest = NearestName(written, known);
  return nearest ? " Did you mean '" + *nearest + "'?" : std::string();
}

}  // namespace sluice
