// Damaged schedule files: an InputError of one line, or a schedule on which the verifier has a verdict;
// nothing else.

#include "poet/plan/file/schedule_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/verify/replay.h"
#include "tests/support/effort.h"
#include "tests/support/random_instance.h"

namespace poet {
namespace {

using test::chance;
using test::pick;
using test::Rng;

std::size_t position(Rng& rng, const std::string& text) {
  return static_cast<std::size_t>(pick(rng, 0, static_cast<int>(text.size()) - 1));
}

void damage(Rng& rng, std::string& text) {
  const char* const tokens[] = {
      "-1", "99", "1e9", "[]", "{}", "null", "\"x\"", "4294967296", "9223372036854775807", ","};
  const std::size_t at = position(rng, text);
  switch (pick(rng, 0, 15)) {
    case 0:
      text[at] = static_cast<char>(pick(rng, 0, 255));
      break;
    case 1:
      text.erase(at, static_cast<std::size_t>(pick(rng, 1, 12)));
      break;
    case 2:
      text.insert(at, tokens[pick(rng, 0, 9)]);
      break;
    case 3:
      text.insert(at, text.substr(position(rng, text), 20));
      break;
    default: {  // a digit for a digit: files that can still be read
      const std::size_t digit = text.find_first_of("0123456789", at);
      if (digit != std::string::npos) text[digit] = static_cast<char>('0' + pick(rng, 0, 9));
    }
  }
}

TEST(ScheduleJsonFuzz, RefusedOrJudged) {
  const int files = test::effort(4000, 5);
  int refused = 0;
  int judged = 0;
  int valid = 0;
  for (int number = 0; number < files; ++number) {
    const auto seed = static_cast<std::uint64_t>(number);
    SCOPED_TRACE(seed);
    Rng rng(seed);
    test::RandomInstanceOptions options;
    options.ops = pick(rng, 2, 6);
    options.multi_output = options.updates = options.views = options.device = chance(rng, 0.5);
    ScheduleFile file;
    file.instance = test::random_instance(rng, options);
    file.schedule = test::random_schedule(rng, file.instance);
    file.limits.ram_budget = Bytes(1 << 20);
    std::string text = to_json(file).dump();
    for (int n = pick(rng, 1, 2); n > 0; --n) damage(rng, text);
    try {
      const ScheduleFile read = schedule_from_json(parse_json(text, "s.json"), "s.json");
      ++judged;
      for (const Semantics semantics : {Semantics::published, Semantics::staged, Semantics::device}) {
        const Report report = replay(read.instance, read.schedule, semantics, read.limits);
        EXPECT_EQ(report.valid, report.violation.empty());
        if (!report.valid) continue;
        ++valid;
        const Plan plan = linearise(read.instance, read.schedule, semantics);
        const Report again = replay(read.instance, plan, semantics, read.limits);
        EXPECT_TRUE(again.valid) << again.violation;
      }
    } catch (const InputError& error) {
      ++refused;
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, files / 8);  // every outcome occurs
  EXPECT_GT(judged, files / 8);
  EXPECT_GT(valid, files / 8);
}

}  // namespace
}  // namespace poet
