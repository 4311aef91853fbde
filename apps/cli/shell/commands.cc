// poet manual and poet completion: what a package installs beside the program, made from the tables that the
// command line is parsed with.

#include <algorithm>
#include <optional>

#include "apps/cli/command.h"
#include "apps/cli/shell/completion.h"
#include "apps/cli/shell/manual.h"
#include "apps/shared/output.h"
#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/frontend/zoo.h"
#include "poet/version.h"

namespace poet::cli {
namespace {

KnownNames known_names() {
  KnownNames out;
  for (const ZooEntry& network : zoo()) out.networks.push_back(network.name);
  for (const DeviceProfile& device : shipped_devices()) out.devices.push_back(device.name);
  return out;
}

class Completion final : public Command {
 public:
  explicit Completion(CommandLine& program)
      : Command(program.command("completion", "the script by which a shell completes poet's command line")),
        program_(program) {
    parser_.option("SHELL", shell_, "whose", "bash|zsh|fish").required().one_of({"bash", "zsh", "fish"});
    parser_.footer(
        "Examples:\n"
        "  source <(poet completion bash)\n"
        "  poet completion fish > ~/.config/fish/completions/poet.fish");
  }

  int run() override {
    const CommandDescription all = program_.description();
    print_answer(shell_ == "bash"  ? bash_completion(all, known_names())
                 : shell_ == "zsh" ? zsh_completion(all, known_names())
                                   : fish_completion(all, known_names()));
    return kAnswer;
  }

 private:
  CommandLine& program_;
  std::string shell_;
};

class Manual final : public Command {
 public:
  explicit Manual(CommandLine& program)
      : Command(program.command("manual", "the manual page of poet, or of a command")), program_(program) {
    parser_.option("COMMAND", command_, "a command (default: poet itself)", "");
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
    const auto found = std::find_if(all.commands.begin(), all.commands.end(),
                                    [&](const CommandDescription& one) { return one.name == *command_; });
    if (found == all.commands.end()) throw InputError(*command_, "unknown command", "poet --help lists them");
    return *found;
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
