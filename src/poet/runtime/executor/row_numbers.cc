#include "poet/runtime/executor/row_numbers.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/graph/parts.h"

namespace poet::runtime {

RowNumbers::RowNumbers(const Graph& graph, const Program& program) : graph_(graph), program_(program) {
  std::int64_t rows = 0;
  std::size_t most = 0;
  for (const IndexList& list : program.index_lists()) {
    rows = std::max(rows, list.rows);
    most = std::max(most, list.numbers.size());
  }
  is_named_.resize(static_cast<std::size_t>(rows));
  part_.resize(most);
}

void RowNumbers::read(const InputSource& inputs) {
  for (const IndexList& list : program_.index_lists()) {
    for (const OpId op : list.inputs) {
      inputs(op, reinterpret_cast<std::byte*>(part_.data()));
      for_each_run_of_part(graph_.values[graph_.ops[op].outputs.front()],
                           [&](std::int64_t first, std::int64_t at, std::int64_t count) {
                             std::copy_n(part_.begin() + at, count, list.numbers.begin() + first);
                           });
    }
    std::fill(is_named_.begin(), is_named_.end(), 0);
    for (std::int32_t& number : list.numbers) {
      if (number < 0 || number >= list.rows)
        throw InputError(fmt::format("op \"{}\"", graph_.ops[list.inputs.front()].name),
                         fmt::format("index {} is not one of {} elements", number, list.rows));
      const auto row = static_cast<std::size_t>(number);
      if (is_named_[row] != 0) number = kOtherRow;
      is_named_[row] = 1;
    }
  }
}

}  // namespace poet::runtime
