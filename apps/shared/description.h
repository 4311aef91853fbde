#pragma once

// What a command line declares, as data: manual pages and the completion of shells are made from it.

#include <string>
#include <vector>

namespace poet::cli {

struct OptionDescription {
  std::vector<std::string> names;  // "-o", "--output"; of an argument one name without dashes
  std::string type;                // what the help calls its value; empty: a flag, or an argument without one
  std::string help;
  std::vector<std::string> choices;  // the only values that are taken; empty: any
  bool takes_value = false;
  bool argument = false;
  bool required = false;
  bool repeated = false;
};

/// Options under one title of the help.
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
