#include "poet/base/nearest.h"

#include <gtest/gtest.h>

namespace poet {
namespace {

const std::vector<std::string> kCommands = {"solve", "show", "serve", "run", "resnet18_cifar", "vgg16"};

TEST(Nearest, FindsWhatWasMeant) {
  EXPECT_EQ(nearest("slove", kCommands), "solve");  // swapped
  EXPECT_EQ(nearest("sove", kCommands), "solve");   // missing
  EXPECT_EQ(nearest("runn", kCommands), "run");     // superfluous
  EXPECT_EQ(nearest("sarve", kCommands), "serve");  // wrong
  EXPECT_EQ(nearest("SHOW", kCommands), "show");    // another case
  EXPECT_EQ(nearest("ResNet18-cifr", kCommands), "resnet18_cifar");
  EXPECT_EQ(did_you_mean("slove", kCommands), "; did you mean solve?");
}

TEST(Nearest, IsSilentWhereNothingIsNear) {
  for (const char* name : {"", "train", "resnet50", "xyzxyz"}) {
    EXPECT_EQ(nearest(name, kCommands), std::nullopt) << name;
    EXPECT_EQ(did_you_mean(name, kCommands), "") << name;
  }
  EXPECT_EQ(nearest(std::string(1 << 20, 'a'), kCommands), std::nullopt);
  EXPECT_EQ(nearest("solve", {}), std::nullopt);
}

TEST(Nearest, NamesAreTheSameInAnyCase) {
  EXPECT_TRUE(same_name("ResNet18-CIFAR", "resnet18_cifar"));
  EXPECT_FALSE(same_name("resnet18", "resnet18_cifar"));
  EXPECT_FALSE(same_name("", "a"));
}

}  // namespace
}  // namespace poet
