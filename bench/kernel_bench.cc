// Times the kernels of a training step, each value in memory of its own. Prints the least time of every op
// over the steps, summed by kind, and the slowest ops. Usage: kernel_bench NETWORK|FILE.onnx BATCH
//   [--library=fast|lean|reference] [--isa=avx2] [--threads=1] [--steps=10] [--ops=30] [--skip-missing]
//   [--cpu-time] [--split=32]
// --split: of the graph in parts of so many KiB.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/frontend/onnx/import.h"
#include "poet/frontend/zoo.h"
#include "poet/runtime/kernels/kernel.h"
#include "poet/split/split.h"

namespace poet {
namespace {

struct Arguments {
  std::string network;
  std::int64_t batch = 1;
  runtime::KernelOptions options;
  int steps = 10;
  std::size_t ops = 30;
  bool skip_missing = false;
  std::int64_t part_kib = 0;
  bool cpu_time = false;  // of this process instead of the wall clock: on a busy machine
};

Arguments parsed(int argc, char** argv) {
  if (argc < 3) throw InputError("usage: kernel_bench NETWORK|FILE.onnx BATCH [--OPTION=VALUE...]");
  Arguments result;
  result.network = argv[1];
  result.batch = std::stoll(argv[2]);
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string value = argument.substr(std::min(argument.size(), argument.find('=') + 1));
    if (argument.starts_with("--library=")) {
      result.options.library = value == "lean"        ? runtime::KernelLibrary::lean
                               : value == "reference" ? runtime::KernelLibrary::reference
                                                      : runtime::KernelLibrary::fast;
    } else if (argument.starts_with("--isa=")) {
      result.options.isa = value;
    } else if (argument.starts_with("--threads=")) {
      result.options.threads = std::stoi(value);
    } else if (argument.starts_with("--steps=")) {
      result.steps = std::stoi(value);
    } else if (argument.starts_with("--ops=")) {
      result.ops = std::stoul(value);
    } else if (argument.starts_with("--split=")) {
      result.part_kib = std::stoll(value);
    } else if (argument == "--skip-missing") {
      result.skip_missing = true;
    } else if (argument == "--cpu-time") {
      result.cpu_time = true;
    } else {
      throw InputError(argument, "is no option");
    }
  }
  return result;
}

// Numbers of the size that training meets: weights within 1 / sqrt(fan in), targets 0.
void fill(const Value& value, std::mt19937& random, float* to) {
  const std::int64_t count = element_count(value.shape);
  if (value.dtype != DType::float32) return;
  const bool is_parameter = value.persistence == Persistence::parameter;
  float bound = 1.0F;
  if (is_parameter && value.shape.size() > 1) {
    const float fan_in = static_cast<float>(count) / static_cast<float>(value.shape.front());
    bound = 1.0F / std::sqrt(fan_in);
  }
  std::uniform_real_distribution<float> draw(-bound, bound);
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = is_parameter && value.shape.size() == 1 ? 1.0F : draw(random);
}

double seconds(bool cpu_time) {
  timespec now{};
  clock_gettime(cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Timed {
  const Op* op = nullptr;
  std::unique_ptr<runtime::Kernel> kernel;
  std::vector<void*> inputs, outputs, updates;
  double least = 1e9;  // seconds
};

std::string shape_text(const Graph& graph, const Op& op) {
  std::string text;
  for (const auto* list : {&op.inputs, &op.outputs}) {
    for (const ValueId v : *list) text += fmt::format(" {}", fmt::join(graph.values[v].shape, "x"));
    if (list == &op.inputs) text += " ->";
  }
  return text;
}

void bench(const Arguments& arguments) {
  runtime::set_up_kernels(arguments.options);
  ImportOptions options;
  options.batch_size = arguments.batch;
  const Graph forward =
      arguments.network.ends_with(".onnx")
          ? import_onnx(arguments.network, options).forward
          : build_network(arguments.network, {.batch_size = arguments.batch, .sequence_length = {}});
  Graph graph = differentiate(forward);
  if (arguments.part_kib > 0) graph = split(graph, {Bytes(arguments.part_kib * 1024)});
  std::mt19937 random(1);

  IdVector<ValueId, void*> storage_of;
  std::int64_t arena = 0;
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    void* memory = nullptr;
    if (!value.alias_of.valid()) {
      const auto bytes = static_cast<std::size_t>(rounded_up(value.bytes, Bytes(64)).value() + 64);
      memory = std::aligned_alloc(64, bytes);
      std::fill_n(static_cast<char*>(memory), bytes, char{0});
      fill(value, random, static_cast<float*>(memory));
      arena += value.bytes.value();
    }
    storage_of.push_back(memory);
  }
  const auto addresses = [&](const std::vector<ValueId>& values) {
    std::vector<void*> result;
    for (const ValueId v : values) result.push_back(storage_of[storage(graph, v)]);
    return result;
  };

  std::vector<Timed> timed;
  std::int64_t workspace = 0;
  std::map<std::string, int> missing;
  const double making = seconds(false);
  for (const OpId id : ids<OpId>(graph.ops.size())) {
    const Op& op = graph.ops[id];
    if (op.kind == "input") continue;
    Timed entry;
    entry.op = &op;
    try {
      entry.kernel = runtime::make_kernel(graph, id, arguments.options);
    } catch (const InputError&) {
      if (!arguments.skip_missing) throw;
      ++missing[op.kind];
      continue;
    }
    entry.inputs = addresses(op.inputs);
    entry.outputs = addresses(op.outputs);
    entry.updates = addresses(op.updates);
    workspace = std::max(workspace, entry.kernel->workspace().value());
    timed.push_back(std::move(entry));
  }
  const double made = seconds(false) - making;
  void* scratch = std::aligned_alloc(64, static_cast<std::size_t>(workspace + 64));

  double least_step = 1e9;
  for (int step = 1; step <= arguments.steps; ++step) {
    double whole = 0;
    for (Timed& entry : timed) {
      const runtime::KernelCall call{entry.inputs, entry.outputs, entry.updates, scratch, step, 1.0, 1};
      const double begin = seconds(arguments.cpu_time);
      entry.kernel->run(call);
      const double taken = seconds(arguments.cpu_time) - begin;
      entry.least = std::min(entry.least, taken);
      whole += taken;
    }
    least_step = std::min(least_step, whole);
  }

  std::map<std::string, std::pair<double, int>> kinds;
  double sum = 0;
  for (const Timed& entry : timed) {
    auto& [total, count] = kinds[fmt::format("{} [{}]", entry.op->kind, entry.kernel->implementation())];
    total += entry.least;
    ++count;
    sum += entry.least;
  }
  fmt::print(
      "{} batch {}: {} ops, {:.1f} ms the least step, {:.1f} ms all ops at their least; values {:.1f} MB, "
      "workspace {:.2f} MB, kernels made in {:.2f} s\n",
      forward.name, arguments.batch, timed.size(), least_step * 1e3, sum * 1e3,
      static_cast<double>(arena) * 1e-6, static_cast<double>(workspace) * 1e-6, made);
  for (const auto& [kind, count] : missing) fmt::print("  no kernel: {} x {}\n", count, kind);
  std::vector<std::pair<double, std::string>> lines;
  for (const auto& [kind, total] : kinds) {
    lines.emplace_back(total.first,
                       fmt::format("{:9.2f} ms {:4} x {}", total.first * 1e3, total.second, kind));
  }
  std::sort(lines.rbegin(), lines.rend());
  for (const auto& [total, line] : lines) fmt::print("{}\n", line);
  std::sort(timed.begin(), timed.end(), [](const Timed& a, const Timed& b) { return a.least > b.least; });
  for (std::size_t i = 0; i < std::min(arguments.ops, timed.size()); ++i) {
    fmt::print("{:9.3f} ms {:6.1f} MB scratch {} {} [{}]\n", timed[i].least * 1e3,
               static_cast<double>(timed[i].kernel->workspace().value()) * 1e-6, timed[i].op->name,
               shape_text(graph, *timed[i].op), timed[i].kernel->implementation());
  }
}

}  // namespace
}  // namespace poet

int main(int argc, char** argv) {
  try {
    poet::bench(poet::parsed(argc, argv));
  } catch (const std::exception& e) {
    fmt::print(stderr, "kernel_bench: {}\n", e.what());
    return 2;
  }
  return 0;
}
