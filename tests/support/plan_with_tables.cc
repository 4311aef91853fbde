#include "tests/support/plan_with_tables.h"

#include "poet/autodiff/differentiate.h"
#include "poet/compile.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/nn.h"
#include "poet/plan/allowance.h"
#include "poet/plan/file/plan_file.h"
#include "poet/runtime/executor/program.h"
#include "poet/split/indexed.h"

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
  runtime::charge_workspaces(instance, {runtime::KernelLibrary::reference, 1, ""});
  CompileRequest request;
  // All but the biases.
  std::vector<ValueId> paged = pageable(instance);
  std::erase_if(paged, [&](ValueId v) { return instance.graph.values[v].shape.size() < 2; });
  request.instance = with_paged(instance, paged);
  request.limits.ram_budget = ram_floor(request.instance, Semantics::device).bytes() + Bytes(2000);
  request.options.time_limit_seconds = 1;
  request.options.gap = 0.5;
  request.options.explain = false;
  const CompileResult result = compile(request);
  PlanFile file;
  file.instance = request.instance;
  file.limits = request.limits;
  file.plan = result.plan;
  file.layout = result.layout;
  return file;
}

}  // namespace poet::test
