#pragma once

// The command line as the programs declare it: commands, and their options in groups of the help. Only the
// sources behind this header see CLI11, whose headers take seconds to compile.

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "apps/shared/description.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
class Option;
}  // namespace CLI

namespace poet::cli {

template <typename... Types>
using AnyOf = std::variant<std::reference_wrapper<Types>...>;

/// Where the value of an option goes: as typed, or as the number that it is. A vector takes every value of an
/// option that is repeated.
using Target = AnyOf<std::string, std::optional<std::string>, std::vector<std::string>, std::filesystem::path,
                     int, std::vector<int>, double, std::optional<double>, std::vector<double>>;

/// What else holds of an option.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  const Option& required() const;
  const Option& one_of(std::initializer_list<std::string> values) const;
  const Option& separated_by(char delimiter) const;  // several values in one: "a,b"

 private:
  CLI::Option* option_;
};

/// Where options are declared: a command, or the program itself. A handle, good for as long as its
/// CommandLine. Targets must outlive the parsing.
class Parser {
 public:
  explicit Parser(CLI::App& app) : app_(&app) {}

  /// The same, but what it declares stands under `title` in the help.
  [[nodiscard]] Parser group(const std::string& title) const;

  /// An option with a value, which the help calls `type`: "--name" or "-n,--name"; without dashes an
  /// argument.
  Option option(const std::string& name, Target target, const std::string& help,
                const std::string& type) const;
  void flag(const std::string& name, bool& target, const std::string& help) const;
  /// Another help for an option that is there.
  void describe(const std::string& name, const std::string& help) const;
  /// What the help ends with.
  void footer(const std::string& text) const;

  /// Whether the command line names this command.
  [[nodiscard]] bool called() const;
  /// Those options of this group that the command line names.
  [[nodiscard]] std::vector<std::string> given() const;

 private:
  CLI::App* app_;
  std::string group_ = "Options";
};

/// A program's command line.
class CommandLine {
 public:
  /// With --version where there is one.
  CommandLine(const std::string& name, const std::string& description, const std::string& version = "");

  [[nodiscard]] std::string name() const;
  /// Of the program itself.
  [[nodiscard]] Parser parser() { return Parser(*app_); }
  /// A command of its own name, options and help.
  [[nodiscard]] Parser command(const std::string& name, const std::string& description);
  /// All that was declared.
  [[nodiscard]] CommandDescription description() const;

  /// Fills all targets. What it returns is to be printed, and nothing is to be run: a help, the version.
  /// Throws InputError.
  [[nodiscard]] std::optional<std::string> parse(int argc, const char* const* argv);

 private:
  struct Delete {
    void operator()(CLI::App* app) const;
  };
  std::unique_ptr<CLI::App, Delete> app_;
};

}  // namespace poet::cli
