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

TEST(Nearest, NamesArePlacesInAList) {
  EXPECT_EQ(place_in("Serve", kCommands), 2U);
  EXPECT_EQ(place_in("RESNET18-cifar", kCommands), 4U);
  EXPECT_EQ(place_in("server", kCommands), std::nullopt);
  EXPECT_EQ(not_one_of("rum", {"run", "show"}), "\"rum\" is not one of run, show; did you mean run?");
  EXPECT_EQ(not_one_of("train", {"run", "show"}), "\"train\" is not one of run, show");
}

}  // namespace
}  // namespace poet
