#pragma once

// A small network with three plans: all in RAM, its larger weights on storage, and all of it on storage.

#include <algorithm>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/graph/nn.h"
#include "poet/plan/allowance.h"
#include "poet/plan/file/plan_family.h"
#include "poet/runtime/executor/program.h"
#include "tests/support/quick_plan.h"
#include "tests/support/runs_with_pages.h"

namespace poet::test {

/// Convolutions, normalisation and a linear layer that is not trained; `channels` makes it another network.
inline Instance family_instance(std::int64_t channels = 6) {
  GraphBuilder g("small");
  ValueId x = g.input("input", {2, 3, 8, 8});
  x = nn::conv2d(g, "conv", x, {.out_channels = channels, .kernel = {3, 3}, .padding = {1, 1}, .bias = true});
  x = nn::relu(g, "relu", nn::batch_norm(g, "bn", x));
  x = nn::conv2d(g, "conv2", x, {.out_channels = channels, .kernel = {3, 3}, .padding = {1, 1}});
  x = nn::flatten(g, "flat", nn::relu(g, "relu2", x));
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "fc", x, 5), g.input("targets", {2}, DType::int32));
  Instance instance;
  instance.graph = differentiate(
      g.finish(), {Optimizer::momentum, [](const std::string& name) { return !name.starts_with("fc"); }});
  instance.costs = tabulate(instance.graph, find_device("m4"));
  instance.batch_size = 2;
  instance.has_device = true;
  runtime::charge_workspaces(instance, kLoops);
  return instance;
}

/// With all values of more than `least` bytes on storage, within their floor and `more`.
inline PlanFile family_member(const Instance& instance, Bytes least, Bytes more) {
  std::vector<ValueId> paged = pageable(instance);
  std::erase_if(paged, [&](ValueId v) { return instance.graph.values[v].bytes <= least; });
  return quick_plan(instance, paged, more);
}

inline PlanFamily make_small_family(std::int64_t channels = 6) {
  const Instance instance = family_instance(channels);
  const Bytes all(std::int64_t{1} << 40);
  return family_of(
      {family_member(instance, all, Bytes(8000)), family_member(instance, Bytes(256), Bytes(2000)),
       family_member(instance, Bytes(0), Bytes(1000))},
      "small");
}

inline const PlanFamily& small_family() {
  static const PlanFamily family = make_small_family();
  return family;
}

}  // namespace poet::test
