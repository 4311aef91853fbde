#pragma once

// Temporary failures that no client causes: the server cannot read or write its own files, as on a full disk.

#include <filesystem>
#include <stdexcept>
#include <string>

#include "poet/base/error.h"
#include "poet/base/write_file.h"

namespace poet::server {

/// what() names the file, which is private to the server.
class StorageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws StorageError.
inline void write_own_file(const std::filesystem::path& file, const std::string& text) {
  try {
    write_file(file, text);
  } catch (const InputError& failed) {
    throw StorageError(failed.what());
  }
}

}  // namespace poet::server
