#pragma once

// From an order to the program's command line.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "apps/server/jobs/job.h"

namespace poet::server {

using UploadFile = std::function<std::filesystem::path(const std::string& id)>;

/// How a job is run: the program's arguments, and what it is to find in its folder.
struct Commandline {
  std::vector<std::string> arguments;  // without the program itself
  double most_seconds = 0;             // after which it is stopped
  bool has_plan = false;               // it leaves one in FOLDER/plan
  bool has_schedule = false;           // and in FOLDER/schedule
};

/// `folder` is the job's own; files that it needs are written there. `upload`: the file of an id.
[[nodiscard]] Commandline command_line(const Order& order, const std::filesystem::path& folder,
                                       const UploadFile& upload);

/// What tells whether a network has too many ops, without solving anything: the program's exit code is 2
/// then, and its message begins with "--op-limit".
struct SizeCheck {
  std::string field;  // JSON pointer into the request
  std::vector<std::string> arguments;
};

/// Of each network of an order that is a file; those with names are small. `device`: the name of any.
[[nodiscard]] std::vector<SizeCheck> size_checks(const Order& order, const std::string& device,
                                                 const UploadFile& upload);

}  // namespace poet::server
