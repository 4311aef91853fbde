// Whatever happens in the child, the parent gets an answer or none.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <vector>

#include "poet/frontend/onnx/read/isolated.h"

namespace poet::onnx {
namespace {

using ::testing::Optional;

int questions = 0;

std::optional<std::string> answer(const std::string& question) {
  ++questions;
  if (question == "count") return std::to_string(questions);
  if (question == "nothing") return std::nullopt;
  if (question == "throw") throw std::runtime_error("no");
  if (question == "crash") (void)std::raise(SIGSEGV);
  if (question == "loop") {
    for (volatile bool forever = true; forever;) {
    }
  }
  if (question == "memory") return std::string(std::size_t{1} << 30U, 'x');
  return question + question;
}

TEST(Isolated, AnswersFromOneChild) {
  Isolated child(answer);
  EXPECT_THAT(child.ask("ab"), Optional(std::string("abab")));
  EXPECT_THAT(child.ask(""), Optional(std::string()));
  EXPECT_THAT(child.ask("count"), Optional(std::string("3")));
  EXPECT_EQ(questions, 0) << "of the parent's own";
  const std::string large(5'000'000, 'y');  // more than a socket holds
  EXPECT_THAT(child.ask(large), Optional(large + large));
}

TEST(Isolated, NoAnswerLeavesTheChildAlive) {
  Isolated child(answer);
  EXPECT_EQ(child.ask("nothing"), std::nullopt);
  EXPECT_EQ(child.ask("throw"), std::nullopt);
  EXPECT_THAT(child.ask("count"), Optional(std::string("3")));
}

TEST(Isolated, AnotherChildFollowsADeadOne) {
  Isolated child(answer);
  for (const char* question : {"crash", "loop"}) {
    EXPECT_EQ(child.ask(question), std::nullopt) << question;
    EXPECT_THAT(child.ask("count"), Optional(std::string("1"))) << question;
  }
}

TEST(Isolated, MemoryIsLimited) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer does not live with a limit";
#endif
  Isolated child(answer);
  EXPECT_EQ(child.ask("memory"), std::nullopt);
  EXPECT_THAT(child.ask("b"), Optional(std::string("bb")));
}

}  // namespace
}  // namespace poet::onnx
