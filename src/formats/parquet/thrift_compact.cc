#include "formats/parquet/thrift_compact.h"

#include <algorithm>

#include "common/varint.h"

namespace sluice::formats::parquet_format {
namespace {

// Schemas are flat lists in a footer: real ones nest 6 deep.
constexpr int kDepthLimit = 32;

class Parser {
 public:
  explicit Parser(std::string_view bytes) : rest_(bytes) {}

  Status Struct(int depth, ThriftNode* node) {
    node->type = ThriftType::kStruct;
    int16_t id = 0;
    while (true) {
      const uint8_t header = Byte();
      if (!ok_ || depth > kDepthLimit) return Damaged();
      if (header == 0) return {};
      const int delta = header >> 4;
      id = static_cast<int16_t>(delta == 0 ? Signed() : id + delta);
      auto& [field_id, field] = node->fields.emplace_back();
      field_id = id;
      SLUICE_RETURN_NOT_OK(Value(header & 0x0F, false, depth, &field));
    }
  }

  std::string_view rest() const { return rest_; }

 private:
  static Status Damaged() { return Status::DataError("The Parquet footer is damaged."); }

  uint8_t Byte() {
    if (rest_.empty()) {
      ok_ = false;
      return 0;
    }
    const auto byte = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return byte;
  }

  uint64_t Varint() {
    uint64_t value = 0;
    if (ReadVarint(&rest_, &value) != VarintRead::kWhole) ok_ = false;
    return value;
  }
  int64_t Signed() { return FromZigzag(Varint()); }

  std::string Bytes(uint64_t length) {
    if (length > rest_.size()) {
      ok_ = false;
      return {};
    }
    std::string bytes(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return bytes;
  }

  Status List(int depth, ThriftNode* node) {
    const uint8_t header = Byte();
    uint64_t count = header >> 4;
    if (count == 15) count = Varint();
    node->item_type = static_cast<ThriftType>(header & 0x0F);
    if (!ok_ || count > rest_.size()) return Damaged();  // Each item takes at least one byte.
    // One by one: lists of lists that tell of too many items would take memory at every depth.
    for (uint64_t i = 0; i < count; ++i) {
      SLUICE_RETURN_NOT_OK(Value(header & 0x0F, true, depth + 1, &node->items.emplace_back()));
    }
    return {};
  }

  Status Map(int depth, ThriftNode* node) {
    const uint64_t count = Varint();
    if (!ok_ || count > rest_.size()) return Damaged();
    if (count == 0) return {};
    const uint8_t types = Byte();
    node->item_type = static_cast<ThriftType>(types >> 4);
    node->value_type = static_cast<ThriftType>(types & 0x0F);
    for (uint64_t i = 0; i < 2 * count; ++i) {
      const int type = i % 2 == 0 ? types >> 4 : types & 0x0F;
      SLUICE_RETURN_NOT_OK(Value(type, true, depth + 1, &node->items.emplace_back()));
    }
    return {};
  }

  Status Value(int type, bool in_list, int depth, ThriftNode* node) {
    if (type < 1 || type > 12 || depth > kDepthLimit) return Damaged();
    node->type = static_cast<ThriftType>(type);
    switch (node->type) {
      case ThriftType::kTrue:
      case ThriftType::kFalse:
        if (in_list) node->number = Byte();
        break;
      case ThriftType::kByte:
        node->number = Byte();
        break;
      case ThriftType::kI16:
      case ThriftType::kI32:
      case ThriftType::kI64:
        node->number = Signed();
        break;
      case ThriftType::kDouble:
        node->bytes = Bytes(8);
        break;
      case ThriftType::kBinary:
        node->bytes = Bytes(Varint());
        break;
      case ThriftType::kList:
      case ThriftType::kSet:
        return List(depth, node);
      case ThriftType::kMap:
        return Map(depth, node);
      case ThriftType::kStruct:
        return Struct(depth + 1, node);
    }
    return ok_ ? Status() : Damaged();
  }

  std::string_view rest_;
  bool ok_ = true;
};

void PutStruct(const ThriftNode& node, std::string* out);

void PutValue(const ThriftNode& node, bool in_list, std::string* out) {
  switch (node.type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse:
      if (in_list) out->push_back(static_cast<char>(node.number));
      break;
    case ThriftType::kByte:
      out->push_back(static_cast<char>(node.number));
      break;
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64:
      AppendVarint(Zigzag(node.number), out);
      break;
    case ThriftType::kDouble:
      out->append(node.bytes);
      break;
    case ThriftType::kBinary:
      AppendVarint(node.bytes.size(), out);
      out->append(node.bytes);
      break;
    case ThriftType::kList:
    case ThriftType::kSet: {
      const auto type = static_cast<uint8_t>(node.item_type);
      const size_t count = node.items.size();
      out->push_back(static_cast<char>(std::min<size_t>(count, 15) << 4 | type));
      if (count >= 15) AppendVarint(count, out);
      for (const ThriftNode& item : node.items) PutValue(item, true, out);
      break;
    }
    case ThriftType::kMap:
      AppendVarint(node.items.size() / 2, out);
      if (node.items.empty()) break;
      out->push_back(static_cast<char>(static_cast<uint8_t>(node.item_type) << 4 |
                                       static_cast<uint8_t>(node.value_type)));
      for (const ThriftNode& item : node.items) PutValue(item, true, out);
      break;
    case ThriftType::kStruct:
      PutStruct(node, out);
      break;
  }
}

void PutStruct(const ThriftNode& node, std::string* out) {
  int16_t last = 0;
  for (const auto& [id, field] : node.fields) {
    const int delta = id - last;
    const auto type = static_cast<uint8_t>(field.type);
    if (delta >= 1 && delta <= 15) {
      out->push_back(static_cast<char>(delta << 4 | type));
    } else {
      out->push_back(static_cast<char>(type));
      AppendVarint(Zigzag(id), out);
    }
    last = id;
    PutValue(field, false, out);
  }
  out->push_back('\0');
}

}  // namespace

ThriftNode* ThriftNode::Field(int16_t id) {
  for (auto& [field_id, field] : fields) {
    if (field_id == id) return &field;
  }
  return nullptr;
}

const ThriftNode* ThriftNode::Field(int16_t id) const {
  return const_cast<ThriftNode*>(this)->Field(id);
}

int64_t ThriftNode::NumberOr(int16_t id, int64_t otherwise) const {
  const ThriftNode* field = Field(id);
  return field == nullptr ? otherwise : field->number;
}

void ThriftNode::SetNumber(int16_t id, int64_t value, ThriftType field_type) {
  if (ThriftNode* field = Field(id)) {
    field->number = value;
    return;
  }
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [id](const auto& field) { return field.first > id; });
  ThriftNode added;
  added.type = field_type;
  added.number = value;
  fields.emplace(at, id, std::move(added));
}

void ThriftNode::Remove(int16_t id) {
  std::erase_if(fields, [id](const auto& field) { return field.first == id; });
}

Result<ThriftNode> ParseThriftStruct(std::string_view bytes, size_t* consumed) {
  Parser parser(bytes);
  ThriftNode node;
  SLUICE_RETURN_NOT_OK(parser.Struct(0, &node));
  *consumed = bytes.size() - parser.rest().size();
  return node;
}

std::string SerializeThriftStruct(const ThriftNode& node) {
  std::string out;
  PutStruct(node, &out);
  return out;
}

}  // namespace sluice::formats::parquet_format
