#pragma once

// Files that clients have given, each once, named by the digest of its content.

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace poet::server {

class Uploads {
 public:
  /// In a folder, made if need be, of at most so many bytes together. Throws InputError.
  Uploads(std::filesystem::path folder, std::int64_t most_bytes);

  /// The id; nothing: there is no room. Known contents take none.
  [[nodiscard]] std::optional<std::string> add(std::string_view bytes);
  [[nodiscard]] bool has(const std::string& id) const;
  /// Of an id that it has.
  [[nodiscard]] std::filesystem::path file(const std::string& id) const;
  [[nodiscard]] std::int64_t bytes() const;
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  /// Deletes what nobody has added again for so many seconds.
  void forget(double seconds);

 private:
  std::filesystem::path folder_;
  std::int64_t most_bytes_;
  mutable std::mutex mutex_;
};

}  // namespace poet::server
