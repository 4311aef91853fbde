// The page file of a run with parameters at home on storage, as another process finds it: what it goes on
// from when records are torn or pages damaged, and what is refused.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "poet/runtime/executor/program.h"
#include "poet/runtime/executor/step_log.h"
#include "poet/runtime/storage/left_run.h"
#include "poet/runtime/storage/page_cipher.h"
#include "poet/runtime/training/trainer.h"
#include "tests/support/background.h"
#include "tests/support/input_error.h"
#include "tests/support/program.h"
#include "tests/support/real_faults.h"
#include "tests/support/runs_with_pages.h"
#include "tests/support/small_family.h"

namespace poet::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using namespace runtime;

/// Weights of more than 256 bytes are at home on storage, all else is in RAM; fc's never change.
PlanFile plan_with_homes(std::int64_t channels = 6, Bytes more_ram = {}) {
  return family_member(family_instance(channels), Bytes(256), Bytes(2000) + more_ram);
}

const PlanFile& plan() {
  static const PlanFile file = plan_with_homes();
  return file;
}

class ResumePages : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  /// A run of so many steps that leaves its page file.
  [[nodiscard]] std::string left_after(int steps) const {
    Trainer trainer(plan(), paging_to(file("pages")));
    for (int i = 0; i < steps; ++i) trainer.step();
    return file("pages");
  }

  /// The checkpoint after `steps` by a run that goes on from `pages`.
  [[nodiscard]] std::string gone_on(const std::string& pages, std::int64_t steps) const {
    Trainer trainer(plan(), resuming(pages));
    EXPECT_TRUE(trainer.train({.steps = steps, .checkpoint = file("c")}).saved);
    return file_text(file("c"));
  }

  [[nodiscard]] std::string uninterrupted(std::int64_t steps) const {
    Trainer trainer(plan(), paging_to(""));
    trainer.train({.steps = steps, .checkpoint = file("u")});
    return file_text(file("u"));
  }

  [[nodiscard]] static std::int64_t step_in(const std::string& pages) {
    return look_at_left_run(pages).record().step;
  }

  TemporaryFolder folder_;
};

void overwrite(const std::string& file, std::int64_t at, const std::string& text) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(at);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
}

TEST_F(ResumePages, EveryStepIsThereForAnotherProcess) {
  const std::string expected = uninterrupted(6);
  for (int steps = 1; steps <= 3; ++steps) {
    const std::string pages = left_after(steps);
    EXPECT_EQ(step_in(pages), steps);
    {
      Trainer again(plan(), resuming(pages));
      EXPECT_TRUE(again.setup().goes_on);
      EXPECT_EQ(again.state().seed, 5U);
      again.step();
    }
    EXPECT_EQ(step_in(pages), steps + 1);
    EXPECT_TRUE(gone_on(pages, 6) == expected) << steps;
    EXPECT_EQ(step_in(pages), 6) << "until it is discarded";
    EXPECT_TRUE(gone_on(pages, 6) == expected) << "nothing is left to do but the checkpoint";
    fs::remove(pages);
  }
}

TEST_F(ResumePages, TheFileGoesWhenNobodyIsToGoOn) {
  {
    Trainer trainer(plan(), paging_to(file("pages")));
    EXPECT_GT(trainer.paging().record, Bytes(0));
    trainer.step();
    trainer.discard_storage();
  }
  EXPECT_FALSE(fs::exists(file("pages")));
  { const Trainer no_step(plan(), paging_to(file("pages"))); }
  EXPECT_FALSE(fs::exists(file("pages"))) << "what has no step is nothing to go on from";
  folder_.write("empty", "");
  {
    Trainer trainer(plan(), paging_to(file("empty")));
    trainer.step();
    trainer.discard_storage();
  }
  EXPECT_EQ(fs::file_size(file("empty")), 0U);
}

TEST_F(ResumePages, OnlyFilesWithNamesAndReadablePagesAreGoneOnFrom) {
  {
    Trainer trainer(plan(), paging_to(file("")));
    trainer.step();
    EXPECT_EQ(trainer.paging().record, Bytes(0));
  }
  EXPECT_THAT(names_in(file("")), IsEmpty());
  if (!can_encrypt()) return;
  TrainerOptions secret = paging_to(file("pages"));
  secret.storage.encrypt = true;
  {
    Trainer trainer(plan(), secret);
    trainer.step();
    EXPECT_EQ(trainer.paging().record, Bytes(0));
  }
  EXPECT_THAT(names_in(file("")), IsEmpty());
}

