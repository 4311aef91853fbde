#pragma once

// A run as a JSON file: {"format":1, "program":, "machine":{...}, "options":{...}, "finished":,
// "summary":[...], "results":[...]}; a result has the fields of Measurement.

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/measurement.h"

namespace poet::bench {

/// Cores, processor, memory, versions of poet and of the solvers that the build has, date.
[[nodiscard]] nlohmann::ordered_json machine_facts();

/// `options`: whatever decides about results besides case and configuration. Replaces the file in one step,
/// so that a kill leaves the old or the new one. Throws InputError when it cannot be written.
void write_run(const std::filesystem::path& file, const nlohmann::ordered_json& machine,
               const nlohmann::ordered_json& options, const std::vector<Measurement>& results, bool finished);

struct Run {
  nlohmann::ordered_json machine;
  nlohmann::ordered_json options;
  std::vector<Measurement> results;
};

/// Throws InputError naming the file and what is wrong with it.
[[nodiscard]] Run read_run(const std::filesystem::path& file);

/// Best energies known, by title ("published/bert.m4 f=0.25"), from a CSV with columns instance, fraction,
/// energy_joules. Empty when the file does not exist.
[[nodiscard]] std::map<std::string, double> read_best_known(const std::filesystem::path& file);

/// Fills best_known_joules and missed.
void add_best_known(const std::map<std::string, double>& known, Measurement& m);

}  // namespace poet::bench
