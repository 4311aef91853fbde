#include "apps/shared/progress_file.h"

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/cost/json_reader.h"

namespace poet::cli {

ProgressFile::ProgressFile(const std::string& option, const std::string& file)
    : file_(std::fopen(file.c_str(), "we")) {
  if (file_ == nullptr)
    throw InputError(option + " " + file, std::string("cannot be written: ") + std::strerror(errno));
}

ProgressFile::~ProgressFile() { (void)std::fclose(file_); }

void ProgressFile::write(const nlohmann::ordered_json& line) {
  const std::scoped_lock lock(mutex_);
  (void)std::fputs((json_text(line) + "\n").c_str(), file_);
  (void)std::fflush(file_);
}

}  // namespace poet::cli
