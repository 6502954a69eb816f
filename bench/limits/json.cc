// What reading JSON lines of the set `orders` costs at least: limit_json FILE... walks them with
// simdjson on demand and takes the five fields in the order in which they stand.
#include <string_view>

#include <simdjson.h>

#include "limit.h"

namespace {

/// Reads the fields of all documents; returns their count, 0 when one is not as expected.
double Walk(simdjson::ondemand::parser& parser, const std::string& bytes, uint64_t* sum) {
  double rows = 0;
  simdjson::ondemand::document_stream documents;
  if (parser.iterate_many(bytes.data(), bytes.size(), size_t{1} << 20).get(documents) !=
      simdjson::SUCCESS) {
    return 0;
  }
  for (auto document : documents) {
    simdjson::ondemand::object object;
    int64_t order_id = 0;
    int64_t user_id = 0;
    double amount = 0;
    std::string_view note;
    std::string_view time;
    if (document.get_object().get(object) != simdjson::SUCCESS ||
        object.find_field("order_id").get(order_id) != simdjson::SUCCESS ||
        object.find_field("user_id").get(user_id) != simdjson::SUCCESS ||
        object.find_field("amount").get(amount) != simdjson::SUCCESS ||
        object.find_field("note").get(note) != simdjson::SUCCESS ||
        object.find_field("ts").get(time) != simdjson::SUCCESS) {
      return 0;
    }
    *sum += static_cast<uint64_t>(order_id + user_id) + note.size() + time.size() +
            (amount > 0 ? 1U : 0U);
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
      std::fprintf(stderr, "%s does not hold orders as JSON lines\n", argv[i]);
      return 1;
    }
    rows += found;
  }
  sluice::bench::Report("json walk", "rows", rows, watch);
  return sum == 0 ? 1 : 0;
}
