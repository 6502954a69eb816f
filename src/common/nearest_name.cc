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

/// What stands before the last '.' and behind the last '.' or '-'.
struct KeyParts {
  explicit KeyParts(std::string_view key) {
    const size_t dot = key.rfind('.');
    if (dot != std::string_view::npos) prefix = key.substr(0, dot);
    last_word = key.substr(key.find_last_of(".-") + 1);
  }
  std::string_view prefix;
  std::string_view last_word;
};

const std::string* Shorter(const std::string* a, const std::string* b) {
  return a == nullptr || b->size() < a->size() ? b : a;
}

/// "csv.delimiter" and "csv.field-delimiter": the shortest such name, null when there is none.
const std::string* WithSameLastWord(std::string_view written, std::span<const std::string> known) {
  const KeyParts wanted(written);
  if (wanted.prefix.empty() || wanted.last_word.size() < 4) return nullptr;
  const std::string* best = nullptr;
  for (const std::string& candidate : known) {
    const KeyParts parts(candidate);
    const bool same = parts.prefix == wanted.prefix && parts.last_word == wanted.last_word;
    if (same) best = Shorter(best, &candidate);
  }
  return best;
}

/// "sink.partition-commit.policy" lacks the last part only: the shortest such name, null when there
/// is none.
const std::string* Longer(std::string_view written, std::span<const std::string> known) {
  const std::string* best = nullptr;
  for (const std::string& candidate : known) {
    const bool longer = candidate.size() > written.size() && candidate[written.size()] == '.' &&
                        std::string_view(candidate).starts_with(written);
    if (longer) best = Shorter(best, &candidate);
  }
  return best;
}

}  // namespace

std::optional<std::string> NearestName(std::string_view written,
                                       std::span<const std::string> known) {
  // Very long words come from hostile input: the distance is quadratic.
  if (written.empty() || written.size() > 200) return std::nullopt;
  const std::string* best = Longer(written, known);
  if (best != nullptr) return *best;
  size_t best_distance = std::max<size_t>(1, (written.size() + 1) / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(written, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = &candidate;
    }
  }
  if (best == nullptr) best = WithSameLastWord(written, known);
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string DidYouMean(std::string_view written, std::span<const std::string> known) {
  const std::optional<std::string> nearest = NearestName(written, known);
  return nearest ? " Did you mean '" + *nearest + "'?" : std::string();
}

}  // namespace sluice
