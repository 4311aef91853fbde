#pragma once

// Parses requests: from JSON to orders.

#include <functional>
#include <string>
#include <vector>

#include "apps/server/jobs/job.h"
#include "poet/base/units.h"

namespace poet::server {

/// Limits of requests.
struct Bounds {
  Seconds most_time{600};  // of a search
  Seconds usual_time{60};  // the default
  std::int64_t most_threads = 1;
  std::size_t most_points = 500;  // of a sweep
  std::size_t workers = 1;        // for /api/v1/status
  std::string version;            // of the program
};

/// Names that requests may use, and lookups of uploads.
struct KnownNames {
  std::vector<std::string> models, devices, methods;
  std::function<bool(const std::string& id)> is_upload;
  std::function<std::string(const std::string& id)> upload_file;
};

/// Kinds of jobs: solve, explain, compare, import, verify, sweep.
[[nodiscard]] const std::vector<std::string>& job_kinds();

/// Returns the order of a request, without `client`: amounts in bytes and seconds, fields sorted, so that
/// equal requests are equal orders. Throws InputError with the JSON pointer of the wrong field:
/// "/ram_budget".
[[nodiscard]] Order read_request(const std::string& json, const Bounds& bounds, const KnownNames& names);

/// Returns the JSON pointer in an InputError's place: "request: /x" -> "/x".
[[nodiscard]] std::string pointer_in(std::string_view place);

}  // namespace poet::server
