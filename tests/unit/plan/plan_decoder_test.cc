// The device's decoder, byte by byte.

#include "poet/plan/decoder/poet_plan.h"

#include <gtest/gtest.h>

#include <string>

#include "poet/plan/file/events.h"
#include "tests/support/plan_image.h"

namespace poet {
namespace {

using test::ImageSection;
using test::make_image;
using test::Octets;

// 4 ops and 3 values of a graph whose checksum is 0x04030201, on a device that waits.
const Octets kHead = {0, 4, 3, 1, 2, 3, 4};
// Units of 16 bytes, 2 allocations of 1 byte each: at 0 and 7.
const Octets kAddresses = {16, 2, 1, 0, 7};

Octets join(const Octets& a, const Octets& b) {
  Octets both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

Octets image(const Octets& events) {
  return make_image({{"SCHD", join(kHead, events)}, {"ADDR", kAddresses}});
}

// What opening says; the bytes lie in a block of their own size, so that sanitizers see every read beyond.
int code_of(const Octets& bytes) {
  poet_plan plan;
  return poet_plan_open(&plan, bytes.data(), bytes.size());
}

int code_of_addresses(const Octets& payload) {
  return code_of(make_image({{"SCHD", kHead}, {"ADDR", payload}}));
}

int code_of_schedule(const Octets& payload) {
  return code_of(make_image({{"SCHD", payload}, {"ADDR", kAddresses}}));
}

std::string steps(const Octets& bytes) {
  poet_plan plan;
  const int code = poet_plan_open(&plan, bytes.data(), bytes.size());
  if (code != POET_PLAN_OK) return poet_plan_message(code);
  poet_plan_cursor cursor;
  poet_plan_begin(&plan, &cursor);
  std::string text;
  poet_plan_step step;
  while (poet_plan_next(&cursor, &step) == POET_PLAN_OK)
    text += "coiw"[step.kind] + std::to_string(step.operand) + " ";
  EXPECT_EQ(poet_plan_next(&cursor, &step), POET_PLAN_END);  // and stays there
  return text;
}

TEST(PlanDecoder, ChecksumIsThatOfZip) {
  const std::string digits = "123456789";  // the usual check value
  EXPECT_EQ(poet_plan_crc32(reinterpret_cast<const std::uint8_t*>(digits.data()), digits.size()),
            0xcbf43926U);
  EXPECT_EQ(poet_plan_crc32(nullptr, 0), 0U);
}

TEST(PlanDecoder, ReadsHeaders) {
  const Octets bytes = image({0x03});
  poet_plan plan;
  ASSERT_EQ(poet_plan_open(&plan, bytes.data(), bytes.size()), POET_PLAN_OK);
  EXPECT_EQ(plan.flags, 0U);
  EXPECT_EQ(plan.ops, 4U);
  EXPECT_EQ(plan.values, 3U);
  EXPECT_EQ(plan.graph_crc, 0x04030201U);
  EXPECT_EQ(plan.unit, 16U);
  EXPECT_EQ(plan.allocations, 2U);
}

TEST(PlanDecoder, ReadsEveryKindOfEvent) {
  // Two first computations; out 0, out 2; again 0, 1, then 0; in 2, in 0; wait for all but one; the rest.
  EXPECT_EQ(steps(image({0x01, 0x80, 0x81, 0x20, 0x60, 0x41, 0xa0, 0xa1, 0xc1, 0x01})),
            "c0 c1 o0 o2 c0 c1 c0 i2 i0 w1 c2 c3 ");
  // The same with every operand as a varint, some longer than needed. 0x60 has no such form.
  EXPECT_EQ(steps(image({0x1f, 0x01, 0x9f, 0x80, 0x00, 0x9f, 0x02, 0x3f, 0x00, 0x60, 0x5f,
                         0x00, 0xbf, 0x02, 0xbf, 0x00, 0xdf, 0x01, 0x1f, 0x81, 0x80, 0x00})),
            "c0 c1 o0 o2 c0 c1 c0 i2 i0 w1 c2 c3 ");
  EXPECT_EQ(steps(image({})), "");
}

TEST(PlanDecoder, ReadsAddresses) {
  for (int width = 1; width <= 4; ++width) {
    Octets payload = {0x80, 0x02, 2, static_cast<std::uint8_t>(width)};  // units of 256
    for (const int lowest : {5, 6}) {
      payload.push_back(static_cast<std::uint8_t>(lowest));
      for (int i = 1; i < width; ++i) payload.push_back(static_cast<std::uint8_t>(i << 4));
    }
    const Octets bytes = make_image({{"ADDR", payload}, {"SCHD", kHead}});
    poet_plan plan;
    ASSERT_EQ(poet_plan_open(&plan, bytes.data(), bytes.size()), POET_PLAN_OK);
    EXPECT_EQ(plan.unit, 256U);
    std::uint32_t units = 0;
    ASSERT_EQ(poet_plan_address(&plan, 1, &units), POET_PLAN_OK);
    EXPECT_EQ(units, 0x30201006U & (0xffffffffU >> (32 - 8 * width)));
    EXPECT_EQ(poet_plan_address(&plan, 2, &units), POET_PLAN_BAD_ALLOCATION);
  }
}

TEST(PlanDecoder, SkipsWhatItDoesNotKnow) {
  EXPECT_EQ(steps(make_image(
                {{"NEWS", {1, 2, 3}}, {"ADDR", kAddresses}, {"NEWS", {}}, {"SCHD", join(kHead, {0x00})}})),
            "c0 ");
  Octets padded = image({0x00});
  padded.insert(padded.end(), 100, 0xff);  // erased flash
  EXPECT_EQ(steps(padded), "c0 ");
  Octets damaged = make_image({{"SCHD", kHead}, {"ADDR", kAddresses}, {"NEWS", {1, 2, 3}}});
  damaged.back() ^= 1;
  EXPECT_EQ(code_of(damaged), POET_PLAN_OK);
}

TEST(PlanDecoder, RefusesBrokenContainers) {
  const Octets good = image({0x03});
  EXPECT_EQ(code_of(good), POET_PLAN_OK);
  EXPECT_EQ(code_of({}), POET_PLAN_NOT_A_PLAN);
  for (std::size_t size = 1; size < good.size(); ++size) {
    const Octets cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(code_of(cut), size < 8 ? POET_PLAN_NOT_A_PLAN : POET_PLAN_TRUNCATED) << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {  // nothing in it is without meaning
    for (int bit = 0; bit < 8; ++bit) {
      Octets flipped = good;
      flipped[at] = static_cast<std::uint8_t>(flipped[at] ^ 1 << bit);
      EXPECT_LT(code_of(flipped), 0) << at << " " << bit;
    }
  }
  Octets other = good;
  other[0] = 'p';
  EXPECT_EQ(code_of(other), POET_PLAN_NOT_A_PLAN);
  other = good;
  other[4] = 3;
  EXPECT_EQ(code_of(other), POET_PLAN_BAD_VERSION);
  other = good;
  other[5] = 1;
  EXPECT_EQ(code_of(other), POET_PLAN_BAD_VERSION);
  other = good;
  other[6] = 3;
  EXPECT_EQ(code_of(other), POET_PLAN_TRUNCATED);
  other = good;
  other[6] = 1;
  EXPECT_EQ(code_of(other), POET_PLAN_NO_SECTION);
  other = good;
  other.back() ^= 1;
  EXPECT_EQ(code_of(other), POET_PLAN_BAD_CHECKSUM);
  for (std::size_t i = 12; i < 16; ++i) other[i] = 0xff;  // a length of 4 GiB
  EXPECT_EQ(code_of(other), POET_PLAN_TRUNCATED);
  EXPECT_EQ(code_of(make_image({{"SCHD", kHead}, {"ADDR", kAddresses}, {"SCHD", kHead}})), POET_PLAN_TWICE);
  EXPECT_EQ(code_of(make_image({{"ADDR", kAddresses}})), POET_PLAN_NO_SECTION);
}

TEST(PlanDecoder, RefusesBrokenSchedules) {
  EXPECT_EQ(code_of_schedule({}), POET_PLAN_BAD_SCHEDULE);
  EXPECT_EQ(code_of_schedule({2, 4, 3, 0, 0, 0, 0}), POET_PLAN_BAD_SCHEDULE);  // unknown flag
  EXPECT_EQ(code_of_schedule({0, 0x80}), POET_PLAN_BAD_SCHEDULE);              // varint without an end
  EXPECT_EQ(code_of_schedule({0, 4, 3, 0, 0, 0}), POET_PLAN_BAD_SCHEDULE);     // checksum too short
  const Octets huge = {0xff, 0xff, 0xff, 0xff, 0x08};                          // 2^31 and more
  EXPECT_EQ(code_of_schedule(join(join({0}, huge), {3, 0, 0, 0, 0})), POET_PLAN_BAD_SCHEDULE);
  EXPECT_EQ(code_of_schedule(join(join({0, 4}, huge), {0, 0, 0, 0})), POET_PLAN_BAD_SCHEDULE);
  EXPECT_EQ(code_of(image({0xe0})), POET_PLAN_BAD_SCHEDULE);  // the tag that means nothing
  EXPECT_EQ(code_of(image({0x1f})), POET_PLAN_BAD_SCHEDULE);  // escape without a number
  EXPECT_EQ(code_of(image({0x1f, 0x80})), POET_PLAN_BAD_SCHEDULE);
  EXPECT_EQ(code_of(image({0x1f, 0x80, 0x80, 0x80, 0x80, 0x10})), POET_PLAN_BAD_SCHEDULE);        // 2^32
  EXPECT_EQ(code_of(image({0x1f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00})), POET_PLAN_BAD_SCHEDULE);  // 6 bytes
}

TEST(PlanDecoder, ChecksEveryRange) {
  const Octets most = {0xff, 0xff, 0xff, 0xff, 0x0f};  // 2^32 - 1
  EXPECT_EQ(code_of(image({0x04})), POET_PLAN_BAD_OP);
  EXPECT_EQ(code_of(image({0x03, 0x00})), POET_PLAN_BAD_OP);
  EXPECT_EQ(code_of(image(join({0x1f}, most))), POET_PLAN_BAD_OP);
  EXPECT_EQ(code_of(image({0x24})), POET_PLAN_BAD_OP);
  EXPECT_EQ(code_of(image({0x23, 0x60})), POET_PLAN_BAD_OP);
  EXPECT_EQ(code_of(image({0x23, 0x20})), POET_PLAN_BAD_OP);
  EXPECT_EQ(code_of(image({0x40})), POET_PLAN_BAD_OP);        // before op 0
  EXPECT_EQ(code_of(image({0x21, 0x42})), POET_PLAN_BAD_OP);  // after op 1
  EXPECT_EQ(code_of(image({0x7f})), POET_PLAN_BAD_OP);        // 32 of them
  EXPECT_EQ(code_of(image(join({0x3f}, most))), POET_PLAN_BAD_OP);
  EXPECT_EQ(code_of(image(join({0x5f}, most))), POET_PLAN_BAD_OP);
  EXPECT_EQ(code_of(image({0x83})), POET_PLAN_BAD_VALUE);
  EXPECT_EQ(code_of(image({0x82, 0x80})), POET_PLAN_BAD_VALUE);
  EXPECT_EQ(code_of(image(join({0x9f}, most))), POET_PLAN_BAD_VALUE);
  EXPECT_EQ(code_of(image({0xa3})), POET_PLAN_BAD_VALUE);        // before value 0
  EXPECT_EQ(code_of(image({0xa2, 0xa0})), POET_PLAN_BAD_VALUE);  // after value 0
  EXPECT_EQ(code_of(image(join({0xbf}, most))), POET_PLAN_BAD_VALUE);
  EXPECT_EQ(code_of(image({0xc0})), POET_PLAN_BAD_WAIT);
  EXPECT_EQ(code_of(image({0x80, 0xc1})), POET_PLAN_BAD_WAIT);
  EXPECT_EQ(code_of(image(join({0x80, 0xdf}, most))), POET_PLAN_BAD_WAIT);
  EXPECT_EQ(code_of(image({0x80, 0xc0})), POET_PLAN_OK);
}

TEST(PlanDecoder, RefusesBrokenAddresses) {
  EXPECT_EQ(code_of_addresses({}), POET_PLAN_BAD_ADDRESSES);
  EXPECT_EQ(code_of_addresses({16, 2}), POET_PLAN_BAD_ADDRESSES);
  EXPECT_EQ(code_of_addresses({16, 0, 1}), POET_PLAN_OK);
  EXPECT_EQ(code_of_addresses({0, 2, 1, 0, 7}), POET_PLAN_BAD_ADDRESSES);  // units of nothing
  EXPECT_EQ(code_of_addresses({16, 2, 0}), POET_PLAN_BAD_ADDRESSES);       // no bytes each
  EXPECT_EQ(code_of_addresses({16, 2, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), POET_PLAN_BAD_ADDRESSES);
  EXPECT_EQ(code_of_addresses({16, 2, 1, 0}), POET_PLAN_BAD_ADDRESSES);  // one too few
  EXPECT_EQ(code_of_addresses({16, 2, 1, 0, 7, 9}), POET_PLAN_BAD_ADDRESSES);
  // 2^30 + 1 allocations of 4 bytes are 4 bytes modulo 2^32.
  EXPECT_EQ(code_of_addresses({16, 0x81, 0x80, 0x80, 0x80, 0x04, 4, 0, 0, 0, 0}), POET_PLAN_BAD_ADDRESSES);
}

TEST(PlanDecoder, HasAMessageForEveryCode) {
  for (int code = POET_PLAN_BAD_ALLOCATION; code <= POET_PLAN_END; ++code)
    EXPECT_STRNE(poet_plan_message(code), poet_plan_message(99)) << code;
  EXPECT_STREQ(poet_plan_message(POET_PLAN_BAD_ALLOCATION - 1), "unknown code");
}

TEST(PlanEvents, AreTheBytesWorkedOutByHand) {
  Plan plan;
  const auto compute = [&plan](int op) { plan.steps.push_back({StepKind::compute, OpId(op), ValueId()}); };
  const auto with = [&plan](StepKind kind, int value) {
    plan.steps.push_back({kind, OpId(), ValueId(value)});
  };
  Octets expected;
  const auto expect = [&expected](const Octets& bytes) { expected = join(expected, bytes); };
  for (int op = 0; op < 40; ++op) compute(op);
  with(StepKind::free, 1);  // not in the stream, nor in the way of a run
  compute(40);
  expect({0x1f, 40});  // 41 first ones
  compute(5);
  expect({0x25});  // ahead of 0 by 5
  compute(6);
  compute(7);
  expect({0x61});  // and 2 more
  compute(3);
  expect({0x44});  // behind 7 by 4
  compute(39);
  expect({0x3f, 39});  // 35 ahead of 4
  compute(40);
  expect({0x60});
  compute(41);
  expect({0x00});  // for the first time
  for (int op = 0; op < 40; ++op) compute(op);
  expect({0x5f, 0, 0x7f, 0x66});  // behind 40 by 40, then 32 + 7 more
  with(StepKind::page_out, 200);
  expect({0x9f, 0xc8, 0x01});
  with(StepKind::page_out, 202);
  expect({0x81});
  with(StepKind::page_in, 202);
  expect({0xbf, 0xca, 0x01});
  with(StepKind::page_in, 200);
  expect({0xa1});
  with(StepKind::wait, 202);
  expect({0xc1});
  with(StepKind::wait, 200);
  expect({0xc0});
  EXPECT_EQ(events_of(plan, 1000), expected);

  plan.steps.erase(plan.steps.begin() + 40);
  const Octets bytes =
      make_image({{"SCHD", join({0, 42, 0xe8, 0x07, 0, 0, 0, 0}, expected)}, {"ADDR", kAddresses}});
  poet_plan opened;
  ASSERT_EQ(poet_plan_open(&opened, bytes.data(), bytes.size()), POET_PLAN_OK);
  EXPECT_EQ(steps_of(opened).steps, plan.steps);
}

}  // namespace
}  // namespace poet
