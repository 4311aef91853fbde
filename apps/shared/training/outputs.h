#pragma once

// Outputs of a run: checks of files before it starts, and its result.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/shared/training/options.h"
#include "apps/shared/training/session.h"

namespace poet::cli {

/// A file's name in messages ("--checkpoint"), and its path.
using NamedFile = std::pair<std::string, std::filesystem::path>;

/// Checks files before the run starts. `written` and `read`: the command's files besides those of the
/// options. Throws InputError unless all outputs are writable and distinct from all other files.
void check_outputs(const RunChoice& training, std::vector<NamedFile> written,
                   const std::vector<NamedFile>& read);

/// Prints the result as text, or adds it to `json` and prints that, and writes --loss-out. The text names
/// `written` if it exists. Returns the exit code; finally rethrows the run's unfinished error.
[[nodiscard]] int conclude(const Session& session, const RunChoice& training, const RunOutput& output,
                           nlohmann::ordered_json json, const std::vector<NamedFile>& written = {});

}  // namespace poet::cli
