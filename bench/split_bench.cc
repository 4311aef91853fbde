// What splitting makes of a network: ops, RAM floor, and what a step moves in a RAM budget when everything
// lives on storage and what is read last leaves first (Belady, "A study of replacement algorithms", 1966).
// Usage: split_bench NETWORK|FILE.onnx RAM PART... [--sequence-length=128] [--batch-size=1] [--adam]
// RAM and PART in KiB. One row per PART.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/frontend/onnx/import.h"
#include "poet/frontend/zoo.h"
#include "poet/graph/in_place.h"
#include "poet/graph/parts.h"
#include "poet/split/split.h"

namespace poet {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// What one op has in RAM while it runs: storages. A result that may lie over a dying operand takes no place.
struct Turn {
  std::vector<ValueId> operands, results, changed;
  Bytes results_bytes;
};

struct Moved {
  Bytes read, written, home;  // home: parameters and state
  bool fits = true;
};

class Eviction {
 public:
  Eviction(const Graph& graph, Bytes ram) : graph_(graph), ram_(ram), uses_(graph.values.size()) {
    for (const Value& value : graph.values) {
      stored_.push_back(is_persistent(value.persistence) ? 1 : 0);
      dirty_.push_back(0);
      next_.push_back(0);
    }
    for (const OpId op : ids<OpId>(graph.ops.size())) add(op);
  }

  [[nodiscard]] Bytes floor() const { return floor_; }

  Moved run() {
    for (std::size_t now = 0; now < turns_.size() && moved_.fits; ++now) run(turns_[now]);
    return moved_;
  }

 private:
  void add(OpId id) {
    const Op& op = graph_.ops[id];
    Turn turn;
    const auto distinct = [&](const std::vector<ValueId>& values) {
      std::set<ValueId> storages;
      for (const ValueId v : values) storages.insert(storage(graph_, v));
      return std::vector<ValueId>(storages.begin(), storages.end());
    };
    turn.operands = distinct(op.inputs);
    turn.results = distinct(op.outputs);
    turn.changed = distinct(op.updates);
    for (const std::vector<ValueId>* list : {&turn.operands, &turn.results})
      for (const ValueId v : *list) uses_[v].push_back(id.index);
    for (const ValueId v : turn.results) turn.results_bytes += graph_.values[v].bytes;
    turns_.push_back(std::move(turn));
  }

  [[nodiscard]] std::int64_t next_use(ValueId v) const {
    return next_[v] < uses_[v].size() ? uses_[v][next_[v]] : kNever;
  }
  [[nodiscard]] bool persistent(ValueId v) const { return is_persistent(graph_.values[v].persistence); }

  void write(ValueId v) {
    (persistent(v) ? moved_.home : moved_.written) += graph_.values[v].bytes;
    dirty_[v] = 0;
    stored_[v] = 1;
  }

  void drop(ValueId v) {
    resident_.erase({next_use(v), v});
    if (dirty_[v] != 0 || (stored_[v] == 0 && next_use(v) != kNever)) write(v);
    used_ -= graph_.values[v].bytes;
  }

  void run(const Turn& turn) {
    const Op& op = graph_.ops[OpId(turn_++)];
    Bytes over;  // of a result that lies over an operand which nothing reads afterwards
    for (const std::size_t i : overwritable_inputs(graph_, op)) {
      const ValueId v = storage(graph_, op.inputs[i]);
      if (over == Bytes(0) && !persistent(v) && next_[v] + 1 == uses_[v].size())
        over = graph_.values[v].bytes;
    }
    Bytes added = turn.results_bytes;
    Bytes all = added;
    for (const ValueId v : turn.operands) {
      all += graph_.values[v].bytes;
      if (resident_.erase({next_use(v), v}) > 0) continue;
      added += graph_.values[v].bytes;
      moved_.read += graph_.values[v].bytes;
    }
    floor_ = std::max(floor_, all - over);
    while (used_ + added - over > ram_ && !resident_.empty()) drop(std::prev(resident_.end())->second);
    moved_.fits = used_ + added - over <= ram_;
    used_ += added;
    for (const ValueId v : turn.changed) dirty_[v] = 1;
    leave(turn.operands);
    leave(turn.results);
  }

