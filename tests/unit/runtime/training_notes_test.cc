// Notes on training runs, in the words that all programs share.

#include "poet/runtime/training/notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace poet::runtime {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// A graph whose only op updates after every second step.
Graph updating_after_two() {
  Graph graph;
  Op op;
  op.pass = Pass::update;
  op.kind = "sgd";
  op.attributes["every"] = std::int64_t{2};
  graph.ops.push_back(op);
  return graph;
}

TEST(TrainingNotes, StepsWithoutAnUpdate) {
  const Graph graph = updating_after_two();
  RunSummary run;
  run.state.step = 2;
  EXPECT_THAT(notes_of(graph, run), IsEmpty());
  run.notices = {"of the setup"};
  run.state.step = 3;
  EXPECT_THAT(notes_of(graph, run),
              ElementsAre("of the setup",
                          "the last 1 step did no update: `accumulate` 2 updates after every 2; "
                          "without `checkpoint` the sum of their gradients is gone"));
  run.notices = {};
  run.resumable = true;
  EXPECT_THAT(notes_of(graph, run), ElementsAre(HasSubstr("; the page file has the sum")));
  run.saves = run.saved = true;
  EXPECT_THAT(notes_of(graph, run), ElementsAre(HasSubstr("; the checkpoint has the sum")));
  run.first_step = 3;
  EXPECT_THAT(notes_of(graph, run),
              ElementsAre(StartsWith("no update was done: `accumulate` 2 updates after")));
  run.first_step = 4;  // no step was run
  EXPECT_THAT(notes_of(graph, run), IsEmpty());
}

TEST(TrainingNotes, ABestCheckpointThatWasNotWritten) {
  RunSummary run;
  run.validate_every = 5;
  run.best = "b";
  EXPECT_THAT(notes_of({}, run),
              ElementsAre("`best` b was not written: the network is measured after every 5 "
                          "steps, and the run ended before"));
  run.validations.emplace_back().loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(notes_of({}, run), ElementsAre(HasSubstr("the loss of no validation was a finite number")));
  run.validations[0].loss = 1;
  EXPECT_THAT(notes_of({}, run), ElementsAre(HasSubstr("a parameter was not finite")));
  run.state.best_step = 2;
  run.state.best_loss = 0.5;
  EXPECT_THAT(notes_of({}, run), ElementsAre(HasSubstr("had a lower loss than the 0.5 after step 2")));
  run.best_saved = true;
  EXPECT_THAT(notes_of({}, run), IsEmpty());
}

TEST(TrainingNotes, AnEndThatIsNotFinite) {
  const Graph graph = updating_after_two();
  RunState state;
  state.step = 2;
  state.loss = -std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(not_finite_note(graph, state, "'x' has nan"), "at step 2 the loss is nan: 'x' has nan");
  EXPECT_THAT(not_finite_note(graph, state, ""), AllOf(HasSubstr("before any update")));
  state.step = 3;
  EXPECT_EQ(not_finite_note(graph, state, ""), "at step 3 the loss is nan; try a smaller `learning_rate`");
  state.loss = 1;
  EXPECT_EQ(not_finite_note(graph, state, ""),
            "after step 3 a parameter is not finite; try a smaller `learning_rate`");
}

}  // namespace
}  // namespace poet::runtime
