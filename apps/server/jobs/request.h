#pragma once

// What a client asks for: from its JSON to an order.

#include <functional>
#include <string>
#include <vector>

#include "apps/server/jobs/job.h"
#include "poet/base/units.h"

namespace poet::server {

/// What a server takes on.
struct Bounds {
  Seconds most_time{600};  // of a search
  Seconds usual_time{60};  // where the request says nothing
  std::int64_t most_threads = 1;
  std::size_t most_points = 500;  // of a sweep
  std::size_t workers = 1;        // that share the work, for those who ask
  std::string version;            // of the program
};

/// Names that requests may have, whether there is an upload of that id, and its file.
struct KnownNames {
  std::vector<std::string> models, devices, methods;
  std::function<bool(const std::string& id)> is_upload;
  std::function<std::string(const std::string& id)> upload_file;
};

/// Kinds of jobs: solve, explain, compare, import, verify, sweep.
[[nodiscard]] const std::vector<std::string>& job_kinds();

/// The order that a request is, `client` aside: amounts in bytes and seconds, fields sorted, so that equal
/// requests are equal orders. Throws InputError with the JSON pointer of what is wrong: "/ram_budget".
[[nodiscard]] Order read_request(const std::string& json, const Bounds& bounds, const KnownNames& names);

/// Of a name in an InputError's place, the JSON pointer; the reverse of what read_request() does. "request:
/// /x" -> "/x".
[[nodiscard]] std::string pointer_in(std::string_view place);

}  // namespace poet::server
