#pragma once

// What the server does for clients: jobs, as the store keeps them.

#include <cstdint>
#include <string>

namespace poet::server {

enum class JobState {
  queued,
  running,
  done,       // with an answer; that there is no plan is one
  failed,     // bad input, or the worker died
  cancelled,  // by its client
};

[[nodiscard]] const char* to_string(JobState state);
/// Whether nothing more will happen to it, unless it is ordered again.
[[nodiscard]] inline bool has_ended(JobState state) {
  return state != JobState::queued && state != JobState::running;
}

/// What is to be done.
struct Order {
  std::string id;       // of what determines the answer, hashed: equal orders are one job
  std::string kind;     // "solve"
  std::string request;  // canonical JSON
  std::string client;   // who ordered it first
};

/// Times are seconds since 1970.
struct Job {
  Order order;
  JobState state = JobState::queued;
  std::int64_t version = 0;  // of the store; grows with every change of any job
  std::int64_t ahead = 0;    // jobs that come before it; of a queued one
  int attempts = 0;          // workers that have begun it
  double submitted = 0, started = 0, finished = 0;
  std::string progress;  // the latest, as JSON; empty: none yet
  std::string result;    // JSON; of a job that is done
  std::string error;     // JSON; of one that has failed
  bool has_plan = false;
};

/// What a worker has made of a job.
struct Outcome {
  JobState state = JobState::failed;  // done, failed or cancelled
  std::string result, error;          // JSON or empty
  std::string plan;                   // a plan file; empty: none
  std::string schedule;               // likewise
};

}  // namespace poet::server
