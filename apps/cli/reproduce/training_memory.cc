// The paper's reason: training takes up to 200 times the memory of inference.

#include <fmt/format.h>

#include "apps/cli/reproduce/section.h"
#include "poet/base/amounts.h"
#include "poet/frontend/zoo.h"
#include "poet/pipeline/evaluation.h"
#include "poet/pipeline/pose.h"

namespace poet::cli {
namespace {

constexpr double kTimesOfInference = 200;

/// Peaks with every result kept until its last use.
struct Peaks {
  double training = 0;
  double inference = 0;
  [[nodiscard]] double ratio() const { return training / inference; }
};

Peaks peaks_of(const std::string& network, std::int64_t batch, PersistentPolicy persistent) {
  NetworkSpec spec;
  spec.source = BuiltInNetwork{network};
  spec.batch_size = batch;
  Policy policy;
  policy.persistent = persistent;
  const Workload workload = load(spec, {"a72", {}}, policy);
  const auto peak = [](const Instance& instance) {
    return static_cast<double>(replay_keep_all(instance, Semantics::device).peak_ram.value());
  };
  return {peak(workload.instance), peak(evaluation_instance(workload.instance))};
}

std::string cell(const Peaks& peaks) {
  const auto bytes = [](double count) { return format_bytes(Bytes(static_cast<std::int64_t>(count))); };
  return fmt::format("{} / {} = {:.3g}", bytes(peaks.training), bytes(peaks.inference), peaks.ratio());
}

}  // namespace

Section training_memory() {
  Section section;
  section.title = "Memory of training and of inference";
  section.text =
      "RAM of a training step with everything kept, over that of the forward pass alone, in which each "
      "result "
      "is kept until its last use; both on the corrected networks. In the paper's figures parameters are not "
      "counted, since they live elsewhere; with them, which both passes need, the ratio is smaller.";
  NamedTable table{"RAM of a training step / of inference",
                   {"network", "batch 1", "batch 32", "batch 32, parameters counted"},
                   {}};
  Range without;
  Range with;
  std::string most;
  for (const ZooEntry& network : zoo()) {
    std::vector<std::string> row = {network.name};
    for (const std::int64_t batch : {1, 32}) {
      const Peaks peaks = peaks_of(network.name, batch, PersistentPolicy::excluded);
      if (without.count == 0 || peaks.ratio() > without.most)
        most = fmt::format("{}, batch {}", network.name, batch);
      without.add(peaks.ratio());
      row.push_back(cell(peaks));
    }
    const Peaks counted = peaks_of(network.name, 32, PersistentPolicy::resident);
    with.add(counted.ratio());
    row.push_back(cell(counted));
    table.rows.push_back(std::move(row));
  }
  const auto times = [](const Range& range) {
    return fmt::format("{:.3g} to {:.3g} times", range.least, range.most);
  };
  section.claims.push_back(
      {"memory of training next to inference",
       "up to 200 times",
       {{"parameters not counted", fmt::format("{} ({})", times(without), most),
         finding_of_up_to(kTimesOfInference, without, Budgets::all)},
        {"parameters counted, batch 32", times(with),
         finding_of_up_to(kTimesOfInference, with, Budgets::all)}},
       "A forward pass has to hold the operands and results of one op, a training step the activations of "
       "all: "
       "the ratio grows with depth, and these networks have at most some dozens of layers whose activations "
       "are "
       "as large as the largest. It hardly depends on the batch."});
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace poet::cli
