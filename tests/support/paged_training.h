#pragma once

// What tests share that train with parameters at home on storage: a small network in parts.

#include <gtest/gtest.h>

#include <string>

#include "tests/support/plan_cache.h"
#include "tests/support/training.h"

namespace poet::test {

/// The plan of `linear` as a file: 174 KB of parameters and as much optimiser state within 24 KiB, so that
/// most of them are at home on storage, some in RAM.
inline std::string plan_of_linear_in_parts(const TemporaryFolder& folder, const std::string& ram = "24KiB",
                                           const std::string& split = "auto") {
  std::string plan = folder.file("linear.plan");
  make_plan("--model linear --platform m0 --optimizer momentum --persistent auto --split " + split +
                " --ram-budget " + ram + " --gap 0.9 --time-limit 0.5s",
            plan);
  return plan;
}

}  // namespace poet::test
