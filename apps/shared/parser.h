#pragma once

// Declaration of command lines: commands with options in groups. Hides CLI11, whose headers take seconds to
// compile.

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

/// The target of an option's value, as text or number. A vector collects the values of a repeated option.
using Target = AnyOf<std::string, std::optional<std::string>, std::vector<std::string>, std::filesystem::path,
                     int, std::vector<int>, double, std::optional<double>, std::vector<double>>;

/// Further properties of an option.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  const Option& required() const;
  const Option& one_of(std::initializer_list<std::string> values) const;
  const Option& separated_by(char delimiter) const;  // several values in one: "a,b"

 private:
  CLI::Option* option_;
};

/// A handle for declaring the options of a command or of the program, valid as long as its CommandLine.
/// Targets must outlive the parsing.
class Parser {
 public:
  explicit Parser(CLI::App& app) : app_(&app) {}

  /// Returns a parser whose declarations appear under `title` in the help.
  [[nodiscard]] Parser group(const std::string& title) const;

  /// Declares an option ("--name", "-n,--name") or argument (no dashes) whose value the help calls `type`.
  Option option(const std::string& name, Target target, const std::string& help,
                const std::string& type) const;
  void flag(const std::string& name, bool& target, const std::string& help) const;
  /// Replaces the help of a declared option.
  void describe(const std::string& name, const std::string& help) const;
  /// Sets the end of the help.
  void footer(const std::string& text) const;

  /// Whether the command line names this command.
  [[nodiscard]] bool called() const;
  /// Returns the options of this group that the command line has.
  [[nodiscard]] std::vector<std::string> given() const;

 private:
  CLI::App* app_;
  std::string group_ = "Options";
};

/// A program's command line.
class CommandLine {
 public:
  /// Declares --version unless `version` is empty.
  CommandLine(const std::string& name, const std::string& description, const std::string& version = "");

  [[nodiscard]] std::string name() const;
  /// Returns the parser of the program itself.
  [[nodiscard]] Parser parser() { return Parser(*app_); }
  /// Declares a command.
  [[nodiscard]] Parser command(const std::string& name, const std::string& description);
  /// Returns the declarations as data.
  [[nodiscard]] CommandDescription description() const;

  /// Parses into the targets. If it returns a text (help, version), print that and run nothing. Throws
  /// InputError.
  [[nodiscard]] std::optional<std::string> parse(int argc, const char* const* argv);

 private:
  struct Delete {
    void operator()(CLI::App* app) const;
  };
  std::unique_ptr<CLI::App, Delete> app_;
};

}  // namespace poet::cli
