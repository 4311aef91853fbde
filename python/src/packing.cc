#include <fmt/format.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "poet/base/error.h"
#include "poet/base/parse_amounts.h"
#include "poet/cost/json_reader.h"
#include "poet/packing/buffer_table.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/callbacks.h"

namespace poet::python {
namespace {

/// id, lower, upper, size, alignment, gaps, offset, bank.
using BufferFields = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                std::vector<std::pair<std::int64_t, std::int64_t>>,
                                std::optional<std::int64_t>, std::optional<std::string>>;

/// Bytes, or text with a unit.
using BankSize = std::variant<std::int64_t, std::string>;

std::int64_t bytes_of(const std::string& bank, const BankSize& size) {
  if (const auto* bytes = std::get_if<std::int64_t>(&size)) return *bytes;
  return parse_bytes(fmt::format("banks['{}']", bank), std::get<std::string>(size)).value();
}

std::vector<RequestedBuffer> requested_buffers(const std::vector<BufferFields>& given) {
  std::vector<RequestedBuffer> buffers;
  for (const auto& [id, lower, upper, size, alignment, gaps, offset, bank] : given) {
    RequestedBuffer buffer{.id = id,
                           .lower = lower,
                           .upper = upper,
                           .bytes = size,
                           .alignment = alignment,
                           .offset = offset,
                           .bank = bank.value_or("")};
    for (const auto& [begin, end] : gaps) buffer.gaps.push_back({begin, end});
    buffer.place = fmt::format("buffers[{}]", buffers.size());
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

py::dict pack_buffers(const py::kwargs& given) {
  constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;  // but for the time
  Arguments arguments(given);
  Callbacks callbacks(py::none{});
  PackProblem problem;
  if (const auto file = arguments.take<std::string>("file"))
    problem.buffers = read_buffer_table(read_text_file(*file), *file).buffers;
  if (const auto buffers = arguments.take<std::vector<BufferFields>>("buffers"))
    problem.buffers = requested_buffers(*buffers);
  if (const auto capacity = arguments.bytes("capacity")) problem.capacity = capacity->value();
  if (const auto banks = arguments.take<std::vector<std::pair<std::string, BankSize>>>("banks"))
    for (const auto& [name, size] : *banks) problem.banks.push_back({name, bytes_of(name, size)});
  const double seconds = arguments.seconds("time_limit").value_or(Seconds(10)).value();
  arguments.finish();
  PackSolution solution;
  {
    const py::gil_scoped_release unlocked;
    solution = solve_packing(problem, kUnlimited, Stop(seconds, callbacks.interrupted()));
  }
  callbacks.rethrow();
  py::dict answer;
  std::vector<std::int64_t> offsets;
  std::vector<std::size_t> banks;
  for (const PackedBuffer& buffer : solution.buffers) {
    offsets.push_back(buffer.offset);
    banks.push_back(buffer.bank);
  }
  answer["status"] = to_string(solution.verdict);
  answer["offsets"] = offsets;
  answer["banks"] = banks;
  answer["heights"] = solution.heights;
  answer["lower_bound"] = solution.lower_bound;
  return answer;
}

}  // namespace

void add_packing(py::module_& module) { module.def("pack", &pack_buffers); }

}  // namespace poet::python
