// The page file of a run whose tables are transferred by index, as another process finds it: a damaged row is
// named by its table, nothing is written then, and without the damage the run goes on to the same bits.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "poet/cost/cost_table.h"
#include "poet/runtime/executor/program.h"
#include "poet/runtime/executor/step_log.h"
#include "poet/runtime/storage/left_run.h"
#include "poet/runtime/training/trainer.h"
#include "tests/support/background.h"
#include "tests/support/input_error.h"
#include "tests/support/plan_with_tables.h"
#include "tests/support/program.h"
#include "tests/support/runs_with_pages.h"

namespace poet::test {
namespace {

using namespace runtime;

const PlanFile& plan_with_rows() {
  static const PlanFile file = plan_with_tables();
  return file;
}

class ResumeRows : public ::testing::Test {
 protected:
  [[nodiscard]] std::string pages() const { return folder_.file("pages"); }

  [[nodiscard]] std::string checkpoint_after(const TrainerOptions& options, std::int64_t steps) const {
    Trainer trainer(plan_with_rows(), options);
    EXPECT_TRUE(trainer.train({.steps = steps, .checkpoint = folder_.file("c")}).saved);
    trainer.discard_storage();
    return file_text(folder_.file("c"));
  }

  /// On the file, where the newest of a table's row lies that was changed by the last step.
  struct Found {
    std::size_t table;
    std::int64_t row, at;
  };
  [[nodiscard]] Found changed_row() const {
    const Program program(plan_with_rows(), kLoops);
    const StepLog log(plan_with_rows().instance.graph, program, {});
    const LeftRun left(pages());
    const PageFileHeader header = left.header();
    Bytes at = header.block + 2 * rounded_up(header.record, header.block);
    for (const Bytes slot : log.slots()) at += rounded_up(slot, header.block);
    const std::string text = file_text(pages());
    for (std::size_t table = 0; table < program.tables().size(); ++table) {
      const auto [rows, row] = program.tables()[table];
      const Bytes stride = rounded_up(row + kRowMark, header.block);
      for (std::int64_t place = 0; place < 2 * rows; ++place) {
        const std::int64_t begin = (at + place * stride).value();
        std::int64_t step = 0;
        std::memcpy(&step, text.data() + begin + row.value(), sizeof step);
        if (step == left.record().step) return {table, place % rows, begin};
      }
      at += 2 * rows * stride;
    }
    ADD_FAILURE() << "the last step changed no row";
    return {};
  }

  [[nodiscard]] std::string corrupted(const Found& found) const {
    const Program program(plan_with_rows(), kLoops);
    return "row " + std::to_string(found.row) + " of " + pages() + " (" +
           plan_with_rows().instance.graph.values[program.table_owner(found.table)].rows->table +
           ") is corrupted: what the storage gave back is not what was written to it";
  }

  TemporaryFolder folder_;
};

TEST_F(ResumeRows, ThatAreDamagedAreNamedAndNothingIsWritten) {
  const std::string expected = checkpoint_after(paging_to(folder_.file("other")), 6);
  {
    Trainer trainer(plan_with_rows(), paging_to(pages()));
    for (int i = 0; i < 3; ++i) trainer.step();
  }
  const Found found = changed_row();
  change_byte(pages(), found.at + 3, 0x40);
  const std::string damaged = file_text(pages());
  EXPECT_EQ(input_error([&] { const Trainer trainer(plan_with_rows(), resuming(pages())); }),
            corrupted(found));
  EXPECT_TRUE(file_text(pages()) == damaged);
  change_byte(pages(), found.at + 3, 0x40);
  const std::string whole = file_text(pages());
  { const Trainer accepted(plan_with_rows(), resuming(pages())); }
  EXPECT_TRUE(file_text(pages()) == whole) << "going on writes nothing before its first step";
  EXPECT_TRUE(checkpoint_after(resuming(pages()), 6) == expected);
}

TEST_F(ResumeRows, ThatAreDamagedWhileTrainingEndIt) {
  auto trainer = std::make_unique<Trainer>(plan_with_rows(), paging_to(pages()));
  for (int i = 0; i < 2; ++i) trainer->step();
  // A later step names it: the data begin anew.
  const Found found = changed_row();
  change_byte(pages(), found.at + 3, 0x40);
  std::string message;
  std::int64_t done = 2;
  for (; message.empty() && done < 64; ++done) {
    try {
      trainer->step();
    } catch (const InputError& error) {
      message = error.what();
    }
  }
  EXPECT_EQ(message, corrupted(found));
  const std::int64_t last = trainer->state().step;
  trainer.reset();
  change_byte(pages(), found.at + 3, 0x40);
  EXPECT_EQ(look_at_left_run(pages()).record().step, last);
  EXPECT_TRUE(checkpoint_after(resuming(pages()), last + 2) ==
              checkpoint_after(paging_to(folder_.file("other")), last + 2));
}

}  // namespace
}  // namespace poet::test
