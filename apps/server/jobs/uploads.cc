#include "apps/server/jobs/uploads.h"

#include <chrono>
#include <system_error>

#include "apps/server/jobs/digest.h"
#include "apps/server/jobs/storage_error.h"
#include "poet/base/error.h"
#include "poet/base/folder.h"

namespace poet::server {

namespace fs = std::filesystem;

Uploads::Uploads(fs::path folder, std::int64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw InputError(folder_.string(), "cannot be created: " + error.message());
}

std::optional<std::string> Uploads::add(std::string_view bytes) {
  std::string id = digest(bytes);
  const std::scoped_lock lock(mutex_);
  std::error_code error;
  if (fs::exists(folder_ / id, error)) {
    fs::last_write_time(folder_ / id, fs::file_time_type::clock::now(), error);  // used again
    return id;
  }
  std::int64_t there = 0;
  for (const fs::path& file : entries_of(folder_))
    there += static_cast<std::int64_t>(fs::file_size(file, error));
  if (there + static_cast<std::int64_t>(bytes.size()) > most_bytes_) return std::nullopt;
  write_own_file(folder_ / id, std::string(bytes));
  return id;
}

bool Uploads::has(const std::string& id) const {
  std::error_code error;
  return is_digest(id) && fs::is_regular_file(folder_ / id, error);
}

fs::path Uploads::file(const std::string& id) const { return folder_ / id; }

std::int64_t Uploads::bytes() const {
  const std::scoped_lock lock(mutex_);
  std::int64_t there = 0;
  std::error_code error;
  for (const fs::path& file : entries_of(folder_))
    there += static_cast<std::int64_t>(fs::file_size(file, error));
  return there;
}

void Uploads::forget(double seconds) {
  const std::scoped_lock lock(mutex_);
  const auto before =
      fs::file_time_type::clock::now() -
      std::chrono::duration_cast<fs::file_time_type::duration>(std::chrono::duration<double>(seconds));
  std::error_code error;
  for (const fs::path& file : entries_of(folder_))
    if (fs::last_write_time(file, error) < before) fs::remove(file, error);
}

}  // namespace poet::server
