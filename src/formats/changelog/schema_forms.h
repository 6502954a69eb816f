// Whether a message's decimals are numbers or bytes (`decimal.handling.mode` of Debezium), and what
// numbers that are times count.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_columns.h"

namespace sluice::formats::changelog {

/// Keeps JsonColumn::bytes_scale and epoch_units of the columns below a row.
class SchemaForms {
 public:
  /// `decimals_as_bytes`: what holds where no schema tells; the scale is the column's then, as the
  /// unit of times is. The columns must outlive this.
  SchemaForms(json::FieldTable& top, bool decimals_as_bytes);

  /// Takes what the schema of a message says, as Kafka Connect writes it. Cheap for the schema of
  /// the message before.
  void Follow(std::string_view schema);

 private:
  struct Place {
    json::JsonColumn* column;
    /// Names from the row down to the column; "" steps into an array or the values of a map.
    std::vector<std::string> path;
  };
  void Collect(json::JsonColumn& column, std::vector<std::string> path);
  void ApplyDefault(json::JsonColumn& column) const;

  const bool decimals_as_bytes_;
  std::vector<Place> places_;
  std::string last_schema_;
};

}  // namespace sluice::formats::changelog
