#pragma once

// Whether the networks that clients give as files have too many ops, known before their jobs are queued. The
// program reads them, in processes of their own.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/server/jobs/command_line.h"

namespace poet::server {

class NetworkSizes {
 public:
  /// Works in a folder, made if need be.
  NetworkSizes(std::filesystem::path program, std::filesystem::path folder, std::int64_t memory_bytes);

  /// What the program says of a network that has too many ops; nothing where it has not, where it cannot be
  /// read, and where none of that is known within a few seconds: the job says it then. Each is read once.
  [[nodiscard]] std::optional<std::string> too_many(const SizeCheck& check);
  /// What is being read is not, from any thread: the server stops.
  void stop() { stopping_ = true; }

 private:
  std::optional<std::optional<std::string>> ask(const SizeCheck& check);

  std::filesystem::path program_, folder_;
  std::int64_t memory_bytes_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> under_way_ = 0;
  std::atomic<std::uint64_t> next_ = 0;
  std::mutex mutex_;
  std::map<std::vector<std::string>, std::optional<std::string>> known_;  // by arguments
};

}  // namespace poet::server
