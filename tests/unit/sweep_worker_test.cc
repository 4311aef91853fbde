// A worker of a sweep: what one point comes to does not change what the next one says.

#include "poet/study/sweep_worker.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "poet/base/process/child.h"
#include "poet/study/sweep_point.h"

namespace poet {
namespace {

std::string checkpoint_all_on_bert() {
  SweepPoint point;
  point.network.name = "bert";
  point.platform = SweepPlatform{"a72", {}};
  point.ram.fraction = 1;
  point.method = "checkpoint-all";
  return to_text(point);
}

/// Of this process's address space.
void leave_bytes(rlim_t bytes) {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  (void)getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : 4096 * static_cast<rlim_t>(pages) + bytes;
  (void)setrlimit(RLIMIT_AS, &limit);
}

std::string verdict_of(const std::string& answer) {
  const auto json = nlohmann::json::parse(answer);
  return json.at("verdict").get<std::string>() + ": " + json.at("reason").get<std::string>();
}

TEST(SweepWorker, APointAfterOneWithoutMemoryIsAsAnyOther) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space of their own";
#endif
  std::vector<std::string> said;
  ChildWatch watch;
  watch.time_limit_seconds = 60;
  watch.receive = [&](std::string&& message) {
    said.push_back(verdict_of(message));
    return true;
  };
  const ChildEnd end = run_child(
      [](Parent& parent) {
        SweepWorker worker("0");
        leave_bytes(1 << 20);
        const std::string without_memory = worker.work(checkpoint_all_on_bert());
        leave_bytes(RLIM_INFINITY);
        parent.send(without_memory);
        parent.send(worker.work(checkpoint_all_on_bert()));
        return 0;
      },
      watch);
  EXPECT_EQ(end.how, ChildEnd::How::finished) << to_string(end);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0], "failed: out of memory");
  EXPECT_EQ(said[1], "holds: ");
}

}  // namespace
}  // namespace poet