TEST_F(ResumePages, ATornRecordLeavesTheOneBefore) {
  const std::string expected = uninterrupted(5);
  const std::string pages = left_after(2);
  const PageFileHeader header = look_at_left_run(pages).header();
  // As it is when step 3 is complete, but for its record.
  const std::uint64_t number = look_at_left_run(pages).record().number + 1;
  const std::string before = file_text(pages);
  {
    Trainer trainer(plan(), resuming(pages));
    trainer.step();
  }
  const std::string after = file_text(pages);
  ASSERT_EQ(before.size(), after.size());
  const auto at = static_cast<std::size_t>(record_offset(header, number).value());
  const auto size = static_cast<std::size_t>(header.record.value());
  ASSERT_GT(size, 200U);
  for (std::size_t whole = 0; whole < size; whole += 1 + size / 97) {
    // So much of it has been written over the record of step 1.
    overwrite(pages, static_cast<std::int64_t>(at + whole), before.substr(at + whole, size - whole));
    const bool differs = after.compare(at + whole, size - whole, before, at + whole, size - whole) != 0;
    ASSERT_TRUE(differs);
    EXPECT_EQ(step_in(pages), 2) << whole;
    overwrite(pages, static_cast<std::int64_t>(at), after.substr(at, size));
    EXPECT_EQ(step_in(pages), 3);
    change_byte(pages, static_cast<std::int64_t>(at + whole), 0x10);
    EXPECT_EQ(step_in(pages), 2) << whole;
    if (whole < 3 * size / 97) {
      EXPECT_TRUE(gone_on(pages, 5) == expected);
    }
    std::ofstream(pages, std::ios::binary) << after;
  }
}

TEST_F(ResumePages, WithoutAnyRecordThereIsNothingToGoOnFrom) {
  const std::string pages = left_after(2);
  const PageFileHeader header = look_at_left_run(pages).header();
  const std::string whole = file_text(pages);
  const std::string nothing = pages + ": holds no complete step to go on from; start without `resume`";
  const auto refused = [&] { return input_error([&] { const Trainer trainer(plan(), resuming(pages)); }); };
  for (const std::uint64_t number : {0U, 1U})
    change_byte(pages, record_offset(header, number).value() + 30, 1);
  EXPECT_EQ(refused(), nothing);
  std::ofstream(pages, std::ios::binary) << whole;
  change_byte(pages, 70, 1);  // where the records are
  EXPECT_EQ(refused(), nothing);
  // Records without all pages are nobody's to overwrite.
  std::ofstream(pages, std::ios::binary) << whole.substr(0, whole.size() - 1);
  EXPECT_THAT(refused(), HasSubstr("pages are lost"));
  EXPECT_THAT(input_error([&] { const Trainer trainer(plan(), paging_to(pages)); }),
              HasSubstr("came to step 2, but not all of its pages"));
  // Without records the file may be used anew.
  std::ofstream(pages, std::ios::binary) << whole;
  change_byte(pages, 70, 1);
  Trainer trainer(plan(), paging_to(pages));
  trainer.step();
  EXPECT_EQ(LeftRun(pages).record().step, 1);
}

/// Where a slot's page begins.
std::int64_t offset_of(std::size_t slot, const PageFileHeader& header) {
  const Program program(plan(), kLoops);
  const StepLog log(plan().instance.graph, program, {});
  Bytes at = header.block + 2 * rounded_up(header.record, header.block);
  for (std::size_t before = 0; before < slot; ++before) at += rounded_up(log.slots()[before], header.block);
  return at.value();
}

std::string corrupted(std::size_t slot, const std::string& pages, const std::string& value) {
  return "page " + std::to_string(slot) + " of " + pages + " (" + value +
         ") is corrupted: what the storage gave back is not what was written to it";
}

TEST_F(ResumePages, ADamagedHomeIsNamedAndNothingIsWritten) {
  const std::string pages = left_after(3);
  const std::string whole = file_text(pages);
  const LeftRun left = look_at_left_run(pages);
  std::vector<std::string> named;
  for (const HomeRecord& home : left.record().homes) {
    const std::int64_t at = offset_of(home.slot, left.header());
    change_byte(pages, at + 3, 0x40);
    const std::string damaged = file_text(pages);
    const std::string message = input_error([&] { const Trainer trainer(plan(), resuming(pages)); });
    named.push_back(message.substr(message.find('(') + 1, message.find(')') - message.find('(') - 1));
    EXPECT_EQ(message, corrupted(home.slot, pages, named.back()));
    EXPECT_TRUE(file_text(pages) == damaged);
    change_byte(pages, at + 3, 0x40);
  }
  EXPECT_THAT(named, ElementsAre("conv.weight", "conv2.weight", "fc.weight", "conv.weight.velocity",
                                 "conv2.weight.velocity", "fc.bias"));
  { const Trainer accepted(plan(), resuming(pages)); }
  EXPECT_TRUE(file_text(pages) == whole) << "going on writes nothing before its first step";
  EXPECT_TRUE(gone_on(pages, 6) == uninterrupted(6));
}

