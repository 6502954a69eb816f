// The inputs that a fuzz run mutates, and the coverage that decides which are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace sluice::fuzz {

using Input = std::vector<uint8_t>;

/// Reads a file; empty when it cannot be read.
Input ReadInput(const std::string& path);
void WriteInput(const std::string& path, const Input& input);

/// Returns the files of a folder, or the path itself when it names a file. Sorted, so that a run
/// can be repeated.
std::vector<std::string> ListInputs(const std::string& path);

/// Reads a dictionary in the format of libFuzzer and AFL: lines such as name="token" with \\, \"
/// and \xNN escapes.
std::vector<Input> ReadDictionary(const std::string& path);

/// Changes inputs at random. Deterministic for a seed.
class Mutator {
 public:
  Mutator(uint64_t seed, size_t max_bytes, std::vector<Input> dictionary)
      : random_(seed), max_bytes_(max_bytes), dictionary_(std::move(dictionary)) {}

  /// Returns `input` after a few random changes, parts of `other` among them.
  Input Mutate(const Input& input, const Input& other);
  size_t Below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

 private:
  void MutateOnce(Input& input, const Input& other);
  void ChangeBytes(Input& input);
  void ChangeLength(Input& input);
  void InsertToken(Input& input);
  void InsertNumber(Input& input);
  void Splice(Input& input, const Input& other);
  void Insert(Input& input, const uint8_t* bytes, size_t count, bool overwrite);

  std::mt19937_64 random_;
  size_t max_bytes_;
  std::vector<Input> dictionary_;
};

/// What the instrumented code ran through since Reset(). The compiler's callbacks fill it; empty in
/// a build without them.
class Coverage {
 public:
  static void Reset();
  /// Adds what was run through since Reset() to all that was ever seen; returns how much of it was
  /// new.
  static size_t Merge();
  static size_t total();
  /// A constant that the code compared with lately, or 0: likely what a check wants to see.
  static uint64_t RecentConstant(size_t choice);
};

}  // namespace sluice::fuzz
