#include "apps/shared/option_names.h"

#include <gtest/gtest.h>

namespace poet::cli {
namespace {

TEST(OptionNames, StandForTheLibrarysFields) {
  EXPECT_EQ(with_option_names(InputError(Field{"learning_rate"}, "must be > 0")),
            "--learning-rate: must be > 0");
  EXPECT_EQ(with_option_names(InputError(Field{"momentum"}, "there is none (`optimizer`)")),
            "--momentum: there is none (--optimizer)");
  EXPECT_EQ(with_option_names(InputError("x.onnx", "give `input_shapes` or `batch_size`")),
            "x.onnx: give --input-shape or --batch-size");
}

TEST(OptionNames, LeaveEverythingElseAlone) {
  EXPECT_EQ(with_option_names(InputError("seed", "is a file")), "seed: is a file");
  EXPECT_EQ(with_option_names(InputError(Field{"horizon"}, "must be >= 0")), "horizon: must be >= 0");
  EXPECT_EQ(with_option_names(InputError("x", "`unknown` and `seed` and `half")),
            "x: `unknown` and --seed and `half");
}

}  // namespace
}  // namespace poet::cli
