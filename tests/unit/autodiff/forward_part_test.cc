#include "poet/autodiff/forward_part.h"

#include <gtest/gtest.h>

#include "poet/autodiff/differentiate.h"
#include "poet/frontend/zoo.h"
#include "tests/support/same_graph.h"

namespace poet {
namespace {

TEST(ForwardPart, IsWhatTheTrainingGraphWasMadeOf) {
  for (const char* name : {"linear", "resnet14_cifar", "bert_tiny"}) {
    const Graph forward = build_network(name);
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adam}) {
      const Graph again = forward_part(differentiate(forward, {optimizer, {}}));
      EXPECT_EQ(test::first_difference(again, forward), "") << name;
    }
  }
}

}  // namespace
}  // namespace poet
