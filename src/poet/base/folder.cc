#include "poet/base/folder.h"

#include <dirent.h>
#include <ftw.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

namespace poet {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder, std::error_code& error) {
  const auto close = [](DIR* opened) { closedir(opened); };
  const std::unique_ptr<DIR, decltype(close)> opened(opendir(folder.c_str()), close);
  const auto next = [&]() -> const dirent* {
    errno = 0;
    return opened ? readdir(opened.get()) : nullptr;  // NOLINT(concurrency-mt-unsafe): nobody else has it
  };
  std::vector<fs::path> entries;
  int failure = opened ? 0 : errno;
  while (const dirent* entry = next()) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") entries.push_back(folder / name);
  }
  if (opened) failure = errno;
  if (failure == ENOMEM) throw std::bad_alloc();
  error.assign(failure, std::generic_category());
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code ignored;
  return entries_of(folder, ignored);
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::path& entry : entries_of(folder, error)) {
    if (fs::is_directory(fs::symlink_status(entry))) {
      std::vector<fs::path> below = files_below(entry);
      std::move(below.begin(), below.end(), std::back_inserter(files));
    } else if (fs::is_regular_file(entry)) {
      files.push_back(std::move(entry));
    }
  }
  if (error) throw fs::filesystem_error("cannot be read", folder, error);
  return files;
}

void remove_folder(const fs::path& folder) noexcept {
  constexpr int kOpenFolders = 16;
  const auto remove_one = [](const char* path, const struct stat*, int, FTW*) {
    return std::remove(path) == 0 || errno == ENOENT ? 0 : errno;  // others may remove, too
  };
  // To look into a folder takes memory. It may be there again in a moment, when others have given some back.
  for (int attempt = 0; attempt < 2; ++attempt)
    if (nftw(folder.c_str(), remove_one, kOpenFolders, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT) return;
}

}  // namespace poet
