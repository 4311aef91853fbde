// docs/search.md has the table of the time shares as they are.

#include "poet/base/time_shares.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace poet {
namespace {

std::string percent(double share) { return fmt::format("{:g}%", 100 * share); }

std::string text_of_document() {
  std::ifstream file(POET_TEST_REPOSITORY "/docs/search.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(TimeShares, AreThoseOfTheDocument) {
  const std::string text = text_of_document();
  const TimeShares& of = kShares;
  const auto has_row = [&](const std::string& part, const std::string& share) {
    EXPECT_THAT(text, testing::HasSubstr(fmt::format("| {} | {} |", part, share)));
  };
  has_row("splitting operators begins only with so much time left, twice as much if there is a plan",
          fmt::format("{:g} ms per op", 1e3 * of.splitting_per_op));
  has_row("addresses for a plan whose addresses do not fit, once more with all effort",
          percent(of.placing_again) + " of the time left");
  has_row("after the limit: the best plan's addresses, slack for its transfers",
          fmt::format("{:g} s", of.after_limit));
  has_row("after Ctrl-C: the same", fmt::format("{:g} s", of.after_cancellation));
  has_row("without a plan, each of the explanation's three searches",
          fmt::format("{} of the limit, at least {:g} s or {} of a short limit, at most {:g} s; {:g} s after "
                      "the limit",
                      percent(of.reason), of.reason_at_least, percent(of.reason_of_short), of.reason_at_most,
                      of.reason_after_limit));
  has_row("an external solver; the bound before it",
          fmt::format("{}; {} of the time left", percent(of.external_solver), percent(of.external_bound)));
  has_row("the least RAM budget: a look for one; a size of parts; making sure of it",
          fmt::format("{}; {}; {} of the time left", percent(of.least_look), percent(of.least_parts),
                      percent(of.least_sure)));
  has_row("the least RAM budget: bisecting and making sure, also after the limit",
          percent(of.least_after_limit) + " of its limit");
  has_row("a suggestion; at least; all of them after the limit",
          fmt::format("{} of the time left; {:g} s; {:g} s", percent(of.suggestion), of.suggestion_at_least,
                      of.suggestions_after_limit));
}

}  // namespace
}  // namespace poet
