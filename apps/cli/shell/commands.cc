// poet manual and poet completion: what a package installs beside the program, made from the tables that the
// command line is parsed with.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/shell/completion.h"
#include "apps/cli/shell/manual.h"
#include "apps/shared/called_as.h"
#include "apps/shared/output.h"
#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/cost/device.h"
#include "poet/frontend/zoo.h"
#include "poet/version.h"

namespace poet::cli {
namespace {

KnownNames known_names(const CommandDescription& program) {
  KnownNames out;
  for (const CommandDescription& command : program.commands) out.commands.push_back(command.name);
  for (const ZooEntry& network : zoo()) out.networks.push_back(network.name);
  for (const DeviceProfile& device : shipped_devices()) out.devices.push_back(device.name);
  return out;
}

/// As CommandLine::parse() takes it: `poet help solve`.
CommandDescription help_command() {
  CommandDescription help;
  help.name = "help";
  help.summary = "the help of a command";
  OptionDescription command;
  command.names = {"COMMAND"};
  command.help = "command to describe (default: poet itself)";
  command.argument = true;
  help.arguments.push_back(std::move(command));
  return help;
}

class Completion final : public Command {
 public:
  explicit Completion(CommandLine& program)
      : Command(program.command("completion", "print a shell's completion script")), program_(program) {
    parser_.option("SHELL", shell_, "shell to complete for", "bash|zsh|fish")
        .required()
        .one_of({"bash", "zsh", "fish"});
    parser_.footer(
        "Examples:\n"
        "  source <(poet completion bash)\n"
        "  poet completion fish > ~/.config/fish/completions/poet.fish");
  }

  int run() override {
    CommandDescription all = program_.description();
    const KnownNames names = known_names(all);
    all.commands.push_back(help_command());
    print_answer(shell_ == "bash"  ? bash_completion(all, names)
                 : shell_ == "zsh" ? zsh_completion(all, names)
                                   : fish_completion(all, names));
    return kAnswer;
  }

 private:
  CommandLine& program_;
  std::string shell_;
};

class Manual final : public Command {
 public:
  explicit Manual(CommandLine& program)
      : Command(program.command("manual", "print the manual page of poet or of a command")),
        program_(program) {
    parser_.option("COMMAND", command_, "command to describe (default: poet itself)", "");
    parser_.footer(
        "Examples:\n"
        "  poet manual solve | man -l -");
  }

  int run() override {
    const CommandDescription all = program_.description();
    print_answer(command_ ? command_manual(all, described(all), version()) : program_manual(all, version()));
    return kAnswer;
  }

 private:
  [[nodiscard]] const CommandDescription& described(const CommandDescription& all) const {
    std::vector<std::string> names;
    for (const CommandDescription& one : all.commands) names.push_back(one.name);
    if (const std::optional<std::size_t> at = place_in(*command_, names)) return all.commands[*at];
    throw InputError(*command_, "unknown command" + did_you_mean(*command_, names),
                     called_as() + " --help lists them");
  }

  CommandLine& program_;
  std::optional<std::string> command_;
};

}  // namespace

std::unique_ptr<Command> make_completion(CommandLine& program) {
  return std::make_unique<Completion>(program);
}
std::unique_ptr<Command> make_manual(CommandLine& program) { return std::make_unique<Manual>(program); }

}  // namespace poet::cli
