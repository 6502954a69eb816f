// What the writers of a file sink tell its committer at each barrier: the files that are closed and
// wait to be published, and the partitions in which a file is still open.
//
// Versioned: these bytes are also what the committer keeps in its state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/byte_codec.h"
#include "connectors/connector.h"
#include "runtime/element.h"

namespace sluice::connectors::filesystem {

/// One output directory and the partition values it stands for (empty for a table without
/// partitions). The directory is its identity.
struct PartitionRef {
  std::string directory;
  PartitionValues values;
};

/// A file that a partition has got: what a marker file or a policy may tell of it.
struct NewFile {
  std::string name;
  int64_t row_count = 0;
};

/// A closed part file.
struct FileCommittable {
  std::string handle;
  PartitionRef partition;
  int64_t row_count = 0;
  int64_t size_bytes = 0;
  /// When the partition got the first of its rows that were not committed yet, as the writer saw
  /// it.
  int64_t first_row_ms = 0;
  /// A checkpoint names the file already (it stayed open over one), so nobody may remove it.
  bool named = false;
};

/// A file that stays open over the barrier.
struct OpenFile {
  std::string handle;
  PartitionRef partition;
  int64_t first_row_ms = 0;
};

struct WriterReport {
  runtime::CheckpointId checkpoint = 0;
  int subtask = 0;
  /// "part-<uuid>-<subtask>-": this attempt's names up to the number.
  std::string name_prefix;
  /// The first number this attempt has not used at the barrier.
  int64_t next_number = 0;
  std::vector<FileCommittable> files;
  std::vector<OpenFile> open_files;
};

/// A closed file as the committer gets it: decoded, and as PutCommittable() wrote it.
struct ReceivedFile {
  runtime::CheckpointId checkpoint = 0;
  FileCommittable file;
  std::string_view bytes;
  std::shared_ptr<const void> owner;  // Keeps `bytes`: one copy for all who hold them.
};

/// Who takes in reports, piece by piece: a report of tens of thousands of files is never decoded as
/// a whole. The first failure ends the reading.
class ReportReceiver {
 public:
  virtual Status AddFile(ReceivedFile received) = 0;
  /// Behind its files, which `report` is without.
  virtual Status AddReport(const WriterReport& report) = 0;

 protected:
  ~ReportReceiver() = default;
};

/// One row with one column of bytes.
Batch EncodeReport(const WriterReport& report);
/// Fails with kCorrupt, and as the receiver does.
Status DecodeReports(const Batch& batch, ReportReceiver* receiver);

void PutPartition(const PartitionRef& partition, ByteWriter* out);
PartitionRef ReadPartition(ByteReader* in);
void PutCommittable(const FileCommittable& file, ByteWriter* out);
FileCommittable ReadCommittable(ByteReader* in);

}  // namespace sluice::connectors::filesystem
