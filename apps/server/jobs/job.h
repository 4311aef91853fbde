#pragma once

// Jobs, as the store keeps them.

#include <cstdint>
#include <string>

namespace poet::server {

enum class JobState {
  queued,
  running,
  done,       // with an answer, possibly that there is no plan
  failed,     // bad input, or the worker died
  cancelled,  // by its client
};

[[nodiscard]] const char* to_string(JobState state);
/// Returns whether a state is final, until the job is submitted again.
[[nodiscard]] inline bool has_ended(JobState state) {
  return state != JobState::queued && state != JobState::running;
}

/// A submitted request.
struct Order {
  std::string id;       // hash of everything that determines the answer: equal orders are one job
  std::string kind;     // "solve"
  std::string request;  // canonical JSON
  std::string client;   // the client that submitted it first
};

/// Times are seconds since 1970.
struct Job {
  Order order;
  JobState state = JobState::queued;
  std::int64_t version = 0;  // of the store; grows with every change of any job
  std::int64_t ahead = 0;    // position in the queue, if queued
  int attempts = 0;          // workers that have started it
  double submitted = 0, started = 0, finished = 0;
  std::string progress;  // the latest, as JSON; empty: none yet
  std::string result;    // JSON, if done
  std::string error;     // JSON, if failed
  bool has_plan = false;
};

/// The outcome of a job.
struct Outcome {
  JobState state = JobState::failed;  // done, failed or cancelled
  std::string result, error;          // JSON or empty
  std::string plan;                   // a plan file; empty: none
  std::string schedule;               // likewise
};

}  // namespace poet::server