TEST_F(ResumePages, AHomeDamagedWhileTrainingEndsIt) {
  const std::string pages = file("pages");
  for (const char* value : {"conv.weight", "conv2.weight", "fc.weight"}) {
    auto trainer = std::make_unique<Trainer>(plan(), paging_to(pages));
    for (int i = 0; i < 2; ++i) trainer->step();
    const LeftRun left(pages);
    const auto home =
        std::find_if(left.record().homes.begin(), left.record().homes.end(), [&](const auto& h) {
          const Program program(plan(), kLoops);
          const StepLog log(plan().instance.graph, program, {});
          return plan().instance.graph.values[log.owner(h.slot)].name == value;
        });
    ASSERT_NE(home, left.record().homes.end());
    const std::int64_t at = offset_of(home->slot, left.header());
    change_byte(pages, at + 3, 0x40);
    EXPECT_EQ(input_error([&] { trainer->step(); }), corrupted(home->slot, pages, value));
    const std::string after = file_text(pages);
    EXPECT_EQ(trainer->state().step, 2);
    EXPECT_EQ(input_error([&] { trainer->step(); }),
              pages + ": has the run as it was before a step failed: start again with `resume`");
    EXPECT_TRUE(file_text(pages) == after);
    // With the damage undone, the run is whole: its last complete step has not been written over.
    trainer.reset();
    change_byte(pages, at + 3, 0x40);
    EXPECT_EQ(step_in(pages), 2);
    EXPECT_TRUE(gone_on(pages, 5) == uninterrupted(5));
    fs::remove(pages);
  }
}

TEST_F(ResumePages, OnlyTheSameRunGoesOn) {
  const std::string pages = left_after(2);
  const std::string whole = file_text(pages);
  const auto refused = [&](const PlanFile& file, const TrainerOptions& options) {
    std::string message = input_error([&] { const Trainer trainer(file, options); });
    EXPECT_TRUE(file_text(pages) == whole) << message;
    return message;
  };
  EXPECT_EQ(refused(plan_with_homes(7), resuming(pages)),
            pages + ": holds a run of another network, or of one in other parts or another order");
  EXPECT_EQ(refused(plan_with_homes(6, Bytes(4000)), resuming(pages)),
            pages + ": holds a run by another plan: going on takes the same plan file");
  TrainerOptions other = resuming(pages);
  other.seed = 6;
  EXPECT_EQ(refused(plan(), other), "seed: is 6, that of " + pages + " is 5");
  other = resuming(pages);
  other.hyperparameters.learning_rate = 0.5;
  EXPECT_THAT(refused(plan(), other), StartsWith(pages + ": holds a run that differs in its optimizer: "));
  other = resuming(pages);
  other.samples = 65;
  EXPECT_THAT(refused(plan(), other), StartsWith(pages + ": holds a run that differs in its data: "));
  other = resuming(pages);
  other.storage.where = file("elsewhere");
  EXPECT_THAT(refused(plan(), other), StartsWith("storage: must be " + pages + " or not be given"));
  other = resuming(pages);
  other.storage.encrypt = true;
  EXPECT_THAT(refused(plan(), other), StartsWith("encrypt: is not possible"));
  // Nor is it overwritten.
  EXPECT_EQ(
      refused(plan(), paging_to(pages)),
      pages + ": holds a run that can be resumed after step 2: do so with `resume`, or remove the file");
  EXPECT_EQ(
      input_error([&] { check_storage({.where = pages}); }),
      pages + ": holds a run that can be resumed after step 2: do so with `resume`, or remove the file");
  // The storage may be named twice.
  other = resuming(pages);
  other.storage.where = pages;
  EXPECT_EQ(Trainer(plan(), other).state().step, 2);
  // What asks before there is a plan finds the same.
  const Graph& graph = plan().instance.graph;
  check_trainable(graph, resuming(pages));
  EXPECT_EQ(input_error([&] { check_trainable(plan_with_homes(7).instance.graph, resuming(pages)); }),
            pages + ": holds a run of another network, or of one in other parts or another order");
  Trainer running(plan(), resuming(pages));
  EXPECT_EQ(refused(plan(), resuming(pages)), pages + ": is in use by another run");
}

TEST_F(ResumePages, ACheckpointIsNoReasonToOverwriteARun) {
  const std::string pages = left_after(2);
  Trainer(plan(), resuming(pages)).save(file("two"));
  TrainerOptions by_checkpoint = paging_to(pages);
  by_checkpoint.seed.reset();
  by_checkpoint.resume = file("two");
  EXPECT_THAT(input_error([&] { const Trainer trainer(plan(), by_checkpoint); }), HasSubstr("after step 2"));
  by_checkpoint.storage.where = file("other");
  { const Trainer trainer(plan(), by_checkpoint); }
  EXPECT_FALSE(fs::exists(file("other")));
  {
    Trainer trainer(plan(), by_checkpoint);
    trainer.step();
  }
  EXPECT_EQ(step_in(file("other")), 3);
  EXPECT_TRUE(gone_on(file("other"), 5) == uninterrupted(5));
}

}  // namespace
}  // namespace poet::test
