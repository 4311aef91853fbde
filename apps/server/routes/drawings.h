#pragma once

// Files made of a plan by the program (poet show, poet codegen), each in a process of its own, a few at a
// time.

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/process/child.h"

namespace poet::server {

class Drawings {
 public:
  /// Works in a folder, made if need be.
  Drawings(std::filesystem::path program, std::filesystem::path folder, std::int64_t memory_bytes);

  struct Drawn {
    int status = 200;  // 422: the program refused, and `bytes` is what it said; 503: too many are being made
    std::string bytes;
  };
  /// "page.html", "figure.svg", "figure.png", "figure.pdf", "figure.gp" or "picture.json" of a plan file.
  [[nodiscard]] Drawn draw(const std::string& plan, const std::string& name);
  /// The firmware folder as a compressed archive, for a board of poet codegen.
  [[nodiscard]] Drawn firmware(const std::string& plan, const std::string& board);
  /// Removes folders of servers that were killed.
  void remove_leftovers() const;
  /// What is being made is not, from any thread: the server stops.
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
