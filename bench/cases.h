#pragma once

// What is solved: sets of instances, each at several RAM budgets.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "poet/compile.h"

namespace poet::bench {

/// A RAM budget is least + f (most - least), rounded down.
struct RamRange {
  Bytes least{};
  Bytes most{};

  [[nodiscard]] Bytes at(double fraction) const;
};

/// An instance with what its set says of RAM.
struct Subject {
  Instance instance;
  RamRange ram;
};

struct Case {
  std::string set;        // "published", "recompute", "random", "layered", "layered_share", "zoo"
  std::string name;       // "bert.m4", "mobilenet.train", "random.1000.1"
  double fraction = 0.5;  // f
  Semantics semantics = Semantics::published;
  std::optional<double> deadline_factor;  // on the time of the step with everything computed once
  double time_limit_seconds = 60;
  /// Reads or builds the instance. The range is computed only if wanted: on large graphs it takes a greedy
  /// search.
  std::function<Subject(bool with_ram)> load;
};

/// "published/bert.m4 f=0.25"
[[nodiscard]] std::string title(const Case& one);

struct CaseOptions {
  std::vector<std::string> sets = {"published"};
  std::vector<std::string> only;   // parts of "set/name", one of which must occur; empty: all
  std::vector<double> fractions;   // empty: each set's own
  std::optional<double> deadline;  // factor; absent: each set's own
  std::optional<double> time_limit_seconds;
  std::filesystem::path recompute_folder;
  std::vector<int> random_ops = {1000, 10000};
  std::vector<int> random_seeds = {1};
  std::vector<int> layered_ops = {100, 250, 500, 1000, 2000};
  Semantics random_semantics = Semantics::published;
};

/// The limits of a case under this RAM budget.
[[nodiscard]] Limits limits_of(const Case& one, const Instance& instance, Bytes ram_budget);

/// The cases in the order of sets, instances, fractions. The sets:
/// - published: data/published in published semantics. RAM between W, the largest working set of one op, and
///   A, the bytes of all forward values. f = 0.1, 0.25, 0.5, 0.75; deadline 1.3; 60 s.
/// - recompute: *.json in a folder, published semantics, nothing to page to. RAM between working_set_bytes
/// and
///   keep_all_peak_bytes of the file. f = 0.75, 0.5, 0.25; no deadline; 60 s.
/// - random: random training graphs. RAM between the least with which the greedy search finds a schedule
///   within the deadline, and the keep-all peak. f = 0.5, 0.25; no deadline; 120 s up to 1,000 ops, else
///   300 s.
/// - layered: random layered graphs, one for each of `random_seeds`, published semantics, nothing to page to.
/// RAM
///   between the largest working set and the keep-all peak. f = 0.5, 0.25; no deadline; 120 s. layered_share:
///   RAM is a share of the keep-all peak. f = 0.9, 0.8.
/// - zoo: every built-in network on every shipped device, device semantics. RAM as for random. f = 0.5, 0.25;
///   deadline 1.3; 30 s, BERT 120 s.
/// Notes (a folder that is absent) go to `note`. Throws InputError for an unknown set.
[[nodiscard]] std::vector<Case> cases(const CaseOptions& options,
                                      const std::function<void(const std::string&)>& note);

}  // namespace poet::bench
