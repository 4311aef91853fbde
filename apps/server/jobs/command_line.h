#pragma once

// Translation of orders to command lines of the program.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "apps/server/jobs/job.h"

namespace poet::server {

using UploadFile = std::function<std::filesystem::path(const std::string& id)>;

/// How a job's process is run, and the files that it leaves.
struct Commandline {
  std::vector<std::string> arguments;  // without the program itself
  double most_seconds = 0;             // time limit of the process
  bool has_plan = false;               // the process writes FOLDER/plan
  bool has_schedule = false;           // the process writes FOLDER/schedule
};

/// Returns the command line of an order. Writes the files that it needs to `folder`, the job's own. `upload`:
/// an upload's file by its id.
[[nodiscard]] Commandline command_line(const Order& order, const std::filesystem::path& folder,
                                       const UploadFile& upload);

/// A command that checks the number of ops of a network without solving: if there are too many, the exit code
/// is 2 and the message begins with "--op-limit".
struct SizeCheck {
  std::string field;  // JSON pointer into the request
  std::vector<std::string> arguments;
};

/// Returns a check for each network that is a file; built-in networks are small. `device`: any device's name.
[[nodiscard]] std::vector<SizeCheck> size_checks(const Order& order, const std::string& device,
                                                 const UploadFile& upload);

}  // namespace poet::server
