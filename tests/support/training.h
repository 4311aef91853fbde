#pragma once

// What tests of `poet run` share: a small network on a device.

#include <gtest/gtest.h>

#include <string>

#include "tests/support/plan_cache.h"
#include "tests/support/program.h"

namespace poet::test {

/// resnet14_cifar with 2 images on the a72: 3.33 MB keep everything (706 KB of them parameters); some 5 ms a
/// step here.
inline const std::string kSmallCnn = "--model resnet14_cifar --platform a72 --batch-size 2";
/// Plans at once: what is trained by is tested here, not how good it is.
inline const std::string kFastSearch = " --gap 0.5 --time-limit 2s --split off --quiet ";
/// Of RAM for the small network: so that everything is kept, and so that the plan pages and recomputes.
inline const std::string kPlenty = " --ram-budget 4MB ";
inline const std::string kScarce = " --ram-budget 2.2MB ";

/// The smallest network, which trains within a second.
inline const std::string kPairs = "--model linear --platform a72 --ram-budget 1MB --batch-size 2 ";

/// The plan of the small network under these options, as a file.
inline std::string plan_of_small_cnn(const TemporaryFolder& folder, const std::string& options) {
  std::string plan = folder.file("step.plan");
  make_plan(kSmallCnn + kFastSearch + options, plan);
  return plan;
}

/// `poet run` with these options, which must succeed.
inline ProgramRun train(const std::string& options) {
  ProgramRun run = poet("run --quiet " + options);
  EXPECT_EQ(run.exit_code, 0) << options << "\n" << run.err;
  return run;
}

/// Its answer with --json.
inline nlohmann::ordered_json trained(const std::string& options) {
  const ProgramRun run = train("--json " + options);
  return run.exit_code == 0 ? run.json() : nlohmann::ordered_json();
}

}  // namespace poet::test
