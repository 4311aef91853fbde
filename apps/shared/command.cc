#include "apps/shared/command.h"

#include "apps/shared/called_as.h"
#include "apps/shared/command_text.h"
#include "apps/shared/output.h"
#include "poet/base/error.h"

namespace poet::cli {

int run_commands(CommandLine& program, const std::vector<std::unique_ptr<Command>>& commands,
                 const std::string& names, int argc, const char* const* argv) {
  remember_command(argc, argv);
  if (const std::optional<std::string> answer = program.parse(argc, argv)) {
    print_answer(*answer);
    return kAnswer;
  }
  for (const std::unique_ptr<Command>& command : commands)
    if (command->called()) return command->run();
  throw InputError("", "a command is missing: " + names, std::string(called_as()) + " --help describes them");
}

}  // namespace poet::cli
