// Decoding and encoding of every format on generated orders, on one thread, beside what bounds them
// on the same machine in the same run: memcpy, simdjson's own walk over the three fields, and
// Arrow's csv reader and writer, which are pyarrow's. `./dev bench formats` puts the figures beside
// other engines, which read the files that BM_WriteFiles leaves in the folder SLUICE_BENCH_FOLDER.
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
#include "formats/changelog/changelog_formats.h"
#include "formats/csv/csv_format.h"
#include "formats/json/json_format.h"
#include "formats/orc/orc_format.h"
#include "formats/parquet/parquet_format.h"
#include "formats/raw/raw_format.h"
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

const std::vector<Order>& MakeOrders() {
  static std::vector<Order> orders;
  if (!orders.empty()) return orders;
  std::mt19937_64 random(42);
  orders.resize(kRows);
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

void EncodeBatches(benchmark::State& state, const Format& format, const Schema& schema,
                   const std::vector<Batch>& batches) {
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

void Encode(benchmark::State& state, const Format& format, const Schema& schema,
            const std::string& csv) {
  EncodeBatches(state, format, schema, Batches(schema, csv));
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

std::shared_ptr<arrow::Buffer> BulkFileOf(const Format& format, const Schema& schema,
                                          const std::vector<Batch>& batches,
                                          const OptionMap& options) {
  auto stream = arrow::io::BufferOutputStream::Create(16 << 20).ValueOrDie();
  auto writer = format.make_bulk_writer(testing::Options(format, options), schema, stream, {});
  for (const Batch& batch : batches) {
    if (!(*writer)->Write(batch).ok()) std::abort();
  }
  if (!(*writer)->Finish().ok()) std::abort();
  return stream->Finish().ValueOrDie();
}

void ReadBulk(benchmark::State& state, const Format& format, const Schema& schema,
              const std::shared_ptr<arrow::Buffer>& bytes, std::vector<int> projection) {
  ReadSchema read = testing::AllOf(schema);
  if (!projection.empty()) read.projection = std::move(projection);
  for (auto _ : state) {
    auto file = format.open_bulk_file(testing::Options(format, {}), read,
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

void BM_BulkRead(benchmark::State& state, const Format* format, int columns, OptionMap options,
                 std::vector<int> projection) {
  const Schema schema = columns == 8 ? Orders() : ThreeFields();
  const auto bytes = BulkFileOf(*format, schema, Batches(schema, CsvText(columns, false)), options);
  ReadBulk(state, *format, schema, bytes, std::move(projection));
}
BENCHMARK_CAPTURE(BM_BulkRead, avro_3, &kAvroFormat, 3, {{"codec", "null"}}, {});
BENCHMARK_CAPTURE(BM_BulkRead, avro_2of8, &kAvroFormat, 8, {{"codec", "null"}}, {0, 6});
BENCHMARK_CAPTURE(BM_BulkRead, avro_8, &kAvroFormat, 8, {{"codec", "null"}}, {});
BENCHMARK_CAPTURE(BM_BulkRead, avro_8_snappy, &kAvroFormat, 8, {{"codec", "snappy"}}, {});
BENCHMARK_CAPTURE(BM_BulkRead, parquet_8, &kParquetFormat, 8, {}, {});
BENCHMARK_CAPTURE(BM_BulkRead, parquet_2of8, &kParquetFormat, 8, {}, {0, 6});
BENCHMARK_CAPTURE(BM_BulkRead, orc_8, &kOrcFormat, 8, {}, {});

void BM_BulkWrite(benchmark::State& state, const Format* format, int columns, OptionMap options) {
  const Schema schema = columns == 8 ? Orders() : ThreeFields();
  const std::vector<Batch> batches = Batches(schema, CsvText(columns, false));
  size_t bytes = 0;
  for (auto _ : state)
    bytes = static_cast<size_t>(BulkFileOf(*format, schema, batches, options)->size());
  Report(state, bytes);
}
BENCHMARK_CAPTURE(BM_BulkWrite, avro_3, &kAvroFormat, 3, {{"codec", "null"}});
BENCHMARK_CAPTURE(BM_BulkWrite, avro_8, &kAvroFormat, 8, {{"codec", "null"}});
BENCHMARK_CAPTURE(BM_BulkWrite, avro_8_snappy, &kAvroFormat, 8, {{"codec", "snappy"}});
BENCHMARK_CAPTURE(BM_BulkWrite, parquet_8, &kParquetFormat, 8, {});
BENCHMARK_CAPTURE(BM_BulkWrite, parquet_8_int64, &kParquetFormat, 8,
                  {{"write.int64.timestamp", "true"}});
BENCHMARK_CAPTURE(BM_BulkWrite, orc_8, &kOrcFormat, 8, {});

/// Text of a column alone, and the same rows as messages of a change stream.
void BM_TextDecode(benchmark::State& state, const Format* format, bool one_column) {
  const Schema schema = one_column ? Schema({{"user_name", SqlType::String()}}) : Orders();
  std::vector<Batch> batches = Batches(Orders(), CsvText(8, false));
  auto encoder = format->make_encoder(testing::Options(*format, {}), schema, Framing::kFile, {});
  std::string text;
  for (const Batch& batch : batches) {
    const Batch rows = one_column ? Batch(batch.rows()->SelectColumns({1}).ValueOrDie()) : batch;
    if (!(*encoder)->Encode(rows, &text, nullptr).ok()) return state.SkipWithError("cannot encode");
  }
  Decode(state, *format, text, schema, {});
}
BENCHMARK_CAPTURE(BM_TextDecode, raw, &kRawFormat, true);
BENCHMARK_CAPTURE(BM_TextDecode, debezium, &kDebeziumJsonFormat, false);
BENCHMARK_CAPTURE(BM_TextDecode, canal, &kCanalJsonFormat, false);

void BM_TextEncode(benchmark::State& state, const Format* format, bool one_column) {
  const Schema schema = one_column ? Schema({{"user_name", SqlType::String()}}) : Orders();
  std::vector<Batch> batches = Batches(Orders(), CsvText(8, false));
  if (one_column) {
    for (Batch& batch : batches) batch = Batch(batch.rows()->SelectColumns({1}).ValueOrDie());
  }
  EncodeBatches(state, *format, schema, batches);
}
BENCHMARK_CAPTURE(BM_TextEncode, raw, &kRawFormat, true);
BENCHMARK_CAPTURE(BM_TextEncode, debezium, &kDebeziumJsonFormat, false);

/// Not a measurement: the files that other engines read.
void BM_WriteFiles(benchmark::State& state) {
  const char* folder = std::getenv("SLUICE_BENCH_FOLDER");
  for (auto _ : state) {
    if (folder == nullptr) continue;
    const auto put = [folder](const char* name, std::string_view bytes) {
      std::ofstream(std::string(folder) + "/" + name, std::ios::binary) << bytes;
    };
    put("orders.csv", CsvText(8, false));
    put("orders.json", JsonText(8));
    const auto batches = Batches(Orders(), CsvText(8, false));
    const std::pair<const char*, const Format*> containers[] = {{"orders.avro", &kAvroFormat},
                                                                {"orders.parquet", &kParquetFormat},
                                                                {"orders.orc", &kOrcFormat}};
    for (const auto& [name, format] : containers) {
      const OptionMap options = format == &kAvroFormat ? OptionMap{{"codec", "null"}} : OptionMap{};
      put(name, std::string_view(*BulkFileOf(*format, Orders(), batches, options)));
    }
  }
}
BENCHMARK(BM_WriteFiles)->Iterations(1);

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
