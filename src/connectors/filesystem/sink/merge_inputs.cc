#include "connectors/filesystem/sink/merge_inputs.h"

#include "types/arrow_status.h"
#include "types/carried_status.h"

namespace sluice::connectors::filesystem {

class MergeInputs::Input final : public arrow::io::RandomAccessFile {
 public:
  Input(MergeInputs* owner, std::string path) : owner_(*owner), path_(std::move(path)) {
    set_mode(arrow::io::FileMode::READ);
  }

  arrow::Result<int64_t> GetSize() override { return size_bytes_; }
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t count, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const File file, Opened());
    return file->ReadAt(position, count, out);
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t count) override {
    ARROW_ASSIGN_OR_RAISE(const File file, Opened());
    return file->ReadAt(position, count);
  }
  arrow::Result<int64_t> Read(int64_t count, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position_, count, out));
    position_ += got;
    return got;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t count) override {
    ARROW_ASSIGN_OR_RAISE(auto got, ReadAt(position_, count));
    position_ += got->size();
    return got;
  }
  arrow::Status Seek(int64_t position) override {
    position_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }

 private:
  friend class MergeInputs;
  arrow::Result<File> Opened() {
    auto file = owner_.Acquire(this);
    if (!file.ok()) return ToArrow(file.status());
    return std::move(*file);
  }

  MergeInputs& owner_;
  const std::string path_;
  int64_t position_ = 0;
  int64_t size_bytes_ = -1;  // Not opened yet.
  File file_;                // Under the owner's mutex; null: not open.
};

Result<std::unique_ptr<MergeInputs>> MergeInputs::Open(fs::FileSystem* file_system,
                                                       const std::vector<std::string>& paths,
                                                       size_t most_open) {
  std::unique_ptr<MergeInputs> inputs(new MergeInputs(file_system, most_open));
  for (const std::string& path : paths) {
    auto input = std::make_shared<Input>(inputs.get(), path);
    SLUICE_RETURN_NOT_OK(inputs->Acquire(input.get()).status());
    inputs->files_.push_back(std::move(input));
  }
  return inputs;
}

Result<MergeInputs::File> MergeInputs::Acquire(Input* input) {
  const std::lock_guard lock(mutex_);
  if (input->file_ != nullptr) return input->file_;
  if (open_.size() >= most_open_) {
    open_.front()->file_.reset();  // Whoever reads it at the moment keeps it until that is done.
    open_.pop_front();
  }
  SLUICE_ASSIGN_OR_RETURN(File file, file_system_.OpenRead(input->path_));
  SLUICE_ASSIGN_ARROW(const int64_t size, file->GetSize());
  if (input->size_bytes_ >= 0 && input->size_bytes_ != size) {
    return Status::Unavailable("The file " + input->path_ + " has " + std::to_string(size) +
                               " bytes where it had " + std::to_string(input->size_bytes_) +
                               ": something else changes it.");
  }
  input->size_bytes_ = size;
  input->file_ = file;
  open_.push_back(input);
  return file;
}

}  // namespace sluice::connectors::filesystem
