// The least that reading many small files can cost: every folder is listed, every file opened, read
// and closed, and nothing is done with the bytes. Prints a line for the listing and one for all of
// it.
//
//   scan_directory DIRECTORY [THREADS]
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "limit.h"

namespace {

void List(const std::string& folder, std::vector<std::string>* files) {
  DIR* const stream = opendir(folder.c_str());
  if (stream == nullptr) return;
  std::vector<std::string> below;
  while (const dirent* const entry = readdir(stream)) {
    if (entry->d_name[0] == '.' || entry->d_name[0] == '_') continue;
    std::string path = folder + "/" + entry->d_name;
    (entry->d_type == DT_DIR ? below : *files).push_back(std::move(path));
  }
  closedir(stream);
  for (const std::string& path : below) List(path, files);
}

long long Read(const std::string& path, std::vector<char>* room) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  long long bytes = 0;
  while (true) {
    const ssize_t count = read(descriptor, room->data(), room->size());
    if (count <= 0) break;
    bytes += count;
    if (count < static_cast<ssize_t>(room->size())) break;
  }
  close(descriptor);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: scan_directory DIRECTORY [THREADS]\n");
    return 2;
  }
  const int thread_count = argc > 2 ? std::atoi(argv[2]) : 1;
  const sluice::bench::Stopwatch watch;
  std::vector<std::string> files;
  List(argv[1], &files);
  sluice::bench::Report("list files", "files", static_cast<double>(files.size()), watch);
  std::atomic<size_t> next{0};
  std::atomic<long long> bytes{0};  // Read, so that nothing is left out.
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&] {
      std::vector<char> room(64 << 10);
      for (size_t at = next++; at < files.size(); at = next++) bytes += Read(files[at], &room);
    });
  }
  for (std::thread& thread : threads) thread.join();
  sluice::bench::Report("read files", "files", static_cast<double>(files.size()), watch);
  return 0;
}
