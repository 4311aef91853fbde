// Ops with one or two things changed: either the check of operands refuses them, or every kernel of them
// stays within its operands, whatever these hold. In processes of their own, which a fault may end.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "poet/base/error.h"
#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/kernels/reference/reference.h"
#include "tests/support/fenced_buffer.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/op_mutations.h"
#include "tests/support/runtime_interpreter.h"

namespace poet {
namespace {

using Fence = test::FencedBuffer::Fence;

constexpr std::int64_t kMostBytes = 1 << 22;  // more is not run
constexpr int kSeconds = 600;                 // a child that takes longer hangs

/// What a child tells its parent, even where it dies.
struct Shared {
  char doing[1000];
  int refused, run, too_large, threw;
};

std::string one_line(const char* text) {
  return std::string(text).find('\n') == std::string::npos ? "" : "a message of several lines";
}

/// Numbers of all sorts, half of the integers among those that an operator may find something by.
void fill(std::mt19937_64& random, const Value& value, const test::FencedBuffer& buffer) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool wild = random() % 4 == 0;
  for (std::size_t at = 0; at + 4 <= buffer.size(); at += 4) {
    if (value.dtype == DType::float32) {
      float x = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
      if (wild && random() % 8 == 0) x = random() % 2 == 0 ? kInfinity : x * 1e38F * 10.0F;
      if (wild && random() % 8 == 0) x = std::numeric_limits<float>::quiet_NaN();
      std::memcpy(buffer.data() + at, &x, sizeof x);
    } else {
      const auto n = static_cast<std::uint32_t>(wild ? random() : random() % 3);
      std::memcpy(buffer.data() + at, &n, sizeof n);
    }
  }
}

/// Empty, or what is wrong.
std::string run_kernel(const Graph& graph, OpId id, runtime::Kernel& kernel, std::mt19937_64& random) {
  const Op& op = graph.ops[id];
  if (kernel.workspace() > Bytes(16 * kMostBytes)) return "";
  IdVector<ValueId, std::shared_ptr<test::FencedBuffer>> buffers(graph.values.size());
  const auto addresses = [&](const std::vector<ValueId>& list) {
    std::vector<void*> result;
    for (const ValueId v : list) {
      const Fence fence = random() % 4 == 0 ? Fence::before : Fence::behind;
      if (!buffers[v]) {
        const Value& value = graph.values[v];
        const std::size_t alignment = value.dtype == DType::int64 ? 8 : 4;
        buffers[v] = std::make_shared<test::FencedBuffer>(static_cast<std::size_t>(value.bytes.value()),
                                                          fence, alignment);
        fill(random, value, *buffers[v]);
      }
      result.push_back(buffers[v]->data());
    }
    return result;
  };
  const std::vector<void*> inputs = addresses(op.inputs);
  const std::vector<void*> outputs = addresses(op.outputs);
  const std::vector<void*> updates = addresses(op.updates);
  const test::FencedBuffer workspace(static_cast<std::size_t>(kernel.workspace().value()), Fence::behind, 64);
  try {
    kernel.run({inputs, outputs, updates, workspace.data(), 3, 5});
  } catch (const InputError& error) {
    if (const std::string wrong = one_line(error.what()); !wrong.empty()) return wrong;
  }
  for (const ValueId v : ids<ValueId>(graph.values.size()))
    if (buffers[v] && !buffers[v]->intact()) return "writes outside of " + graph.values[v].name;
  return workspace.intact() ? "" : "writes outside of its workspace";
}

/// Empty, or what is wrong.
std::string try_op(const Graph& graph, OpId id, std::mt19937_64& random, Shared& shared) {
  try {
    verify(graph);
  } catch (const InputError& error) {
    ++shared.refused;
    return one_line(error.what());
  }
  std::int64_t bytes = 0;
  for (const Value& value : graph.values) bytes = std::max(bytes, value.bytes.value());
  if (bytes > kMostBytes) {
    ++shared.too_large;
    return "";
  }
  try {
    std::vector<std::unique_ptr<runtime::Kernel>> kernels;
    for (const runtime::KernelLibrary library :
         {runtime::KernelLibrary::fast, runtime::KernelLibrary::lean, runtime::KernelLibrary::reference})
      kernels.push_back(runtime::make_kernel(graph, id, {.library = library, .threads = 1, .isa = {}}));
    for (const auto& kernel : kernels) {
      const std::string wrong = run_kernel(graph, id, *kernel, random);
      if (!wrong.empty()) return kernel->implementation() + " " + wrong;
    }
    ++shared.run;
  } catch (const InputError& error) {
    ++shared.threw;
    return one_line(error.what());
  }
  return "";
}

/// In a child. What is wrong is left in `shared`.
bool try_all(const Graph& graph, std::uint64_t seed, int mutations, Shared& shared) {
  std::mt19937_64 random(seed);
  alarm(kSeconds);
  for (int i = 0; i < mutations; ++i) {
    const OpId op(random() % graph.ops.size());
    if (graph.ops[op].kind == "input") continue;
    Graph alone = test::lone_op(graph, op);
    const OpId last(alone.ops.size() - 1);
    std::string what = graph.ops[op].kind + ": " + test::mutate_op(alone, last, random);
    if (random() % 4 == 0) what += ", " + test::mutate_op(alone, last, random);
    std::snprintf(shared.doing, sizeof shared.doing, "%s", what.c_str());
    std::string wrong;
    try {
      wrong = try_op(alone, last, random, shared);
    } catch (const std::exception& error) {
      wrong = std::string("throws: ") + error.what();
    }
    if (wrong.empty()) continue;
    std::snprintf(shared.doing, sizeof shared.doing, "%s: %s", what.c_str(), wrong.c_str());
    return false;
  }
  return true;
}

TEST(OperandsFuzz, WhatIsAcceptedStaysWithinItsOperands) {
  runtime::set_up_kernels({});  // one thread
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *static_cast<Shared*>(memory);
  const char* const more = std::getenv("POET_FUZZ_ROUNDS");
  const int rounds = more == nullptr ? 1 : std::atoi(more);
  int failures = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const test::KernelGraphFamily& family : test::kernel_graph_families()) {
      for (int seed = 0; seed < std::min(family.seeds, 10); ++seed) {
        const auto number = static_cast<std::uint64_t>(seed + 10 * round);
        const Graph graph = family.make(number);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) _exit(try_all(graph, 1000 * number + 7, 40, shared) ? 0 : 1);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        ADD_FAILURE() << family.name << ", seed " << number << ": " << shared.doing
                      << (WIFSIGNALED(status) ? std::string("; signal ") + strsignal(WTERMSIG(status)) : "");
        ASSERT_LT(++failures, 12) << "and so on";
      }
    }
  }
  std::printf("%d refused, %d run, %d refused by kernels, %d too large\n", shared.refused, shared.run,
              shared.threw, shared.too_large);
  EXPECT_GT(shared.refused, 2000 * rounds);
  EXPECT_GT(shared.run, 500 * rounds);
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace poet
