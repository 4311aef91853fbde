#pragma once

// Uploaded files, each stored once, named by the digest of its content.

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace poet::server {

class Uploads {
 public:
  /// Stores at most `most_bytes` in a folder, created if missing. Throws InputError.
  Uploads(std::filesystem::path folder, std::int64_t most_bytes);

  /// Stores the content and returns its id; nullopt if there is no room. Known contents need no room.
  [[nodiscard]] std::optional<std::string> add(std::string_view bytes);
  [[nodiscard]] bool has(const std::string& id) const;
  /// Returns the file of a known id.
  [[nodiscard]] std::filesystem::path file(const std::string& id) const;
  [[nodiscard]] std::int64_t bytes() const;
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  /// Deletes files that were not added again for this many seconds.
  void forget(double seconds);

 private:
  std::filesystem::path folder_;
  std::int64_t most_bytes_;
  mutable std::mutex mutex_;
};

}  // namespace poet::server
