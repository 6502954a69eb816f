#include "connectors/filesystem/sink/writer_state.h"

namespace sluice::connectors::filesystem {

std::string EncodeOpenFile(const OpenFileState& state) {
  ByteWriter out;
  out.PutText(state.file.handle);
  PutPartition(state.file.partition, &out);
  out.PutI64(state.file.first_row_ms);
  out.PutI64(state.info.size_bytes);
  out.PutI64(state.info.opened_ms);
  out.PutI64(state.info.last_write_ms);
  out.PutI64(state.row_count);
  out.PutText(state.layout);
  return std::move(out).Take();
}

Result<OpenFileState> DecodeOpenFile(std::string_view bytes) {
  ByteReader in(bytes);
  OpenFileState state;
  state.file.handle = in.Text();
  state.file.partition = ReadPartition(&in);
  state.file.first_row_ms = in.I64();
  state.info.size_bytes = in.I64();
  state.info.opened_ms = in.I64();
  state.info.last_write_ms = in.I64();
  state.row_count = in.I64();
  state.layout = in.Text();
  if (in.AtEnd()) return state;
  return Status::Corrupt("An open part file in the checkpoint is cut short or too long.");
}

}  // namespace sluice::connectors::filesystem
