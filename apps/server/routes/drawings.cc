#include "apps/server/routes/drawings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <system_error>

#include "apps/server/jobs/place.h"
#include "apps/server/jobs/program_output.h"
#include "apps/server/jobs/storage_error.h"
#include "poet/base/error.h"
#include "poet/base/folder.h"
#include "poet/base/process/program.h"
#include "poet/base/temporary_folder.h"

namespace poet::server {
namespace {

namespace fs = std::filesystem;

constexpr int kAtOnce = 2;
constexpr double kMostSeconds = 60;

/// A folder of its own, gone at the end.
class Scratch {
 public:
  explicit Scratch(fs::path folder) : folder_(std::move(folder)) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) throw StorageError(folder_.string() + ": " + error.message());
  }
  ~Scratch() { remove_folder(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch(Scratch&&) = delete;
  Scratch& operator=(Scratch&&) = delete;
  [[nodiscard]] const fs::path& path() const { return folder_; }

 private:
  fs::path folder_;
};

bool succeeded(const ChildEnd& end) { return end.how == ChildEnd::How::finished && end.exit_code <= 1; }

}  // namespace

Drawings::Drawings(fs::path program, fs::path folder, std::int64_t memory_bytes)
    : program_(std::move(program)), folder_(std::move(folder)), memory_bytes_(memory_bytes) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw InputError(folder_.string(), "cannot be created: " + error.message());
}

ChildEnd Drawings::run_in(const fs::path& folder, std::vector<std::string> arguments) const {
  ProgramCall call;
  call.arguments = std::move(arguments);
  call.folder = folder;
  call.messages = folder / "messages";
  call.memory_limit_bytes = memory_bytes_;
  call.limits_work = true;
  return run_program(call, kMostSeconds, [this] { return !stopping_; });
}

Drawings::Drawn Drawings::run(const std::string& plan, std::vector<std::string> arguments,
                              const std::string& result) {
  const Place place(under_way_, kAtOnce);
  if (!place.free()) return {503, "files are being made of other plans; try again in a moment"};
  const Scratch scratch(folder_ / fmt::format("{}-{}", getpid(), next_++));
  write_own_file(scratch.path() / "plan", plan);
  arguments.insert(arguments.begin(), program_.string());
  ChildEnd end;
  try {
    end = run_in(scratch.path(), std::move(arguments));
    if (succeeded(end) && result == "firmware.tar.gz")
      end = run_in(scratch.path(),
                   {"tar", "--owner=0", "--group=0", "--mode=u=rwX,go=rX", "-czf", result, "firmware"});
  } catch (const InputError&) {
    return {503, "no process can be started for it now; try again in a moment"};
  }
  const std::string said =
      without_folders(last_words(contents(scratch.path() / "messages")), {scratch.path()});
  std::string bytes = contents(scratch.path() / result);
  if (!succeeded(end) || bytes.empty()) return {422, said.empty() ? "it could not be made" : said};
  return {200, std::move(bytes)};
}

void Drawings::remove_leftovers() const {
  const auto before = fs::file_time_type::clock::now() - std::chrono::hours{1};  // far more than kMostSeconds
  std::error_code error;
  for (const fs::path& entry : entries_of(folder_))
    if (fs::last_write_time(entry, error) < before) remove_folder(entry);
}

Drawings::Drawn Drawings::draw(const std::string& plan, const std::string& name) {
  return run(plan, {"show", "plan", "-o", name}, name);
}

Drawings::Drawn Drawings::firmware(const std::string& plan, const std::string& board) {
  return run(plan, {"codegen", "plan", "-o", "firmware", "--quiet", "--board=" + board}, "firmware.tar.gz");
}

}  // namespace poet::server
