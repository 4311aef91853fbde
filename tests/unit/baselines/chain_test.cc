// Where training graphs are cut into chains, and what belongs to which block.

#include "poet/baselines/chain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/baselines/compute_order.h"
#include "poet/baselines/revolve.h"
#include "poet/cost/instance_json.h"
#include "poet/frontend/zoo.h"
#include "poet/verify/replay.h"
#include "tests/support/paths.h"
#include "tests/support/random_chain.h"
#include "tests/support/small_graphs.h"
#include "tests/support/tiny_instance.h"

namespace poet {
namespace {

using test::add_node;
using test::add_op;
using test::add_output;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Chain chain_in(const Instance& instance) { return chain_of(instance, dataflow(instance.graph)); }

Instance published(const std::string& name) {
  return read_instance(test::repository() / "data/published" / (name + ".json"));
}

// Costs do not matter to where a graph is cut.
Instance built_in(const std::string& name) { return test::instance_of(differentiate(build_network(name))); }

std::vector<std::string> names(const Instance& instance, const std::vector<OpId>& ops) {
  std::vector<std::string> list;
  for (const OpId op : ops) list.push_back(instance.graph.ops[op].name);
  return list;
}

ValueId backward(Graph& graph, const std::string& name, std::vector<ValueId> reads) {
  const ValueId v = add_node(graph, name, std::move(reads), 1);
  graph.ops[OpId(graph.ops.size() - 1)].pass = Pass::backward;
  return v;
}

TEST(Chain, UnitChain) {
  const Instance instance = test::unit_blocks(5);
  const Chain chain = chain_in(instance);
  ASSERT_EQ(chain.reason, "");
  ASSERT_EQ(chain.blocks.size(), 5U);
  EXPECT_EQ(chain_note(chain), "on a chain of 5 blocks (of 5 forward ops)");
  EXPECT_THAT(names(instance, chain.inputs), ElementsAre("x"));
  const ChainBlock& third = chain.blocks[2];
  EXPECT_THAT(names(instance, third.forward), ElementsAre("f2"));
  EXPECT_THAT(names(instance, third.turn), ElementsAre("f2"));
  EXPECT_THAT(names(instance, third.backward), ElementsAre("b2"));
  EXPECT_EQ(instance.graph.values[third.input].name, "f1");
  EXPECT_EQ(instance.graph.values[third.output].name, "f2");
  EXPECT_TRUE(third.reads_input);
  EXPECT_TRUE(third.reads_output);
  EXPECT_EQ(instance.graph.values[chain.blocks[0].input].name, "x");
}

// x -> conv -> relu -> conv -> loss, where a convolution's backward op reads its input and an activation's
// its result: both activations can be differentiated with what the next block has for its input.
TEST(Chain, AnActivationBelongsToWhatItFollows) {
  Graph graph;
  const ValueId x = add_output(graph, "x", 1, Persistence::input);
  graph.ops[add_op(graph, "x", {}, {x})].recomputable = false;
  const ValueId c1 = add_node(graph, "conv1", {x}, 1);
  const ValueId r1 = add_node(graph, "relu1", {c1}, 1);
  const ValueId c2 = add_node(graph, "conv2", {r1}, 1);
  const ValueId r2 = add_node(graph, "relu2", {c2}, 1);
  const ValueId loss = add_node(graph, "loss", {r2}, 1);
  ValueId g = backward(graph, "loss.b", {r2, loss});
  g = backward(graph, "relu2.b", {g, r2});
  g = backward(graph, "conv2.b", {g, r1});
  g = backward(graph, "relu1.b", {g, r1});
  backward(graph, "conv1.b", {g, x});
  const Instance instance = test::instance_of(std::move(graph));
  const Chain chain = chain_in(instance);
  ASSERT_EQ(chain.reason, "");
  ASSERT_EQ(chain.blocks.size(), 3U);
  EXPECT_THAT(names(instance, chain.blocks[0].forward), ElementsAre("conv1", "relu1"));
  EXPECT_THAT(names(instance, chain.blocks[1].forward), ElementsAre("conv2", "relu2"));
  EXPECT_THAT(names(instance, chain.blocks[1].turn), IsEmpty());
  EXPECT_THAT(names(instance, chain.blocks[1].backward), ElementsAre("conv2.b", "relu1.b"));
  EXPECT_THAT(names(instance, chain.blocks[2].backward), ElementsAre("loss.b", "relu2.b"));
}

// A mask that only the backward pass reads, targets that enter at the loss: neither is in the way of a cut.
TEST(Chain, SideValuesDoNotCross) {
  Graph graph;
  const ValueId x = add_output(graph, "x", 1, Persistence::input);
  graph.ops[add_op(graph, "x", {}, {x})].recomputable = false;
  const ValueId targets = add_output(graph, "targets", 1, Persistence::input);
  graph.ops[add_op(graph, "targets", {}, {targets})].recomputable = false;
  const ValueId a = add_output(graph, "a", 1);
  const ValueId mask = add_output(graph, "mask", 1);
  add_op(graph, "drop", {x}, {a, mask});
  const ValueId b = add_node(graph, "b", {a}, 1);
  const ValueId loss = add_node(graph, "loss", {b, targets}, 1);
  ValueId g = backward(graph, "loss.b", {loss, targets});
  g = backward(graph, "b.b", {g, a, b});
  backward(graph, "drop.b", {g, mask});
  const Instance instance = test::instance_of(std::move(graph));
  const Chain chain = chain_in(instance);
  ASSERT_EQ(chain.reason, "");
  ASSERT_EQ(chain.blocks.size(), 3U);
  EXPECT_THAT(chain.pinned, ElementsAre(targets));
  EXPECT_THAT(chain.blocks[0].saved, ElementsAre(mask));
  EXPECT_EQ(chain.blocks[0].input, x);
}

TEST(Chain, SaysWhyNot) {
  {
    Graph graph;  // b crosses everything
    const ValueId a = add_node(graph, "a", {}, 1);
    const ValueId b = add_node(graph, "b", {a}, 1);
    const ValueId c = add_node(graph, "c", {a, b}, 1);
    const ValueId d = add_node(graph, "d", {b, c}, 1);
    backward(graph, "g", {d, c});
    EXPECT_THAT(chain_in(test::instance_of(graph)).reason, HasSubstr("cannot be cut into 3 blocks"));
  }
  {
    Graph graph;  // the backward pass goes back and forth
    const ValueId a = add_node(graph, "a", {}, 1);
    const ValueId b = add_node(graph, "b", {a}, 1);
    const ValueId c = add_node(graph, "c", {b}, 1);
    const ValueId d = add_node(graph, "d", {c}, 1);
    ValueId g = backward(graph, "g1", {c, d});
    g = backward(graph, "g2", {g, a});
    backward(graph, "g3", {g, d});
    EXPECT_THAT(chain_in(test::instance_of(graph)).reason, HasSubstr("op \"g3\" comes after"));
  }
  {
    Graph graph;  // one op for all of it
    const ValueId a = add_node(graph, "a", {}, 1);
    const ValueId b = add_node(graph, "b", {a}, 1);
    const ValueId c = add_node(graph, "c", {b}, 1);
    const ValueId d = add_node(graph, "d", {c}, 1);
    backward(graph, "g", {a, d});
    EXPECT_THAT(chain_in(test::instance_of(graph)).reason,
                HasSubstr("op \"g\" reads what is inside more than one"));
  }
  EXPECT_EQ(chain_in(test::chain()).reason, "the graph has no backward pass");
  Instance opaque = test::unit_blocks(4);
  opaque.graph.ops[OpId(2)].recomputable = false;
  EXPECT_EQ(chain_in(opaque).reason, "op \"f1\" cannot be recomputed");
}

// Networks as people know them: VGG a block an op, residual blocks, encoder layers.
TEST(Chain, Networks) {
  const auto note = [](const Instance& instance) {
    const Chain chain = chain_in(instance);
    return chain.reason.empty() ? chain_note(chain) : chain.reason;
  };
  EXPECT_EQ(note(published("vgg16_cifar.a72")), "on a chain of 40 blocks (of 41 forward ops)");
  EXPECT_EQ(note(published("resnet18_cifar.a72")), "on a chain of 18 blocks (of 67 forward ops)");
  EXPECT_EQ(note(published("bert.a72")), "on a chain of 13 blocks (of 98 forward ops)");
  EXPECT_EQ(note(published("transformer.a72")),
            "the forward pass cannot be cut into 3 blocks with one value between them, only 2");
  EXPECT_EQ(note(built_in("vgg16_cifar")), "on a chain of 24 blocks (of 40 forward ops)");
  EXPECT_EQ(note(built_in("resnet18_cifar")), "on a chain of 13 blocks (of 89 forward ops)");
  EXPECT_EQ(note(built_in("bert")), "on a chain of 57 blocks (of 218 forward ops)");
}

// Whatever is recomputed is recomputed early enough: before updates, from what is there.
TEST(Chain, SchedulesOfNetworksObeyTheRules) {
  for (const char* name : {"linear", "vgg16_cifar", "resnet18_cifar", "bert", "transformer"}) {
    SCOPED_TRACE(name);
    const Instance instance = built_in(name);
    const Chain chain = chain_in(instance);
    ASSERT_EQ(chain.reason, "");
    const MethodRequest request{instance, no_limits(), Semantics::device, {}};
    for (const std::size_t snapshots : {1U, 3U}) {
      const Plan plan = plan_of_order(request, revolve_order(chain, snapshots));
      const Report report = replay(instance, plan, Semantics::device, no_limits());
      EXPECT_TRUE(report.valid) << report.violation;
      EXPECT_GT(report.recomputations, 0);
    }
  }
}

}  // namespace
}  // namespace poet
