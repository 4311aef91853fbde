#pragma once

// Checks the number of ops of uploaded networks before their jobs are queued, in separate processes.

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
  /// Works in a folder, created if missing.
  NetworkSizes(std::filesystem::path program, std::filesystem::path folder, std::int64_t memory_bytes);

  /// Returns the program's message about a network with too many ops, else nullopt; also if the file cannot
  /// be read, the check takes more than a few seconds or no process can be started, which the job then
  /// reports. Results are cached.
  [[nodiscard]] std::optional<std::string> too_many(const SizeCheck& check);
  /// Aborts running checks. Thread-safe.
  void stop() { stopping_ = true; }

 private:
  struct Answer {
    bool is_known = false;
    std::optional<std::string> too_many;
  };
  Answer ask(const SizeCheck& check);

  std::filesystem::path program_, folder_;
  std::int64_t memory_bytes_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> under_way_ = 0;
  std::atomic<std::uint64_t> next_ = 0;
  std::mutex mutex_;
  std::map<std::vector<std::string>, std::optional<std::string>> known_;  // by arguments
};

}  // namespace poet::server
