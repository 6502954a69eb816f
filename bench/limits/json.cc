// What reading JSON lines of the sets `orders` or `bids` costs at least: limit_json FILE... walks
// them with simdjson on demand and takes the fields of a job in the order in which they stand.
#include <string_view>
#include <type_traits>
#include <vector>

#include <simdjson.h>

#include "limit.h"

namespace {

/// The fields of a set that a job takes, each group in the order in which it stands in a line.
struct Fields {
  std::vector<std::string_view> integers;
  std::vector<std::string_view> doubles;
  std::vector<std::string_view> texts;
};

const Fields kOrders{{"order_id", "user_id"}, {"amount"}, {"note", "ts"}};
const Fields kBids{{"auction", "bidder", "price"}, {}, {"date_time", "extra"}};  // Nexmark q10.

template <typename T>
bool Take(simdjson::ondemand::object& object, const std::vector<std::string_view>& names,
          uint64_t* sum) {
  for (const std::string_view name : names) {
    T value;
    if (object.find_field(name).get(value) != simdjson::SUCCESS) return false;
    if constexpr (std::is_same_v<T, std::string_view>) {
      *sum += value.size();
    } else {
      *sum += static_cast<uint64_t>(value);
    }
  }
  return true;
}

/// Reads the fields of all documents; returns their count, 0 when one is not as expected.
double Walk(simdjson::ondemand::parser& parser, const std::string& bytes, uint64_t* sum) {
  const std::string_view first_line(bytes.data(), bytes.find('\n'));
  const Fields& fields = first_line.find("auction") == std::string_view::npos ? kOrders : kBids;
  double rows = 0;
  simdjson::ondemand::document_stream documents;
  if (parser.iterate_many(bytes.data(), bytes.size(), size_t{1} << 20).get(documents) !=
      simdjson::SUCCESS) {
    return 0;
  }
  for (auto document : documents) {
    simdjson::ondemand::object object;
    if (document.get_object().get(object) != simdjson::SUCCESS ||
        !Take<int64_t>(object, fields.integers, sum) ||
        !Take<double>(object, fields.doubles, sum) ||
        !Take<std::string_view>(object, fields.texts, sum)) {
      return 0;
    }
    ++rows;
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  simdjson::ondemand::parser parser;
  uint64_t sum = 0;
  double rows = 0;
  const sluice::bench::Stopwatch watch;
  for (int i = 1; i < argc; ++i) {
    const std::string bytes = sluice::bench::ReadWhole(argv[i], simdjson::SIMDJSON_PADDING);
    const double found = Walk(parser, bytes, &sum);
    if (found == 0) {
      std::fprintf(stderr, "%s holds neither orders nor bids as JSON lines\n", argv[i]);
      return 1;
    }
    rows += found;
  }
  sluice::bench::Report("json walk", "rows", rows, watch);
  return sum == 0 ? 1 : 0;
}
