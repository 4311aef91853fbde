#pragma once

// Files that the program makes of a plan (poet show, poet codegen), in separate processes, a few at a time.

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/process/child.h"

namespace poet::server {

class Drawings {
 public:
  /// Works in a folder, created if missing.
  Drawings(std::filesystem::path program, std::filesystem::path folder, std::int64_t memory_bytes);

  struct Drawn {
    int status = 200;  // 422: the program failed, and `bytes` is its message; 503: too many requests at once,
                       // or no process can be started
    std::string bytes;
  };
  /// Makes "page.html", "figure.svg", "figure.png", "figure.pdf", "figure.gp" or "picture.json" of a plan
  /// file.
  [[nodiscard]] Drawn draw(const std::string& plan, const std::string& name);
  /// Makes the firmware folder for a board of poet codegen, as a compressed archive.
  [[nodiscard]] Drawn firmware(const std::string& plan, const std::string& board);
  /// Removes folders of killed servers.
  void remove_leftovers() const;
  /// Aborts running processes. Thread-safe.
  void stop() { stopping_ = true; }

 private:
  [[nodiscard]] Drawn run(const std::string& plan, std::vector<std::string> arguments,
                          const std::string& result);
  [[nodiscard]] ChildEnd run_in(const std::filesystem::path& folder,
                                std::vector<std::string> arguments) const;

  std::filesystem::path program_, folder_;
  std::int64_t memory_bytes_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> under_way_ = 0;
  std::atomic<std::uint64_t> next_ = 0;
};

}  // namespace poet::server
