#pragma once

// Runs of small plans whose page files another one goes on from.

#include <fstream>
#include <string>

#include "poet/runtime/training/trainer_options.h"

namespace poet::test {

/// The plain loops, whose bits no library changes.
inline const runtime::KernelOptions kLoops{runtime::KernelLibrary::reference, 1, ""};

/// A run that pages to `pages`: a file, a folder, or where runs do by themselves.
inline runtime::TrainerOptions paging_to(const std::string& pages) {
  runtime::TrainerOptions options;
  options.seed = 5;
  options.samples = 64;
  options.kernels = kLoops;
  options.storage.where = pages;
  return options;
}

/// The run that goes on from there.
inline runtime::TrainerOptions resuming(const std::string& pages) {
  runtime::TrainerOptions resumed = paging_to("");
  resumed.seed.reset();
  resumed.resume = pages;
  return resumed;
}

/// Damages a byte of a file; once more mends it.
inline void change_byte(const std::string& file, std::int64_t at, char by) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekg(at);
  const auto byte = static_cast<char>(stream.get() ^ by);
  stream.seekp(at);
  stream.put(byte);
}

}  // namespace poet::test
