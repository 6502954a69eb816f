#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "corpus.h"

namespace sluice::fuzz {
namespace {

// Values at which formats and lengths turn over.
constexpr std::array<uint8_t, 16> kBytes = {0,    1,   9,   10,  13,  32,  '"',  '\'',
                                            '\\', ',', '{', '}', '[', ']', 0x7F, 0xFF};

uint8_t HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint8_t>(c - '0');
  return static_cast<uint8_t>((c | 0x20) - 'a' + 10);
}

Input Unescape(const std::string& text) {
  Input bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x') {
      bytes.push_back(static_cast<uint8_t>(HexDigit(text[i + 2]) << 4 | HexDigit(text[i + 3])));
      i += 3;
      continue;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    bytes.push_back(static_cast<uint8_t>(text[i]));
  }
  return bytes;
}

}  // namespace

Input ReadInput(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(file), {});
}

void WriteInput(const std::string& path, const Input& input) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
}

std::vector<std::string> ListInputs(const std::string& path) {
  std::vector<std::string> found;
  if (std::filesystem::is_regular_file(path)) return {path};
  if (!std::filesystem::is_directory(path)) return {};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Input> ReadDictionary(const std::string& path) {
  std::vector<Input> tokens;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t open = line.find('"');
    const size_t close = line.rfind('"');
    if (line.empty() || line[0] == '#' || open == std::string::npos || close <= open) continue;
    tokens.push_back(Unescape(line.substr(open + 1, close - open - 1)));
  }
  return tokens;
}

Input Mutator::Mutate(const Input& input, const Input& other) {
  Input changed = input;
  for (size_t left = 1 + Below(Below(2) == 0 ? 2 : 8); left > 0; --left) MutateOnce(changed, other);
  // Long inputs cost time and find little more than short ones: most of them grow no further. What
  // is too much goes anywhere but at the end, from where containers are read.
  const size_t most = std::min(max_bytes_, std::max(input.size(), size_t{64} << Below(7)));
  if (changed.size() > most) {
    const auto from = changed.begin() + static_cast<ptrdiff_t>(Below(most));
    changed.erase(from, from + static_cast<ptrdiff_t>(changed.size() - most));
  }
  return changed;
}

void Mutator::MutateOnce(Input& input, const Input& other) {
  switch (Below(8)) {
    case 0:
    case 1:
      return ChangeBytes(input);
    case 2:
    case 3:
      return ChangeLength(input);
    case 4:
    case 5:
      return InsertToken(input);
    case 6:
      return InsertNumber(input);
    default:
      return Splice(input, other);
  }
}

void Mutator::ChangeBytes(Input& input) {
  if (input.empty()) return input.push_back(static_cast<uint8_t>(Below(256)));
  uint8_t& byte = input[Below(input.size())];
  switch (Below(4)) {
    case 0:
      byte ^= static_cast<uint8_t>(1u << Below(8));
      break;
    case 1:
      byte = static_cast<uint8_t>(Below(256));
      break;
    case 2:
      byte = kBytes[Below(kBytes.size())];
      break;
    default:
      byte = static_cast<uint8_t>(byte + Below(2) * 2 - 1);
  }
}

void Mutator::ChangeLength(Input& input) {
  if (input.empty()) return;
  const size_t from = Below(input.size());
  const size_t count = std::min(input.size() - from, 1 + Below(Below(4) == 0 ? input.size() : 16));
  const auto begin = input.begin() + static_cast<ptrdiff_t>(from);
  if (Below(2) == 0) {
    input.erase(begin, begin + static_cast<ptrdiff_t>(count));
    return;
  }
  // Repeating a part finds limits on nesting and on counts.
  const Input part(begin, begin + static_cast<ptrdiff_t>(count));
  const size_t times = Below(8) == 0 ? 1 + Below(200) : 1;
  for (size_t i = 0; i < times && input.size() < max_bytes_; ++i) {
    input.insert(input.begin() + static_cast<ptrdiff_t>(from), part.begin(), part.end());
  }
}

void Mutator::InsertToken(Input& input) {
  if (dictionary_.empty()) return ChangeBytes(input);
  const Input& token = dictionary_[Below(dictionary_.size())];
  Insert(input, token.data(), token.size(), Below(3) == 0);
}

void Mutator::InsertNumber(Input& input) {
  uint64_t number = Coverage::RecentConstant(Below(256)) + Below(3) - 1;
  if (Below(4) == 0) number = uint64_t{1} << Below(64);
  if (Below(2) == 0) {
    const std::string text = std::to_string(static_cast<int64_t>(number));
    return Insert(input, reinterpret_cast<const uint8_t*>(text.data()), text.size(), Below(2) == 0);
  }
  std::array<uint8_t, 8> bytes;
  const size_t width = size_t{1} << Below(4);
  const bool big_endian = Below(2) == 0;
  for (size_t i = 0; i < width; ++i) {
    const size_t shift = 8 * (big_endian ? width - 1 - i : i);
    bytes[i] = static_cast<uint8_t>(number >> shift);
  }
  Insert(input, bytes.data(), width, Below(2) == 0);
}

void Mutator::Splice(Input& input, const Input& other) {
  if (other.empty()) return;
  const size_t from = Below(other.size());
  const size_t count = 1 + Below(other.size() - from);
  Insert(input, other.data() + from, count, Below(2) == 0);
}

void Mutator::Insert(Input& input, const uint8_t* bytes, size_t count, bool overwrite) {
  const size_t at = Below(input.size() + 1);
  if (overwrite) {
    const size_t room = std::min(count, input.size() - at);
    std::copy_n(bytes, room, input.begin() + static_cast<ptrdiff_t>(at));
    return;
  }
  input.insert(input.begin() + static_cast<ptrdiff_t>(at), bytes, bytes + count);
}

}  // namespace sluice::fuzz
