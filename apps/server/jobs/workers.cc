#include "apps/server/jobs/workers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <system_error>

#include "apps/server/jobs/command_line.h"
#include "apps/server/jobs/fields.h"
#include "apps/server/jobs/program_output.h"
#include "apps/server/jobs/progress.h"
#include "apps/server/start_threads.h"
#include "poet/base/error.h"
#include "poet/base/folder.h"
#include "poet/base/process/program.h"
#include "poet/cost/json_reader.h"

namespace poet::server {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPoll = std::chrono::milliseconds{200};  // for jobs that other servers have queued

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// No two have one name.
std::string unique_name() {
  std::random_device random;
  return fmt::format("{}-{:08x}{:08x}", getpid(), random(), random());
}

std::string error_json(const char* error, const std::string& message, const std::string& field = {}) {
  nlohmann::ordered_json json = {{"error", error}, {"message", message}};
  if (!field.empty()) json["field"] = field;
  return json_text(json);
}

/// Of "--ram-budget: RULE" the field of the request.
std::string error_said(const char* error, std::string said) {
  std::string field;
  const std::size_t end = said.find(':');
  if (said.rfind("--", 0) == 0 && end != std::string::npos && said.find(' ') > end) {
    if (const Field* found = field_of_option(said.substr(0, end))) field = found->name;
    said = said.substr(std::min(said.find_first_not_of(": ", end), said.size()));
  }
  return error_json(error, said.empty() ? "the process ended without an error message" : in_fields(said),
                    field);
}

}  // namespace

Workers::Workers(JobStore& store, const Uploads& uploads, WorkSettings settings)
    : store_(store), uploads_(uploads), settings_(std::move(settings)) {
  std::error_code error;
  fs::create_directories(settings_.folder, error);
  if (error) throw InputError(settings_.folder.string(), "cannot be created: " + error.message());
  start_threads(
      threads_, settings_.workers, [this](std::size_t number) { work(number); }, [this] { stop(); });
}

Workers::~Workers() { stop(); }

void Workers::stop() {
  stopping_ = true;
  wake();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::wake() {
  const std::scoped_lock lock(mutex_);
  wake_.notify_all();
}

void Workers::remove_leftovers() {
  const std::vector<fs::path> there = entries_of(settings_.folder);
  // Asked now: who has a folder has had a job before, and who has none any more will have no other.
  const std::set<std::string> owners = store_.owners();
  for (const fs::path& folder : there)
    if (!owners.contains(folder.filename().string())) remove_folder(folder);
}

void Workers::work(std::size_t number) {
  const bool takes_sweeps = number > 0 || settings_.workers == 1;  // one is always there for what is short
  while (!stopping_) {
    try {
      const std::string owner = unique_name();  // of this job alone: so is the folder
      const fs::path folder = settings_.folder / owner;
      (void)store_.expire_leases();
      if (const std::optional<Job> job = store_.claim(owner, settings_.lease_seconds, takes_sweeps)) {
        std::error_code error;
        remove_folder(folder);
        fs::create_directories(folder, error);
        run(*job, owner, folder);
        remove_folder(folder);
        continue;
      }
    } catch (const std::exception&) {
      // The store is out of reach for now (a full disk), or memory is: jobs wait, leases run out, clients are
      // told what is known.
    }
    std::unique_lock lock(mutex_);
    if (!stopping_) wake_.wait_for(lock, kPoll);
  }
}

void Workers::run(const Job& job, const std::string& owner, const fs::path& folder) {
  const auto upload = [this](const std::string& id) {
    if (!uploads_.has(id)) throw InputError("the uploaded file has expired; upload it again");
    return uploads_.file(id);
  };
  const std::vector<fs::path> folders = {folder, uploads_.folder()};  // that clients are not told of
  Outcome outcome;
  Commandline line;
  try {
    line = command_line(job.order, folder, upload);
  } catch (const InputError& error) {
    outcome.error = error_json("invalid", error.what());
    (void)store_.finish(job.order.id, owner, outcome);
    return;
  }
  ProgramCall call;
  call.arguments = {settings_.program.string()};
  call.arguments.insert(call.arguments.end(), line.arguments.begin(), line.arguments.end());
  call.folder = folder;
  call.output = folder / "answer";
  call.messages = folder / "messages";
  call.memory_limit_bytes = settings_.memory_bytes;
  call.is_background = true;
  call.limits_work = true;

  ProgressReader progress(folder / "progress");
  Clock::time_point looked = Clock::now();
  bool mine = true;
  const auto keep_going = [&] {
    if (stopping_) return false;
    if (seconds_since(looked) < 0.25) return true;
    looked = Clock::now();
    if (const auto update = progress.next_update()) store_.progress(job.order.id, owner, *update);
    // Also how a cancelled job is noticed.
    mine = store_.renew(job.order.id, owner, settings_.lease_seconds);
    return mine;
  };
  const ChildEnd end = run_program(call, line.most_seconds, keep_going);
  if (stopping_ && end.how == ChildEnd::How::stopped) return store_.give_back(job.order.id, owner);
  if (const auto update = progress.next_update()) store_.progress(job.order.id, owner, *update);
  if (end.how == ChildEnd::How::stopped) {
    outcome.state = mine ? JobState::failed : JobState::cancelled;
    if (mine)
      outcome.error = error_json("time_limit", fmt::format("stopped after {:.0f} s", line.most_seconds));
  } else if (end.exit_code <= 1) {
    outcome.state = JobState::done;
    outcome.result = without_folders(contents(folder / "answer"), folders);
    while (!outcome.result.empty() && outcome.result.back() == '\n') outcome.result.pop_back();
    if (line.has_plan) outcome.plan = contents(folder / "plan");
    if (line.has_schedule) outcome.schedule = contents(folder / "schedule");
    if (outcome.result.empty()) {
      outcome.state = JobState::failed;
      outcome.error = error_json("died", "it has ended without an answer");
    }
  } else if (end.exit_code >= 128) {
    outcome.error =
        error_json("died", fmt::format("its process was ended by {}; it may have needed more than {} MiB",
                                       to_string(end), settings_.memory_bytes >> 20));
  } else {
    const std::string said = without_folders(last_words(contents(folder / "messages")), folders);
    if (said == "internal error: out of memory")
      outcome.error =
          error_json("died", fmt::format("it needs more memory than the {} MiB that a job may have",
                                         settings_.memory_bytes >> 20));
    else
      outcome.error = error_said(end.exit_code == 2 ? "invalid" : "internal", said);
  }
  (void)store_.finish(job.order.id, owner, outcome);
}

}  // namespace poet::server
