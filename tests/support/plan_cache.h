#pragma once

// Plans that several tests need are made once per build: `poet solve` with the same arguments runs once,
// whoever asks first.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/program.h"

namespace poet::test {

/// Of what a program is and of the devices that it knows.
inline std::string digest_of_program() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(repository() / "data" / "devices"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  files.push_back(program());
  std::string bytes;
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    bytes.append(std::istreambuf_iterator<char>(stream), {});
  }
  return fmt::format("{:016x}", std::hash<std::string>()(bytes));
}

/// ARGUMENTS with thirty times their time limit.
inline std::string with_more_time(const std::string& arguments) {
  const std::string option = "--time-limit ";
  const std::size_t at = arguments.find(option) + option.size();
  const std::size_t end = arguments.find('s', at);
  const double seconds = std::stod(arguments.substr(at, end - at));
  return fmt::format("{}{}{}", arguments.substr(0, at), 30 * seconds, arguments.substr(end));
}

/// Copies the plan that `poet solve ARGUMENTS` makes to `copy`. ARGUMENTS have a time limit in seconds, of
/// which a slow processor gets more, and name no file: what is in it would not be noticed. Plans are kept
/// below the build folder; those of other programs go.
inline void make_plan(const std::string& arguments, const std::string& copy) {
  namespace fs = std::filesystem;
  static const fs::path folder = [] {
    fs::path build = program().parent_path();
    while (build.has_relative_path() && !fs::exists(build / "CMakeCache.txt")) build = build.parent_path();
    const fs::path plans = build / "tests/plans/cc";
    const fs::path own = plans / digest_of_program();
    std::error_code ignored;  // another test may be at the same
    fs::create_directories(own, ignored);
    for (const auto& other : fs::directory_iterator(plans, ignored))
      if (other.path() != own) fs::remove_all(other.path(), ignored);
    return own;
  }();
  const fs::path plan = folder / fmt::format("{:016x}.plan", std::hash<std::string>()(arguments));
  if (!fs::exists(plan)) {
    const fs::path made = plan.string() + fmt::format(".{}", getpid());
    const std::string out = " --plan-out " + made.string();
    ProgramRun run = poet("solve --quiet " + arguments + out);
    if (run.exit_code != 0) run = poet("solve --quiet " + with_more_time(arguments) + out);
    if (run.exit_code == 0) fs::rename(made, plan);
    fs::remove(made);
    ASSERT_EQ(run.exit_code, 0) << arguments << "\n" << run.out << run.err;
  }
  fs::copy_file(plan, copy, fs::copy_options::overwrite_existing);
}

}  // namespace poet::test
