#pragma once

// Requests of jobs, as tests read them.

#include <gtest/gtest.h>

#include <string>

#include "apps/server/jobs/digest.h"
#include "apps/server/jobs/request.h"
#include "poet/base/error.h"
#include "tests/support/server.h"

namespace poet::test {

inline const std::string kUploaded = server::digest("a file");

inline server::Bounds small_bounds() {
  server::Bounds bounds;
  bounds.most_time = Seconds(100);
  bounds.usual_time = Seconds(60);
  bounds.most_threads = 2;
  bounds.most_points = 20;
  return bounds;
}

inline server::Order read_order(const std::string& json) {
  return server::read_request(json, small_bounds(), few_names(kUploaded));
}

/// The JSON pointer that the refusal names, and its rule: "/ram_budget: is missing".
inline std::string refusal_of(const std::string& json) {
  try {
    (void)read_order(json);
  } catch (const InputError& error) {
    const std::string said(error.what());
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    return server::pointer_in(error.place()) + ": " + std::string(error.rule());
  }
  ADD_FAILURE() << "is taken: " << json;
  return {};
}

}  // namespace poet::test
