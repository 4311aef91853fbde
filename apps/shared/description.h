#pragma once

// The declared command line as data, from which manual pages and shell completions are generated.

#include <string>
#include <vector>

namespace poet::cli {

struct OptionDescription {
  std::vector<std::string> names;  // "-o", "--output"; arguments have one name without dashes
  std::string type;                // the value's name in the help; empty for flags
  std::string help;
  std::vector<std::string> choices;  // accepted values; empty: any
  bool takes_value = false;
  bool argument = false;
  bool required = false;
  bool repeated = false;
};

/// A titled group of options.
struct OptionGroup {
  std::string title;
  std::vector<OptionDescription> options;
};

struct CommandDescription {
  std::string name;
  std::string summary;
  std::string footer;
  std::vector<OptionDescription> arguments;
  std::vector<OptionGroup> groups;
  std::vector<CommandDescription> commands;  // of the program
};

}  // namespace poet::cli
