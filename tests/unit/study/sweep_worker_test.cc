// A worker of a sweep: what one point comes to does not change what the next one says.

#include "poet/study/sweep_worker.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "poet/base/process/child.h"
#include "poet/study/sweep_point.h"

namespace poet {
namespace {

std::string checkpoint_all_on_bert() {
  SweepPoint point;
  point.network.name = "bert";
  point.platform = SweepPlatform{"a72", {}};
  point.ram = RamAboveFloor{1};
  point.method = "checkpoint-all";
  return to_text(point);
}

/// While it lives this process has about so much memory to allocate and no more: what earlier tests have
/// freed is taken, too.
class MemoryLeft {
 public:
  explicit MemoryLeft(std::size_t bytes) {
    void* left = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    limit_address_space(4096 * static_cast<rlim_t>(pages));
    for (std::size_t size = 1 << 20; size >= sizeof(Block); size /= 2)
      while (auto* block = static_cast<Block*>(std::malloc(size))) taken_ = new (block) Block{taken_};
    (void)munmap(left, bytes);
  }
  MemoryLeft(const MemoryLeft&) = delete;
  MemoryLeft& operator=(const MemoryLeft&) = delete;
  ~MemoryLeft() {
    limit_address_space(RLIM_INFINITY);
    while (taken_ != nullptr) std::free(std::exchange(taken_, taken_->before));
  }

 private:
  struct Block {
    Block* before;
  };

  static void limit_address_space(rlim_t bytes) {
    rlimit limit{};
    (void)getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = std::min(bytes, limit.rlim_max);
    (void)setrlimit(RLIMIT_AS, &limit);
  }

  Block* taken_ = nullptr;
};

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
  watch.time_limit_seconds = 600;
  watch.receive = [&](std::string&& message) {
    said.push_back(verdict_of(message));
    return true;
  };
  const ChildEnd end = run_child(
      [](Parent& parent) {
        SweepWorker worker("0");
        parent.send([&] {
          const MemoryLeft left(1 << 20);
          return worker.work(checkpoint_all_on_bert());
        }());
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
