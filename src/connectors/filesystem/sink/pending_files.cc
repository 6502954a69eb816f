#include "connectors/filesystem/sink/pending_files.h"

#include <algorithm>

namespace sluice::connectors::filesystem {
namespace {

constexpr std::string_view kField = "pending_files";
/// From here on a file of its own in the checkpoint, which is written without another copy of it in
/// memory; below, one more file costs more than that.
constexpr size_t kOwnFileBytes = 1 << 20;

int64_t HeldBytes(const PendingFiles::File& file) {
  return static_cast<int64_t>(sizeof(file) + file.bytes.size());
}

}  // namespace

FileCommittable PendingFiles::File::Read() const {
  ByteReader in(bytes);
  return ReadCommittable(&in);
}

std::string_view PendingFiles::File::handle() const { return ByteReader(bytes).TextView(); }

std::string_view PendingFiles::File::directory() const {
  ByteReader in(bytes);
  (void)in.TextView();
  return in.TextView();
}

void PendingFiles::Add(runtime::CheckpointId checkpoint, std::string_view bytes,
                       std::shared_ptr<const void> owner) {
  files_.push_back({checkpoint, bytes, std::move(owner)});
  held_bytes_ += HeldBytes(files_.back());
}

size_t PendingFiles::CountUpTo(runtime::CheckpointId checkpoint) const {
  const auto end = std::find_if(files_.begin(), files_.end(),
                                [&](const File& file) { return file.checkpoint > checkpoint; });
  return static_cast<size_t>(end - files_.begin());
}

void PendingFiles::DropFirst(size_t count) {
  for (size_t i = 0; i < count; ++i) held_bytes_ -= HeldBytes(files_[i]);
  files_.erase(files_.begin(), files_.begin() + static_cast<std::ptrdiff_t>(count));
  saved_ -= std::min(saved_, count);
}

// A list of texts as StateWriter::PutStrings() writes it, without making them first.
void PendingFiles::Save(runtime::StateWriter* state) {
  size_t bytes = sizeof(uint64_t);
  for (const File& file : files_) bytes += 2 * sizeof(uint64_t) + file.bytes.size();
  ByteWriter out;
  out.Reserve(bytes);
  out.PutU64(files_.size());
  for (const File& file : files_) {
    out.PutU64(sizeof(uint64_t) + file.bytes.size());
    out.PutI64(file.checkpoint);
    out.PutBytes(file.bytes);
  }
  saved_ = files_.size();
  if (bytes >= kOwnFileBytes) {
    state->PutBlob(kField, std::move(out).Take());
  } else {
    state->PutBytes(kField, std::move(out).Take());
  }
}

Status PendingFiles::Restore(const runtime::StateReader& state) {
  SLUICE_ASSIGN_OR_RETURN(std::string saved,
                          state.Has(kField) ? state.GetBytes(kField) : state.GetBlob(kField));
  const auto owner = std::make_shared<const std::string>(std::move(saved));
  ByteReader in(*owner);
  for (size_t count = in.Count(); count > 0 && in.ok(); --count) {
    ByteReader file(in.TextView());
    const runtime::CheckpointId checkpoint = file.I64();
    const std::string_view bytes = file.rest();
    (void)ReadCommittable(&file);
    if (!file.AtEnd()) return Status::Corrupt("A pending file in the checkpoint is damaged.");
    Add(checkpoint, bytes, owner);
  }
  if (!in.AtEnd()) return Status::Corrupt("The pending files in the checkpoint are cut short.");
  saved_ = files_.size();
  return {};
}

}  // namespace sluice::connectors::filesystem
