#pragma once

// What a shell offers for an option's value.

#include <string>
#include <vector>

#include "apps/shared/description.h"

namespace poet::cli {

/// Names that are no part of the command line's declaration.
struct KnownNames {
  std::vector<std::string> networks, devices, commands;
};

struct OfferedValues {
  std::vector<std::string> words;
  bool folders = false;
  bool files = false;  // and folders on the way to them
  std::string ending;  // of the files, ".json"; empty: any
};

/// By the option's choices, or by the alternatives of its type: lower case stands for itself, NETWORK,
/// DEVICE and COMMAND for the known names, FILE, FILE.json, PATH, PLAN, SPEC and CARD for files, DIR and
/// FOLDER for folders; of anything else the user alone knows a value.
[[nodiscard]] OfferedValues offered_values(const OptionDescription& option, const KnownNames& names);

/// The script by which a shell completes the program's command line.
[[nodiscard]] std::string bash_completion(const CommandDescription& program, const KnownNames& names);
[[nodiscard]] std::string zsh_completion(const CommandDescription& program, const KnownNames& names);
[[nodiscard]] std::string fish_completion(const CommandDescription& program, const KnownNames& names);

}  // namespace poet::cli
