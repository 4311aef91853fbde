#include "apps/shared/option_names.h"

#include <gtest/gtest.h>

namespace poet::cli {
namespace {

std::string said(const InputError& error) { return with_option_names(error).what(); }

TEST(OptionNames, StandForTheLibrarysFields) {
  EXPECT_EQ(said(InputError(Field{"learning_rate"}, "must be > 0")), "--learning-rate: must be > 0");
  EXPECT_EQ(said(InputError(Field{"momentum"}, "there is none (`optimizer`)")),
            "--momentum: there is none (--optimizer)");
  EXPECT_EQ(said(InputError("x.onnx", "give `input_shapes` or `batch_size`")),
            "x.onnx: give --input-shape or --batch-size");
}

TEST(OptionNames, ArePlacesForPrograms) {
  const InputError error = with_option_names(InputError(Field{"momentum"}, "needs `optimizer`"));
  EXPECT_EQ(error.place(), "--momentum");
  EXPECT_EQ(error.rule(), "needs --optimizer");
  const InputError hinted = with_option_names(InputError("x", "is unknown", "poet --help"));
  EXPECT_EQ(hinted.rule(), "is unknown");
  EXPECT_EQ(hinted.hint(), "poet --help");
}

TEST(OptionNames, LeaveEverythingElseAlone) {
  EXPECT_EQ(said(InputError("seed", "is a file")), "seed: is a file");
  EXPECT_EQ(said(InputError(Field{"horizon"}, "must be >= 0")), "horizon: must be >= 0");
  EXPECT_EQ(said(InputError("x", "`unknown` and `seed` and `half")), "x: `unknown` and --seed and `half");
}

}  // namespace
}  // namespace poet::cli
