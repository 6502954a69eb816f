#include "sets.h"

#include <array>
#include <string>

#include "random.h"

namespace sluice::bench {
namespace {

/// 2020-05-20 00:00:00.
constexpr int64_t kStartMs = 1'589'932'800'000;
constexpr int64_t kHourMs = 3'600'000;

/// Letters and digits from one random number for each ten of them.
std::string_view RandomText(RowRandom& random, size_t length, char* text) {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
  uint64_t bits = 0;
  for (size_t i = 0; i < length; ++i, bits >>= 6) {
    if (i % 10 == 0) bits = random.Next();
    text[i] = kLetters[bits & 63];
  }
  return {text, length};
}

void WriteOrder(RecordWriter& out, RowRandom& random, uint64_t row, int64_t time_ms) {
  char text[32];
  out.Begin();
  out.Integer("order_id", static_cast<int64_t>(row) + 1);
  out.Integer("user_id", static_cast<int64_t>(random.Below(100'000)) + 1);
  out.Scaled("amount", static_cast<int64_t>(random.Below(100'000)) + 1, 2);
  out.Text("note", RandomText(random, 20, text));
  out.Timestamp("ts", time_ms);
  out.End();
}

/// Orders of two days in no order of time: every batch has rows for all 48 hours.
void Order(RecordWriter& out, uint64_t seed, uint64_t row, uint64_t /*rows*/) {
  RowRandom random(seed, row);
  WriteOrder(out, random, row, kStartMs + static_cast<int64_t>(random.Below(48 * kHourMs)));
}

/// The same, but half of the rows fall into one hour, a quarter into the next, and so on.
void Skewed(RecordWriter& out, uint64_t seed, uint64_t row, uint64_t /*rows*/) {
  RowRandom random(seed, row);
  int64_t hour = 0;
  for (uint64_t bits = random.Next(); hour < 47 && (bits & 1) != 0; bits >>= 1) ++hour;
  WriteOrder(out, random, row,
             kStartMs + hour * kHourMs + static_cast<int64_t>(random.Below(kHourMs)));
}

/// Bids as Nexmark's generator shapes them: hot auctions and bidders, four known channels, a URL
/// and filling up to about 100 bytes; the time goes on by a day over the set.
void Bid(RecordWriter& out, uint64_t seed, uint64_t row, uint64_t rows) {
  constexpr std::array<std::string_view, 4> kChannels = {"Google", "Facebook", "Baidu", "Apple"};
  RowRandom random(seed, row);
  char text[96];
  const uint64_t recent = row / 15 + 1000;
  out.Begin();
  out.Integer("auction", static_cast<int64_t>(random.OneIn(2) ? recent / 100 * 100
                                                              : recent - random.Below(100)));
  out.Integer("bidder", static_cast<int64_t>(random.OneIn(4) ? recent - random.Below(1000)
                                                             : recent / 100 * 100 + 1));
  out.Integer("price", static_cast<int64_t>(100 + random.Below(10'000'000)));
  const bool known = random.OneIn(2);
  const uint64_t channel = random.Below(known ? 4 : 10'000);
  out.Text("channel",
           known ? std::string(kChannels[channel]) : "channel-" + std::to_string(channel));
  std::string url = "https://www.nexmark.com/";
  url += RandomText(random, 5, text);
  ((url += '/') += RandomText(random, 5, text)) += "/item.htm?query=1";
  if (!known) url += "&channel_id=" + std::to_string(channel);
  out.Text("url", url);
  out.Timestamp("date_time", kStartMs + static_cast<int64_t>(row * (24 * kHourMs) / rows));
  out.Text("extra", RandomText(random, 20 + random.Below(30), text));
  out.End();
}

/// Writes a value or, one time in `null_in`, NULL.
template <typename Write>
void Maybe(RecordWriter& out, RowRandom& random, uint64_t null_in, std::string_view name,
           const Write& write) {
  if (random.OneIn(null_in)) {
    out.Null(name);
  } else {
    write();
  }
}

/// Twenty columns of all common types, most of them with NULLs.
void Wide(RecordWriter& out, uint64_t seed, uint64_t row, uint64_t /*rows*/) {
  RowRandom random(seed, row);
  char text[64];
  const auto number = [&](std::string_view name, uint64_t null_in, uint64_t bound) {
    Maybe(out, random, null_in, name, [&] {
      out.Integer(name,
                  static_cast<int64_t>(random.Below(bound)) - static_cast<int64_t>(bound / 2));
    });
  };
  const auto scaled = [&](std::string_view name, uint64_t null_in, uint64_t bound, int digits) {
    Maybe(out, random, null_in, name,
          [&] { out.Scaled(name, static_cast<int64_t>(random.Below(bound)), digits); });
  };
  const auto code = [&](std::string_view name, uint64_t null_in, uint64_t distinct) {
    Maybe(out, random, null_in, name,
          [&] { out.Text(name, "code_" + std::to_string(random.Below(distinct))); });
  };
  const auto words = [&](std::string_view name, uint64_t null_in, uint64_t most) {
    Maybe(out, random, null_in, name,
          [&] { out.Text(name, RandomText(random, 1 + random.Below(most), text)); });
  };
  const auto flag = [&](std::string_view name, uint64_t null_in) {
    Maybe(out, random, null_in, name, [&] { out.Boolean(name, random.OneIn(2)); });
  };
  const auto time = [&](std::string_view name, uint64_t null_in) {
    Maybe(out, random, null_in, name, [&] {
      out.Timestamp(name, kStartMs + static_cast<int64_t>(random.Below(48 * kHourMs)));
    });
  };
  out.Begin();
  out.Integer("id", static_cast<int64_t>(row));
  number("i1", 10, 200);
  number("i2", 10, 60'000);
  number("i3", 5, 2'000'000'000);
  number("l1", 5, 4'000'000'000);
  number("l2", 2, 1000);
  scaled("d1", 10, 1'000'000, 2);
  scaled("d2", 5, 4'000'000'000, 6);
  scaled("m1", 10, 100'000'000, 2);
  scaled("m2", 3, 4'000'000'000, 4);
  code("s1", 10, 5);
  code("s2", 10, 1000);
  code("s3", 10, 1'000'000);
  words("s4", 5, 12);
  words("s5", 2, 60);
  flag("b1", 100);
  flag("b2", 2);
  Maybe(out, random, 10, "day",
        [&] { out.Date("day", static_cast<int64_t>(18'000 + random.Below(1000))); });
  time("t1", 10);
  out.Timestamp("t2", kStartMs + static_cast<int64_t>(random.Below(48 * kHourMs)));
  out.End();
}

constexpr std::array<DataSet, 4> kSets = {
    {{"orders", &Order}, {"skew", &Skewed}, {"bids", &Bid}, {"wide", &Wide}}};

}  // namespace

std::span<const DataSet> DataSets() { return kSets; }

}  // namespace sluice::bench
