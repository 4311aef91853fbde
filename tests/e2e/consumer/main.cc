// A user's program: plans the training of a network made by hand, and leaves the plan for trains.cc.

#include <cstdio>
#include <cstring>

#include "poet/poet.h"

int main(int, char** argv) {
  if (std::strcmp(poet::version(), POET_VERSION_STRING) != 0) return 3;
  poet::GraphBuilder network("by hand");
  poet::ValueId x = network.input("input", {8, 16});
  x = poet::nn::relu(network, "relu1", poet::nn::linear(network, "fc1", x, 64));
  x = poet::nn::relu(network, "relu2", poet::nn::linear(network, "fc2", x, 64));
  poet::nn::softmax_cross_entropy(network, "loss", poet::nn::linear(network, "fc3", x, 4),
                                  network.input("targets", {8}, poet::DType::int32));
  poet::CompileRequest request;
  request.instance.graph = poet::differentiate(network.finish());
  request.instance.costs = poet::tabulate(request.instance.graph, poet::find_device("m4"));
  request.instance.has_device = true;
  request.limits.ram_budget = poet::Bytes(1'000'000);
  request.options.time_limit_seconds = 10;
  const poet::CompileResult result = poet::compile(request);
  if (!result.report.valid) return 1;
  poet::write_plan({request.instance, request.semantics, request.limits, result.plan, result.layout},
                   argv[1]);
  try {
    (void)poet::find_device("no such device");
  } catch (const poet::InputError& error) {
    std::puts(error.rule().empty() ? "an error without a rule" : "a schedule that fits");
  }
}
