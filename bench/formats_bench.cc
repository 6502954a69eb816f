// Decoding and encoding of csv, json and avro on generated orders, beside what bounds them on the
// same machine in the same run: memcpy, simdjson's own walk over the three fields, and Arrow's csv
// reader and writer (one thread), which are pyarrow's. SLUICE_BENCH_AVRO_FILE names a file that the
// avro benchmarks leave their container in, for peers to read.
#include <cstdlib>
#include <fstream>
#include <random>

#include <arrow/csv/api.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include "formats/avro/avro_format.h"
#include "formats/csv/csv_format.h"
#include "formats/json/json_format.h"
#include "formats/testing/render.h"

namespace sluice::formats {
namespace {

constexpr int kRows = 100'000;
constexpr size_t kChunkBytes = 1 << 20;

Schema Orders() {
  return Schema({{"order_id", SqlType::Bigint()},
                 {"user_name", SqlType::String()},
                 {"amount", SqlType::Double()},
                 {"price", SqlType::Decimal(10, 2)},
                 {"order_time", SqlType::Timestamp(3)},
                 {"order_day", SqlType::Date()},
                 {"quantity", SqlType::Int()},
                 {"paid", SqlType::Boolean()}});
}

Schema ThreeFields() {
  return Schema({{"order_id", SqlType::Bigint()},
                 {"user_name", SqlType::String()},
                 {"amount", SqlType::Double()}});
}

struct Order {
  std::string fields[8];
};

std::vector<Order> MakeOrders() {
  std::mt19937_64 random(42);
  std::vector<Order> orders(kRows);
  for (int i = 0; i < kRows; ++i) {
    char text[64];
    Order& order = orders[static_cast<size_t>(i)];
    order.fields[0] = std::to_string(1'000'000'000 + static_cast<int64_t>(random() % 900'000'000));
    order.fields[1] = "user_" + std::to_string(random() % 100'000);
    std::snprintf(text, sizeof(text), "%.2f", static_cast<double>(random() % 1'000'000) / 100);
    order.fields[2] = text;
    std::snprintf(text, sizeof(text), "%d.%02d", static_cast<int>(random() % 10'000),
                  static_cast<int>(random() % 100));
    order.fields[3] = text;
    std::snprintf(text, sizeof(text), "2020-05-%02d %02d:%02d:%02d.%03d",
                  static_cast<int>(1 + random() % 28), static_cast<int>(random() % 24),
                  static_cast<int>(random() % 60), static_cast<int>(random() % 60),
                  static_cast<int>(random() % 1000));
    order.fields[4] = text;
    std::snprintf(text, sizeof(text), "2020-%02d-%02d", static_cast<int>(1 + random() % 12),
                  static_cast<int>(1 + random() % 28));
    order.fields[5] = text;
    order.fields[6] = std::to_string(random() % 100);
    order.fields[7] = random() % 2 == 0 ? "true" : "false";
  }
  return orders;
}

std::string CsvText(int columns, bool quote_text) {
  std::string text;
  for (const Order& order : MakeOrders()) {
    for (int i = 0; i < columns; ++i) {
      if (i > 0) text += ',';
      const bool quoted = quote_text && (i == 1 || i == 4);
      text += quoted ? "\"" + order.fields[i] + "\"" : order.fields[i];
    }
    text += '\n';
  }
  return text;
}

std::string JsonText(int columns) {
  const Schema schema = Orders();
  std::string text;
  for (const Order& order : MakeOrders()) {
    for (int i = 0; i < columns; ++i) {
      const bool quoted = i == 1 || i == 4 || i == 5;
      text += (i > 0 ? ",\"" : "{\"") + schema.column(i).name + "\":";
      text += quoted ? "\"" + order.fields[i] + "\"" : order.fields[i];
    }
    text += "}\n";
  }
  return text;
}

/// The text in chunks that end at line ends, as the source hands them out.
std::vector<std::string_view> Chunks(std::string_view text) {
  std::vector<std::string_view> chunks;
  while (text.size() > kChunkBytes) {
    const size_t end = text.rfind('\n', kChunkBytes) + 1;
    chunks.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  chunks.push_back(text);
  return chunks;
}

void Report(benchmark::State& state, size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
  state.counters["rows"] = benchmark::Counter(static_cast<double>(state.iterations()) * kRows,
                                              benchmark::Counter::kIsRate);
}

void Decode(benchmark::State& state, const Format& format, const std::string& text,
            const Schema& schema, std::vector<int> projection) {
  ReadSchema read = testing::AllOf(schema);
  if (!projection.empty()) read.projection = std::move(projection);
  auto decoder = format.make_decoder(testing::Options(format, {}), read, {});
  const std::vector<std::string_view> chunks = Chunks(text);
  for (auto _ : state) {
    int64_t rows = 0;
    for (const std::string_view chunk : chunks) {
      const auto decoded = (*decoder)->DecodeChunk(chunk, false);
      if (!decoded.ok() || decoded->bad_count > 0) return state.SkipWithError("a record is bad");
      rows += decoded->rows.row_count();
    }
    if (rows != kRows) return state.SkipWithError("rows are missing");
  }
  Report(state, text.size());
}

std::vector<Batch> Batches(const Schema& schema, const std::string& csv) {
  auto decoder =
      kCsvFormat.make_decoder(testing::Options(kCsvFormat, {}), testing::AllOf(schema), {});
  std::vector<Batch> batches;
  for (const std::string_view chunk : Chunks(csv))
    batches.push_back((*decoder)->DecodeChunk(chunk, false)->rows);
  return batches;
}

void Encode(benchmark::State& state, const Format& format, const Schema& schema,
            const std::string& csv) {
  const std::vector<Batch> batches = Batches(schema, csv);
  auto encoder = format.make_encoder(testing::Options(format, {}), schema, Framing::kFile, {});
  std::string out;
  for (auto _ : state) {
    out.clear();
    for (const Batch& batch : batches) {
      if (!(*encoder)->Encode(batch, &out, nullptr).ok())
        return state.SkipWithError("cannot encode");
    }
    benchmark::DoNotOptimize(out.data());
  }
  Report(state, out.size());
}

void BM_Memcpy(benchmark::State& state) {
  const std::string text = CsvText(8, false);
  std::string copy(text.size(), ' ');
  for (auto _ : state) {
    std::memcpy(copy.data(), text.data(), text.size());
    benchmark::DoNotOptimize(copy.data());
  }
  Report(state, text.size());
}
BENCHMARK(BM_Memcpy);

void BM_CsvDecode8(benchmark::State& state) {
  Decode(state, kCsvFormat, CsvText(8, false), Orders(), {});
}
BENCHMARK(BM_CsvDecode8);
void BM_CsvDecode8Quoted(benchmark::State& state) {
  Decode(state, kCsvFormat, CsvText(8, true), Orders(), {});
}
BENCHMARK(BM_CsvDecode8Quoted);
void BM_CsvDecode2Of8(benchmark::State& state) {
  Decode(state, kCsvFormat, CsvText(8, false), Orders(), {0, 6});
}
BENCHMARK(BM_CsvDecode2Of8);
void BM_CsvDecode3(benchmark::State& state) {
  Decode(state, kCsvFormat, CsvText(3, false), ThreeFields(), {});
}
BENCHMARK(BM_CsvDecode3);

void BM_CsvFramer(benchmark::State& state, bool quoted) {
  const std::string text = CsvText(8, quoted);
  auto framer = kCsvFormat.make_framer(testing::Options(kCsvFormat, {}));
  for (auto _ : state) benchmark::DoNotOptimize((*framer)->CompletePrefix(text, false));
  Report(state, text.size());
}
BENCHMARK_CAPTURE(BM_CsvFramer, plain, false);
BENCHMARK_CAPTURE(BM_CsvFramer, quoted, true);

void BM_ArrowCsvRead(benchmark::State& state, int columns) {
  const std::string text = CsvText(columns, false);
  const Schema schema = columns == 8 ? Orders() : ThreeFields();
  auto convert = arrow::csv::ConvertOptions::Defaults();
  auto read = arrow::csv::ReadOptions::Defaults();
  read.use_threads = false;
  for (const Column& column : schema.columns()) {
    read.column_names.push_back(column.name);
    convert.column_types[column.name] = column.type.ToArrow();
  }
  for (auto _ : state) {
    auto input = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(text));
    auto reader = arrow::csv::TableReader::Make(arrow::io::default_io_context(), input, read,
                                                arrow::csv::ParseOptions::Defaults(), convert);
    auto table = (*reader)->Read();
    if (!table.ok()) return state.SkipWithError(table.status().ToString().c_str());
    benchmark::DoNotOptimize(*table);
  }
  Report(state, text.size());
}
BENCHMARK_CAPTURE(BM_ArrowCsvRead, 8, 8);
BENCHMARK_CAPTURE(BM_ArrowCsvRead, 3, 3);

void BM_JsonDecode8(benchmark::State& state) {
  Decode(state, kJsonFormat, JsonText(8), Orders(), {});
}
BENCHMARK(BM_JsonDecode8);
void BM_JsonDecode2Of8(benchmark::State& state) {
  Decode(state, kJsonFormat, JsonText(8), Orders(), {0, 6});
}
BENCHMARK(BM_JsonDecode2Of8);
void BM_JsonDecode3(benchmark::State& state) {
  Decode(state, kJsonFormat, JsonText(3), ThreeFields(), {});
}
BENCHMARK(BM_JsonDecode3);

void BM_JsonMessages3(benchmark::State& state) {
  const std::string text = JsonText(3);
  std::vector<std::string_view> messages;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    messages.emplace_back(text.data() + at, end - at);
    at = end + 1;
  }
  auto decoder = kJsonFormat.make_decoder(testing::Options(kJsonFormat, {}),
                                          testing::AllOf(ThreeFields()), {});
  for (auto _ : state) {
    for (size_t at = 0; at < messages.size(); at += 8192) {
      const auto some =
          std::span(messages).subspan(at, std::min<size_t>(8192, messages.size() - at));
      const auto decoded = (*decoder)->DecodeMessages(some);
      if (!decoded.ok() || decoded->bad_count > 0) return state.SkipWithError("a record is bad");
    }
  }
  Report(state, text.size());
}
BENCHMARK(BM_JsonMessages3);

/// What simdjson needs to find and convert the three fields, without keeping them.
void BM_SimdjsonWalk3(benchmark::State& state, int columns) {
  const simdjson::padded_string text(JsonText(columns));
  simdjson::ondemand::parser parser;
  for (auto _ : state) {
    int64_t sum = 0;
    simdjson::ondemand::document_stream stream;
    if (parser.iterate_many(text, kChunkBytes).get(stream) != simdjson::SUCCESS)
      return state.SkipWithError("simdjson");
    for (auto record : stream) {
      simdjson::ondemand::object object = record.get_object().value();
      sum += object.find_field("order_id").get_int64().value();
      sum += static_cast<int64_t>(object.find_field("user_name").get_string().value().size());
      sum += static_cast<int64_t>(object.find_field("amount").get_double().value());
    }
    benchmark::DoNotOptimize(sum);
  }
  Report(state, text.size());
}
BENCHMARK_CAPTURE(BM_SimdjsonWalk3, of3, 3);
BENCHMARK_CAPTURE(BM_SimdjsonWalk3, of8, 8);

void BM_CsvEncode8(benchmark::State& state) {
  Encode(state, kCsvFormat, Orders(), CsvText(8, false));
}
BENCHMARK(BM_CsvEncode8);
void BM_CsvEncode3(benchmark::State& state) {
  Encode(state, kCsvFormat, ThreeFields(), CsvText(3, false));
}
BENCHMARK(BM_CsvEncode3);
void BM_JsonEncode8(benchmark::State& state) {
  Encode(state, kJsonFormat, Orders(), CsvText(8, false));
}
BENCHMARK(BM_JsonEncode8);
void BM_JsonEncode3(benchmark::State& state) {
  Encode(state, kJsonFormat, ThreeFields(), CsvText(3, false));
}
BENCHMARK(BM_JsonEncode3);

std::shared_ptr<arrow::Buffer> AvroFile(const Schema& schema, const std::vector<Batch>& batches,
                                        const char* codec) {
  auto stream = arrow::io::BufferOutputStream::Create(16 << 20).ValueOrDie();
  const auto options = testing::Options(kAvroFormat, {{"codec", codec}});
  auto writer = kAvroFormat.make_bulk_writer(options, schema, stream, {});
  for (const Batch& batch : batches) {
    if (!(*writer)->Write(batch).ok()) std::abort();
  }
  if (!(*writer)->Finish().ok()) std::abort();
  return stream->Finish().ValueOrDie();
}

void BM_AvroDecode(benchmark::State& state, int columns, const char* codec,
                   std::vector<int> projection) {
  const Schema schema = columns == 8 ? Orders() : ThreeFields();
  const auto bytes = AvroFile(schema, Batches(schema, CsvText(columns, false)), codec);
  if (const char* path = std::getenv("SLUICE_BENCH_AVRO_FILE")) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  }
  ReadSchema read = testing::AllOf(schema);
  if (!projection.empty()) read.projection = std::move(projection);
  for (auto _ : state) {
    auto file = kAvroFormat.open_bulk_file(testing::Options(kAvroFormat, {}), read,
                                           std::make_shared<arrow::io::BufferReader>(bytes), {});
    int64_t count = 0;
    for (int part = 0; part < (*file)->part_count(); ++part) {
      auto rows = (*file)->ReadPart(part);
      while (true) {
        const auto batch = (*rows)->Next();
        if (!batch.ok()) return state.SkipWithError("cannot read");
        if (!*batch) break;
        count += (*batch)->row_count();
      }
    }
    if (count != kRows) return state.SkipWithError("rows are missing");
  }
  Report(state, static_cast<size_t>(bytes->size()));
}
BENCHMARK_CAPTURE(BM_AvroDecode, 3, 3, "null", {});
BENCHMARK_CAPTURE(BM_AvroDecode, 2of8, 8, "null", {0, 6});
BENCHMARK_CAPTURE(BM_AvroDecode, 8, 8, "null", {});
BENCHMARK_CAPTURE(BM_AvroDecode, 8_snappy, 8, "snappy", {});

void BM_AvroEncode(benchmark::State& state, int columns, const char* codec) {
  const Schema schema = columns == 8 ? Orders() : ThreeFields();
  const std::vector<Batch> batches = Batches(schema, CsvText(columns, false));
  size_t bytes = 0;
  for (auto _ : state) bytes = static_cast<size_t>(AvroFile(schema, batches, codec)->size());
  Report(state, bytes);
}
BENCHMARK_CAPTURE(BM_AvroEncode, 3, 3, "null");
BENCHMARK_CAPTURE(BM_AvroEncode, 8, 8, "null");
BENCHMARK_CAPTURE(BM_AvroEncode, 8_snappy, 8, "snappy");

void BM_AvroMessages3(benchmark::State& state) {
  auto encoder = kAvroFormat.make_encoder(testing::Options(kAvroFormat, {}), ThreeFields(),
                                          Framing::kMessage, {});
  std::string bytes;
  std::vector<size_t> ends;
  for (const Batch& batch : Batches(ThreeFields(), CsvText(3, false))) {
    if (!(*encoder)->Encode(batch, &bytes, &ends).ok()) return state.SkipWithError("cannot encode");
  }
  std::vector<std::string_view> messages;
  size_t begin = 0;
  for (const size_t end : ends) {
    messages.push_back(std::string_view(bytes).substr(begin, end - begin));
    begin = end;
  }
  auto decoder = kAvroFormat.make_decoder(testing::Options(kAvroFormat, {}),
                                          testing::AllOf(ThreeFields()), {});
  for (auto _ : state) {
    for (size_t at = 0; at < messages.size(); at += 8192) {
      const auto some =
          std::span(messages).subspan(at, std::min<size_t>(8192, messages.size() - at));
      const auto decoded = (*decoder)->DecodeMessages(some);
      if (!decoded.ok() || decoded->bad_count > 0) return state.SkipWithError("a record is bad");
    }
  }
  Report(state, bytes.size());
}
BENCHMARK(BM_AvroMessages3);

void BM_ArrowCsvWrite(benchmark::State& state, int columns) {
  const Schema schema = columns == 8 ? Orders() : ThreeFields();
  auto decoder =
      kCsvFormat.make_decoder(testing::Options(kCsvFormat, {}), testing::AllOf(schema), {});
  const std::string text = CsvText(columns, false);
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  for (const std::string_view chunk : Chunks(text))
    batches.push_back((*decoder)->DecodeChunk(chunk, false)->rows.rows());
  const auto table = arrow::Table::FromRecordBatches(batches).ValueOrDie();
  auto options = arrow::csv::WriteOptions::Defaults();
  options.include_header = false;
  size_t bytes = 0;
  for (auto _ : state) {
    auto out = arrow::io::BufferOutputStream::Create(16 << 20).ValueOrDie();
    if (!arrow::csv::WriteCSV(*table, options, out.get()).ok())
      return state.SkipWithError("cannot write");
    bytes = static_cast<size_t>((*out->Finish())->size());
  }
  Report(state, bytes);
}
BENCHMARK_CAPTURE(BM_ArrowCsvWrite, 8, 8);
BENCHMARK_CAPTURE(BM_ArrowCsvWrite, 3, 3);

}  // namespace
}  // namespace sluice::formats
