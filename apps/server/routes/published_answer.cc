#include "apps/server/routes/published_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "poet/graph/dataflow.h"

namespace poet::server {
namespace {

using Json = nlohmann::ordered_json;
using Matrix = std::vector<std::vector<int>>;  // of 0 and 1

/// Of published instances: op i writes value i.
class Matrices {
 public:
  Matrices(const Instance& instance, const Schedule& schedule)
      : instance_(instance), count_(instance.graph.ops.size()) {
    for (Matrix* each : {&r_, &ram_, &storage_, &in_, &out_})
      each->assign(count_, std::vector<int>(count_, 0));
    used_.assign(count_, std::vector<double>(count_, 0));
    for (std::size_t t = 0; t < count_; ++t) {
      const Stage& stage = schedule.stages[t];
      for (const OpId op : stage.compute) r_[t][index(op)] = 1;
      for (const ValueId v : stage.retain) ram_[t][index(v)] = 1;
      for (const ValueId v : stage.page_in) in_[t][index(v)] = 1;
      for (const ValueId v : stage.page_out) out_[t][index(v)] = 1;
      for (std::size_t i = 0; t > 0 && i < count_; ++i)
        storage_[t][i] = std::max(storage_[t - 1][i], out_[t - 1][i]);
    }
    find_edges();
    give_back();
  }

  [[nodiscard]] Json json() const {
    return {{"R", r_},      {"SRam", ram_},    {"SSd", storage_}, {"Min", in_},
            {"Mout", out_}, {"FreeE", freed_}, {"U", used_}};
  }
  /// Of all that a matrix has, what it costs together.
  template <class Cost>
  [[nodiscard]] double total(const Matrix& matrix, const Cost& cost) const {
    double sum = 0;
    for (const std::vector<int>& row : matrix)
      for (std::size_t i = 0; i < count_; ++i)
        if (row[i] != 0) sum += cost(i);
    return sum;
  }
  [[nodiscard]] const Matrix& r() const { return r_; }
  [[nodiscard]] const Matrix& in() const { return in_; }
  [[nodiscard]] const Matrix& out() const { return out_; }

 private:
  template <class Id>
  static std::size_t index(Id id) {
    return static_cast<std::size_t>(id.index);
  }

  void find_edges() {
    const Dataflow flow = dataflow(instance_.graph);
    for (const OpId op : ids<OpId>(count_))
      for (const ValueId v : flow.reads[op]) edges_.emplace_back(index(v), index(op));
  }

  /// FreeE and U by the definitions of the paper's appendix (Checkmate's equations 5 to 8).
  void give_back() {
    freed_.assign(count_, std::vector<int>(edges_.size(), 0));
    for (std::size_t t = 0; t < count_; ++t) {
      const auto kept = [&](std::size_t i) { return t + 1 < count_ && ram_[t + 1][i] != 0; };
      for (std::size_t e = 0; e < edges_.size(); ++e) {
        const auto [i, k] = edges_[e];
        const bool read_later =
            std::any_of(edges_.begin(), edges_.end(), [&, i = i, k = k](const auto& other) {
              return other.first == i && other.second > k && r_[t][other.second] != 0;
            });
        freed_[t][e] = r_[t][k] != 0 && !kept(i) && !read_later ? 1 : 0;
      }
      double now = 0;
      for (std::size_t i = 0; i < count_; ++i) now += ram_[t][i] * bytes(i);
      for (std::size_t k = 0; k < count_; ++k) {
        now += r_[t][k] * bytes(k);
        used_[t][k] = now;
        for (std::size_t e = 0; e < edges_.size(); ++e)
          if (edges_[e].second == k) now -= freed_[t][e] * bytes(edges_[e].first);
      }
    }
  }

  [[nodiscard]] double bytes(std::size_t i) const {
    return static_cast<double>(instance_.costs.values[ValueId(static_cast<int>(i))].bytes.value());
  }

  const Instance& instance_;
  std::size_t count_;
  Matrix r_, ram_, storage_, in_, out_, freed_;
  std::vector<std::vector<double>> used_;                   // bytes
  std::vector<std::pair<std::size_t, std::size_t>> edges_;  // value, reader
};

}  // namespace

Json published_answer(const PublishedQuestion& question, const Instance& instance, const Json& result,
                      const std::optional<ScheduleFile>& schedule) {
  const std::string status = result["status"].get<std::string>();
  Json json = {
      {"ram_budget", question.ram_budget},
      {"runtime_budget_ms", 1e3 * result["baseline_seconds"].get<double>() * question.runtime_budget},
      {"paging", question.paging},
      {"remat", question.remat},
      {"total_power_cost_page", nullptr},
      {"total_power_cost_cpu", nullptr},
      {"total_runtime", nullptr},
      {"feasible", schedule.has_value()}};
  Json solution = {{"R", nullptr},    {"SRam", nullptr},  {"SSd", nullptr}, {"Min", nullptr},
                   {"Mout", nullptr}, {"FreeE", nullptr}, {"U", nullptr}};
  if (schedule) {
    const Matrices matrices(instance, schedule->schedule);
    const auto op = [&](std::size_t i) -> const OpCost& {
      return instance.costs.ops[OpId(static_cast<int>(i))];
    };
    const auto value = [&](std::size_t i) -> const ValueCost& {
      return instance.costs.values[ValueId(static_cast<int>(i))];
    };
    json["total_power_cost_page"] = matrices.total(matrices.in(), [&](std::size_t i) {
      return value(i).page_in.energy.value();
    }) + matrices.total(matrices.out(), [&](std::size_t i) { return value(i).page_out.energy.value(); });
    json["total_power_cost_cpu"] =
        matrices.total(matrices.r(), [&](std::size_t i) { return op(i).energy.value(); });
    json["total_runtime"] =
        matrices.total(matrices.r(), [&](std::size_t i) { return 1e3 * op(i).runtime.value(); });
    solution = matrices.json();
  }
  solution["finished"] = status == "optimal" || status == "infeasible";
  solution["feasible"] = schedule.has_value();
  solution["solve_time_s"] = result["solve_seconds"];
  json["solution"] = std::move(solution);
  return json;
}

}  // namespace poet::server
