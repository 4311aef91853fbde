// Damaged plan files: an InputError of one line, or a plan on which the verifier has a verdict; nothing else.
// In half of the cases the checksums are made right again, so that what lies behind them is reached.

#include <gtest/gtest.h>

#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/file/events.h"
#include "poet/verify/replay.h"
#include "poet/verify/replay_layout.h"
#include "tests/support/effort.h"
#include "tests/support/plan_files.h"
#include "tests/support/plan_image.h"
#include "tests/support/small_family.h"

namespace poet {
namespace {

using test::chance;
using test::Octets;
using test::pick;
using test::Rng;

struct Outcomes {
  int refused = 0;
  int judged = 0;
  int valid = 0;
};

template <class Read>
void expect_refused_or_judged(const Read& read, Outcomes& outcomes) {
  try {
    const PlanFile file = read();
    ++outcomes.judged;
    const Report report = replay(file.instance, file.plan, file.semantics, file.limits);
    EXPECT_EQ(report.valid, report.violation.empty());
    outcomes.valid += report.valid;
    // As the verifier on addresses asks for, only after the other one has agreed.
    if (!report.valid) return;
    const ArenaReport arena =
        replay_layout(file.instance, file.plan, file.layout, file.semantics, file.limits);
    EXPECT_EQ(arena.valid, arena.violation.empty());
  } catch (const InputError& error) {
    ++outcomes.refused;
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

void expect_decided(const Octets& bytes, Outcomes& outcomes) {
  expect_refused_or_judged([&] { return plan_from_binary(bytes, "p.plan"); }, outcomes);
  // The device's decoder too: all steps and addresses of what it opens can be had.
  poet_plan plan;
  const int code = poet_plan_open(&plan, bytes.data(), bytes.size());
  if (code != POET_PLAN_OK) {
    EXPECT_LT(code, 0);
    return;
  }
  for (const Step& step : steps_of(plan).steps) {
    if (step.kind == StepKind::compute)
      EXPECT_LT(step.op.index, static_cast<std::int64_t>(plan.ops));
    else
      EXPECT_LT(step.value.index, static_cast<std::int64_t>(plan.values));
  }
  std::uint32_t units = 0;
  for (std::uint32_t r = 0; r < plan.allocations; ++r)
    EXPECT_EQ(poet_plan_address(&plan, r, &units), POET_PLAN_OK);
}

// Every second time among the bytes for devices, which are few and first.
std::size_t position(Rng& rng, const Octets& bytes) {
  const int size = static_cast<int>(bytes.size());
  return static_cast<std::size_t>(pick(rng, 0, chance(rng, 0.5) ? std::min(size, 80) - 1 : size - 1));
}

void damage(Rng& rng, Octets& bytes, const Octets& other) {
  const std::size_t at = position(rng, bytes);
  const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  const auto some = std::min<std::ptrdiff_t>(pick(rng, 1, 12), bytes.end() - place);
  switch (pick(rng, 0, 6)) {
    case 0:
      bytes[at] = static_cast<std::uint8_t>(pick(rng, 0, 255));
      break;
    case 1:
      bytes.erase(place, place + some);
      break;
    case 2: {  // a piece of another file
      const auto from = other.begin() + static_cast<std::ptrdiff_t>(position(rng, other));
      bytes.insert(place, from, from + std::min<std::ptrdiff_t>(some, other.end() - from));
      break;
    }
    case 3: {  // the same over what is there, so that lengths stay right
      const auto from = other.begin() + static_cast<std::ptrdiff_t>(position(rng, other));
      std::copy(from, from + std::min<std::ptrdiff_t>(some, other.end() - from), place);
      break;
    }
    default:
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ 1 << pick(rng, 0, 7));
  }
}

template <class Read>
void expect_plans_decided(const Read& read, Outcomes& outcomes) {
  try {
    const PlanFamily family = read();
    for (std::size_t i = 0; i < family.plans.size(); ++i)
      expect_refused_or_judged([&] { return plan_of(family, i); }, outcomes);
  } catch (const InputError& error) {
    ++outcomes.refused;
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

/// The checksums of the plans in a file of several, then its own.
void mend_family(Octets& image) {
  for (std::size_t at = 8; at + 12 <= image.size();) {
    const std::size_t length = test::number_at(image, at + 4);
    if (length > image.size() - at - 12) break;
    if (test::number_at(image, at) == POET_PLAN_PLANS) {
      for (std::size_t plan = at + 8; plan + 12 <= at + 8 + length;) {
        const std::size_t size = test::number_at(image, plan);
        if (size > at + 8 + length - plan - 4) break;
        const auto begin = image.begin() + static_cast<std::ptrdiff_t>(plan + 4);
        Octets one(begin, begin + static_cast<std::ptrdiff_t>(size));
        test::mend_checksums(one);
        std::copy(one.begin(), one.end(), begin);
        plan += 4 + size;
      }
    }
    at += length + 12;
  }
  test::mend_checksums(image);
}

TEST(PlanFileFuzz, FilesOfSeveralPlansAreRefusedOrJudged) {
  const PlanFamily& family = test::small_family();
  const Octets whole = to_binary(family);
  const std::string text = to_json(family).dump();
  Outcomes as_damaged;
  Outcomes mended;
  Outcomes json;
  Outcomes cut;
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 100) {
    Octets bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    expect_plans_decided([&] { return plans_from_binary(bytes, "f.plan"); }, cut);
  }
  EXPECT_EQ(cut.judged, 0);
  for (int seed = 0; seed < test::effort(600, 5); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Octets bytes = whole;
    for (int n = pick(rng, 1, 3); n > 0 && !bytes.empty(); --n) damage(rng, bytes, whole);
    if (seed % 2 == 1) mend_family(bytes);
    expect_plans_decided([&] { return plans_from_binary(bytes, "f.plan"); },
                         seed % 2 == 1 ? mended : as_damaged);
    std::string changed = text;
    const std::size_t digit = changed.find_first_of(
        "0123456789", static_cast<std::size_t>(pick(rng, 0, static_cast<int>(text.size()) - 1)));
    if (digit != std::string::npos) changed[digit] = static_cast<char>('0' + pick(rng, 0, 9));
    expect_plans_decided([&] { return plans_from_json(parse_json(changed, "f.json"), "f.json"); }, json);
    if (HasFailure()) return;
  }
  EXPECT_GT(as_damaged.refused, test::enough(250, 5));
  EXPECT_GT(mended.refused, test::enough(50, 5));
  EXPECT_GT(mended.judged, test::enough(15, 5));
  EXPECT_GT(json.refused, test::enough(50, 5));
  EXPECT_GT(json.judged, 50);
}

TEST(PlanFileFuzz, EveryTruncationIsRefused) {
  Rng rng(7);
  Outcomes outcomes;
  const Octets whole = to_binary(test::random_file(rng, 6));
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_decided(Octets(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), outcomes);
  EXPECT_EQ(outcomes.refused, static_cast<int>(whole.size()));
  expect_decided(whole, outcomes);
  EXPECT_EQ(outcomes.judged, 1);
}

TEST(PlanFileFuzz, DamagedBytesAreRefusedOrJudged) {
  Outcomes as_damaged;
  Outcomes mended;
  Octets other;
  for (int seed = 0; seed < test::effort(250, 5); ++seed) {
    Rng rng(seed);
    PlanFile file = test::random_file(rng, 6);
    file.limits = test::ram(1 << 20);
    const Octets whole = to_binary(file);
    if (other.empty()) other = whole;
    for (int round = 0; round < 200; ++round) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
      Octets bytes = whole;
      for (int n = pick(rng, 1, 3); n > 0 && !bytes.empty(); --n)
        damage(rng, bytes, chance(rng, 0.5) ? whole : other);
      if (round % 2 == 1) {
        test::mend_checksums(bytes);
        if (round % 4 == 1 && bytes.size() > 100) test::mend_graph(bytes);
      }
      expect_decided(bytes, round % 2 == 1 ? mended : as_damaged);
    }
    other = whole;
    if (HasFailure()) return;
  }
  EXPECT_GT(as_damaged.refused, test::enough(20'000, 5));  // every outcome occurs
  EXPECT_GT(mended.refused, test::enough(10'000, 5));
  EXPECT_GT(mended.judged, test::enough(1'000, 5));
  EXPECT_GT(mended.valid, test::enough(100, 5));
}

// A file whose schedule is noise: events of all sorts in any order.
TEST(PlanFileFuzz, AnyEventsAreRefusedOrJudged) {
  Outcomes outcomes;
  for (int seed = 0; seed < test::effort(200, 5); ++seed) {
    Rng rng(seed);
    const Octets whole = to_binary(test::random_file(rng, 40));
    for (int round = 0; round < 20; ++round) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
      std::vector<test::ImageSection> sections = test::sections_of_image(whole);
      Octets& schedule = sections[0].payload;
      schedule.resize(7);
      for (int n = pick(rng, 0, 12); n > 0; --n)
        schedule.push_back(
            static_cast<std::uint8_t>(pick(rng, 0, 6) << 5 | pick(rng, 0, chance(rng, 0.1) ? 31 : 5)));
      expect_decided(test::make_image(sections), outcomes);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(outcomes.refused, test::enough(1'000, 5));
}

TEST(PlanFileFuzz, DamagedJsonIsRefusedOrJudged) {
  Outcomes outcomes;
  const char* const tokens[] = {"-1",   "99",    "1e9",        "[]", "{}",
                                "null", "\"x\"", "4294967296", ",",  "\"wait\""};
  for (int seed = 0; seed < test::effort(3000, 5); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    PlanFile file = test::random_file(rng, 5);
    file.limits = test::ram(1 << 20);
    std::string text = to_json(file).dump();
    for (int n = pick(rng, 1, 2); n > 0; --n) {
      const auto at = static_cast<std::size_t>(pick(rng, 0, static_cast<int>(text.size()) - 1));
      const std::size_t digit = text.find_first_of("0123456789", at);
      if (chance(rng, 0.1))
        text.erase(at, static_cast<std::size_t>(pick(rng, 1, 12)));
      else if (chance(rng, 0.1))
        text.insert(at, tokens[pick(rng, 0, 9)]);
      else if (digit != std::string::npos)  // a digit for a digit: files that can still be read
        text[digit] = static_cast<char>('0' + pick(rng, 0, 9));
    }
    expect_refused_or_judged([&] { return plan_from_json(parse_json(text, "p.json"), "p.json"); }, outcomes);
    if (HasFailure()) return;
  }
  EXPECT_GT(outcomes.refused, test::enough(500, 5));
  EXPECT_GT(outcomes.judged, test::enough(500, 5));
  EXPECT_GT(outcomes.valid, test::enough(200, 5));
}

}  // namespace
}  // namespace poet
