#include "poet/firmware/calls.h"

#include <utility>

#include "poet/firmware/families.h"
#include "poet/graph/float32_copies.h"

namespace poet::firmware {
namespace {

using Place = CallOperand::Place;

/// Of the kernel, with the operands where the op has them.
Call call_of(const Op& op, Lowered lowered) {
  Call call{std::move(lowered), {}};
  const auto add = [&call](Place place, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) call.operands.push_back({place, i, 0});
  };
  add(Place::input, op.inputs.size());
  add(Place::output, op.outputs.size());
  add(Place::update, op.updates.size());
  return call;
}

CallOperand in_workspace(const Float32Copies::Copy& copy) { return {Place::workspace, 0, copy.offset}; }

Call conversion(const KernelFunction& kernel, const Float32Copies::Copy& copy, CallOperand from,
                CallOperand to) {
  return {{&kernel, bytes_of(poet_numbers{small(copy.count)})}, {from, to}};
}

}  // namespace

std::vector<Call> calls_of(const Graph& graph, OpId id) {
  static const KernelFunction widen = {"poet_widen", "poet_bfloat16.c", poet_widen};
  static const KernelFunction round = {"poet_round", "poet_bfloat16.c", poet_round};
  const Op& op = graph.ops[id];
  if (!needs_float32_copies(graph, id)) return {call_of(op, lowered(graph, id))};
  const Float32Copies copies = float32_copies(graph, id);
  const Float32Op wide = in_float32(graph, id);
  std::vector<Call> calls;
  for (const Float32Copies::Copy& copy : copies.read)
    calls.push_back(conversion(widen, copy, {Place::input, copy.operand, 0}, in_workspace(copy)));
  Call kernel = call_of(op, lowered(wide.graph, wide.op));
  for (const Float32Copies::Copy& copy : copies.replaced) kernel.operands[copy.operand] = in_workspace(copy);
  for (const Float32Copies::Copy& copy : copies.written)
    kernel.operands[op.inputs.size() + copy.operand] = in_workspace(copy);
  calls.push_back(std::move(kernel));
  for (const Float32Copies::Copy& copy : copies.written)
    calls.push_back(conversion(round, copy, in_workspace(copy), {Place::output, copy.operand, 0}));
  return calls;
}

}  // namespace poet::firmware
