// The box around results.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace sluice::cli {

/// Draws rows with fixed column widths, right-aligned.
class Box {
 public:
  Box(std::vector<int> widths, std::FILE* out) : widths_(std::move(widths)), out_(out) {}
  void Rule() const;
  void Row(const std::vector<std::string>& cells) const;

 private:
  std::vector<int> widths_;
  std::FILE* out_;
};

}  // namespace sluice::cli
