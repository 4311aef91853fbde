#pragma once

// What a run leaves: files that are checked before the work, and its answer afterwards.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/shared/training/options.h"
#include "apps/shared/training/session.h"

namespace poet::cli {

/// What is said of a file ("--checkpoint"), and the file.
using NamedFile = std::pair<std::string, std::filesystem::path>;

/// Before the work, so that nobody waits for a result that cannot be written. `written` and `read`: files
/// that the command has besides those of the options. Throws InputError unless everything that is written can
/// be, and is a file of its own.
void check_outputs(const RunChoice& training, std::vector<NamedFile> written,
                   const std::vector<NamedFile>& read);

/// Prints the answer, as text or, added to what `json` has, as JSON, and writes --loss-out. `written` is
/// named in the text if it was. Returns the exit code; throws, at last, what the run could not finish with.
[[nodiscard]] int conclude(const Session& session, const RunChoice& training, const RunOutput& output,
                           nlohmann::ordered_json json, const std::vector<NamedFile>& written = {});

}  // namespace poet::cli
