#pragma once

// The services of handlers, and the routes by subject.

#include <variant>
#include <vector>

#include "apps/server/http/router.h"
#include "apps/server/jobs/job_store.h"
#include "apps/server/jobs/network_sizes.h"
#include "apps/server/jobs/request.h"
#include "apps/server/jobs/uploads.h"
#include "apps/server/jobs/workers.h"
#include "apps/server/routes/catalogue.h"
#include "apps/server/routes/drawings.h"
#include "poet/base/error.h"

namespace poet::server {

struct Services {
  JobStore& store;
  Uploads& uploads;
  Workers& workers;
  const Catalogue& catalogue;
  Drawings& drawings;
  NetworkSizes& sizes;
  Bounds bounds;
};

/// Jobs: submit, look, follow, cancel, results.
void add_job_routes(std::vector<Route>& routes, const Services& services);
/// Uploads, and the catalogue.
void add_catalogue_routes(std::vector<Route>& routes, const Services& services);
/// Files that are made of a job's plan.
void add_download_routes(std::vector<Route>& routes, const Services& services);
/// GET /solve, as the published reference's server has it.
void add_published_route(std::vector<Route>& routes, const Services& services);
/// The page and its files, from the data folder.
void add_page_routes(std::vector<Route>& routes);
/// The description of all routes so far, and its own.
void add_description_route(std::vector<Route>& routes);

/// Submits the order for the caller; a reply of 429 or 503 if the queue is full.
[[nodiscard]] std::variant<Job, Reply> submit(const Services& services, Order order, const Call& call);
/// Returns 400 with the wrong field of a request.
[[nodiscard]] Reply bad_request(const InputError& error);

}  // namespace poet::server
