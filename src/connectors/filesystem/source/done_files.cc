#include "connectors/filesystem/source/done_files.h"

#include <algorithm>

#include "common/crash_point.h"

namespace sluice::connectors::filesystem {

namespace {

// Files between two looks at whether the job is to end; folders are synced once for so many.
constexpr size_t kFilesATime = 1000;
constexpr int kMostNames = 1000;  // Of files of one name that were moved to the same place.

}  // namespace

void DoneFiles::OnFound(const std::vector<FileSplit>& splits) {
  const std::lock_guard lock(mutex_);
  for (const FileSplit& split : splits) ++open_splits_[split.file.path];
}

void DoneFiles::OnRead(runtime::CheckpointId id, const std::vector<FileSplit>& splits) {
  const std::lock_guard lock(mutex_);
  for (const FileSplit& split : splits) {
    const auto it = open_splits_.find(split.file.path);
    if (it == open_splits_.end() || --it->second > 0) continue;
    open_splits_.erase(it);
    done_.push_back({id, split.file});
  }
}

void DoneFiles::CheckpointComplete(runtime::CheckpointId id) {
  std::vector<Done> ready;
  {
    const std::lock_guard lock(mutex_);
    complete_ = std::max(complete_, id);
    if (acting_) return;  // Act looks again before it ends.
    for (const Done& done : done_) {
      if (done.id <= complete_) ready.push_back(done);
    }
    acting_ = !ready.empty();
    acted_ = complete_;
  }
  if (ready.empty()) return;
  io_pool_->Submit([self = shared_from_this(), ready = std::move(ready)]() mutable {
    self->Act(std::move(ready));
  });
}

bool DoneFiles::Drained() const {
  const std::lock_guard lock(mutex_);
  return !acting_;
}

void DoneFiles::Act(std::vector<Done> files) {
  while (!files.empty()) {
    ActOnce(files);
    const std::lock_guard lock(mutex_);
    // Checkpoints that were complete meanwhile; what has failed waits for the next one.
    files.clear();
    if (complete_ > acted_) {
      for (const Done& done : done_) {
        if (done.id <= complete_) files.push_back(done);
      }
    }
    acted_ = complete_;
    acting_ = !files.empty();
  }
  wake_();
}

void DoneFiles::ActOnce(const std::vector<Done>& files) {
  SLUICE_CRASH_POINT("source.before_done");
  for (size_t begin = 0; begin < files.size(); begin += kFilesATime) {
    const std::vector<Done> some(
        files.begin() + static_cast<std::ptrdiff_t>(begin),
        files.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kFilesATime, files.size())));
    std::vector<bool> finished(some.size());
    const Status status = Finish(some, &finished);
    if (!status.ok()) {
      log_.Warn("A file of table " + spec_->table_identifier + " that was read stays for now: " +
                status.ToString() + " It is tried again after the next checkpoint.");
    }
    const std::lock_guard lock(mutex_);
    std::unordered_map<std::string, runtime::CheckpointId> gone;
    for (size_t i = 0; i < some.size(); ++i) {
      if (finished[i]) gone.emplace(some[i].file.path, some[i].id);
    }
    std::erase_if(done_, [&gone](const Done& done) {
      const auto it = gone.find(done.file.path);
      return it != gone.end() && it->second == done.id;
    });
  }
  SLUICE_CRASH_POINT("source.after_done");
}

// The file itself decides: whatever is there now and is not what was read belongs to somebody else.
bool DoneFiles::Check(const fs::FileInfo& file) {
  const auto now = spec_->file_system->Stat(file.path);
  if (!now.ok()) return now.status().code() == StatusCode::kNotFound;
  // A store lists milliseconds and answers about one object in seconds.
  const int64_t unit_ms = spec_->file_system->has_directories() ? 1 : 1000;
  if (now->size_bytes == file.size_bytes &&
      now->modified_ms / unit_ms == file.modified_ms / unit_ms) {
    return false;
  }
  log_.Warn("File " + file.path +
            " has changed since it was read; it stays where it is, and the change is not read.");
  return true;
}

std::string DoneFiles::TargetOf(const fs::FileInfo& file) const {
  const std::string& root = spec_->listing->root();
  const bool below = file.path.size() > root.size() && file.path.starts_with(root);
  return fs::JoinPath(spec_->options.move_to,
                      below ? std::string_view(file.path).substr(root.size()) : file.name());
}

Status DoneFiles::Finish(const std::vector<Done>& files, std::vector<bool>* finished) {
  std::vector<size_t> places;
  std::vector<fs::FileSystem::Move> moves;
  std::vector<std::string> deletes;
  for (size_t i = 0; i < files.size(); ++i) {
    (*finished)[i] = Check(files[i].file);
    if ((*finished)[i]) continue;
    places.push_back(i);
    deletes.push_back(files[i].file.path);
    if (spec_->options.when_done == WhenDone::kMove) {
      moves.push_back({files[i].file.path, TargetOf(files[i].file)});
    }
  }
  SLUICE_CRASH_POINT("source.between_done");
  if (spec_->options.when_done == WhenDone::kDelete) {
    SLUICE_RETURN_NOT_OK(spec_->file_system->DeleteFiles(deletes));
    for (const size_t place : places) (*finished)[place] = true;
    return {};
  }
  const std::vector<Status> answers = spec_->file_system->RenameMany(moves);
  Status first_failure;
  for (size_t i = 0; i < places.size(); ++i) {
    Status answer = answers[i];
    if (answer.code() == StatusCode::kAlreadyExists) {
      answer = MoveAside(files[places[i]].file, moves[i].to);
    }
    (*finished)[places[i]] = answer.ok() || answer.code() == StatusCode::kNotFound;
    if (!(*finished)[places[i]] && first_failure.ok()) first_failure = std::move(answer);
  }
  return first_failure;
}

// A file of that name was moved there before: the new one gets a number. On an object store it may
// be its own copy, made before a crash came between copying and deleting.
Status DoneFiles::MoveAside(const fs::FileInfo& file, std::string target) {
  if (!spec_->file_system->has_directories()) {
    const auto copy = spec_->file_system->Stat(target);
    if (copy.ok() && copy->size_bytes == file.size_bytes && copy->modified_ms >= file.modified_ms) {
      return spec_->file_system->DeleteFile(file.path);
    }
  }
  Status status;
  for (int number = 1; number <= kMostNames; ++number) {
    status = spec_->file_system->Rename(file.path, target + "." + std::to_string(number));
    if (status.code() != StatusCode::kAlreadyExists) return status;
  }
  return status;
}

void DoneFiles::Snapshot(runtime::StateWriter* state) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> files;
  for (const Done& done : done_) {
    FileSplit split;
    split.file = done.file;
    files.push_back(EncodeSplit(split));
  }
  state->PutStrings("done", files);
}

Status DoneFiles::Restore(const runtime::StateReader& state, runtime::CheckpointId id) {
  if (!state.Has("done")) return {};
  SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> files, state.GetStrings("done"));
  const std::lock_guard lock(mutex_);
  for (const std::string& bytes : files) {
    SLUICE_ASSIGN_OR_RETURN(FileSplit split, DecodeSplit(bytes));
    done_.push_back({id, std::move(split.file)});
  }
  return {};
}

}  // namespace sluice::connectors::filesystem
