#pragma once

// What is no client's fault and may be over in a while: the server cannot read or write its own files, on a
// full disk for one.

#include <filesystem>
#include <stdexcept>
#include <string>

#include "poet/base/error.h"
#include "poet/base/write_file.h"

namespace poet::server {

/// what() names the file, which clients are not told.
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
