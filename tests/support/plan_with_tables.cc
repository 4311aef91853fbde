#include "tests/support/plan_with_tables.h"

#include "poet/autodiff/differentiate.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/nn.h"
#include "poet/plan/allowance.h"
#include "poet/runtime/executor/program.h"
#include "poet/split/indexed.h"
#include "tests/support/quick_plan.h"
#include "tests/support/runs_with_pages.h"

namespace poet::test {
namespace {

Graph two_tables() {
  constexpr std::int64_t kBatch = 4, kLength = 12, kWidth = 16, kClasses = 8;
  GraphBuilder g("tables");
  const ValueId ids = g.input("ids", {kBatch, kLength}, DType::int32);
  const ValueId more = g.input("more", {kBatch, kLength}, DType::int32);
  const ValueId words = nn::embedding(g, "words", ids, 400, kWidth);
  const ValueId x = nn::add(g, "sum", words, nn::embedding(g, "others", more, 60, kWidth));
  const ValueId hidden = nn::tanh(g, "tanh", nn::linear(g, "hidden", x, 2 * kWidth));
  const ValueId logits =
      nn::reshape(g, "rows", nn::linear(g, "fc", hidden, kClasses), {kBatch * kLength, kClasses});
  nn::softmax_cross_entropy(g, "loss", logits, g.input("targets", {kBatch * kLength}, DType::int32));
  return differentiate(g.finish(), {});
}

}  // namespace

PlanFile plan_with_tables() {
  const Graph whole = two_tables();
  Instance instance;
  instance.graph = with_indexed(whole, indexable_tables(whole));
  instance.costs = tabulate(instance.graph, find_device("m4"));
  instance.batch_size = 4;
  instance.has_device = true;
  runtime::charge_workspaces(instance, kLoops);
  // All but the biases.
  std::vector<ValueId> paged = pageable(instance);
  std::erase_if(paged, [&](ValueId v) { return instance.graph.values[v].shape.size() < 2; });
  return quick_plan(instance, paged, Bytes(2000));
}

}  // namespace poet::test
