// A program of somebody else's that uses the installed library.

#include <cstdio>

#include "poet/autodiff/differentiate.h"
#include "poet/compile.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/zoo.h"

int main() {
  poet::CompileRequest request;
  request.instance.graph = poet::differentiate(poet::build_network("linear"));
  request.instance.costs = poet::tabulate(request.instance.graph, poet::find_device("m4"));
  request.limits.ram_budget = poet::Bytes(258'000);  // keeping everything takes 260,376
  request.options.time_limit_seconds = 10;
  const poet::CompileResult result = poet::compile(request);
  std::puts(result.report.valid ? "a schedule that fits" : "no schedule");
}