  /// What nothing reads any more gives its RAM back.
  void leave(const std::vector<ValueId>& values) {
    for (const ValueId v : values) {
      ++next_[v];
      resident_.insert({next_use(v), v});
      if (next_use(v) == kNever) drop(v);
    }
  }

  const Graph& graph_;
  Bytes ram_;
  IdVector<ValueId, std::vector<std::int64_t>> uses_;
  IdVector<ValueId, char> stored_, dirty_;
  IdVector<ValueId, std::size_t> next_;
  std::vector<Turn> turns_;
  std::set<std::pair<std::int64_t, ValueId>> resident_;  // by next use
  std::size_t turn_ = 0;
  Bytes used_, floor_;
  Moved moved_;
};

struct Arguments {
  std::string network;
  Bytes ram;
  std::vector<Bytes> parts;
  ZooOptions size;
  TrainingOptions training;
};

Arguments parsed(int argc, char** argv) {
  Arguments arguments;
  std::vector<std::string> places;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string value = word.substr(std::min(word.size(), word.find('=') + 1));
    if (word.starts_with("--sequence-length=")) {
      arguments.size.sequence_length = std::stoll(value);
    } else if (word.starts_with("--batch-size=")) {
      arguments.size.batch_size = std::stoll(value);
    } else if (word == "--adam") {
      arguments.training.optimizer = Optimizer::adam;
    } else if (word.starts_with("--")) {
      throw InputError(word, "is no option");
    } else {
      places.push_back(word);
    }
  }
  if (places.size() < 3)
    throw InputError("usage: split_bench NETWORK|FILE.onnx RAM_KIB PART_KIB... [--OPTION...]");
  arguments.network = places[0];
  arguments.ram = Bytes(std::stoll(places[1]) * kKiB);
  for (std::size_t i = 2; i < places.size(); ++i) arguments.parts.emplace_back(std::stoll(places[i]) * kKiB);
  return arguments;
}

Graph network(const Arguments& arguments) {
  if (!arguments.network.ends_with(".onnx")) return build_network(arguments.network, arguments.size);
  ImportOptions options;
  options.batch_size = arguments.size.batch_size;
  return import_onnx(arguments.network, options).forward;
}

double mega(Bytes bytes) { return static_cast<double>(bytes.value()) / 1e6; }

void run(const Arguments& arguments) {
  const Graph whole = differentiate(network(arguments), arguments.training);
  Bytes home;
  for (const Tensor& tensor : persistent_tensors(whole)) home += byte_count(tensor.shape, tensor.dtype);
  fmt::print("{}: {} ops, parameters and state {:.1f} MB, RAM {} KiB\n", arguments.network, whole.ops.size(),
             mega(home), arguments.ram.value() / kKiB);
  fmt::print("{:>9} {:>7} {:>10} {:>9} {:>9} {:>9} {:>8}\n", "part, KiB", "ops", "floor, KiB", "read, MB",
             "written", "home", "split, s");
  for (const Bytes part : arguments.parts) {
    const auto begin = std::chrono::steady_clock::now();
    const Graph parts = split(whole, {part, arguments.ram});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    Eviction eviction(parts, arguments.ram);
    const Moved moved = eviction.run();
    fmt::print("{:>9} {:>7} ", part.value() / kKiB, parts.ops.size());
    if (moved.fits) {
      fmt::print("{:>10} {:>9.1f} {:>9.1f} {:>9.1f} {:>8.2f}\n", (eviction.floor().value() + kKiB - 1) / kKiB,
                 mega(moved.read), mega(moved.written), mega(moved.home), taken.count());
    } else {
      fmt::print("does not fit\n");
    }
  }
}

}  // namespace
}  // namespace poet

int main(int argc, char** argv) {
  try {
    poet::run(poet::parsed(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "split_bench: {}\n", error.what());
    return 2;
  }
  return 0;
}
