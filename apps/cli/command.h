#pragma once

// The subcommands of `poet`.

#include "apps/shared/command.h"

namespace poet::cli {

[[nodiscard]] std::unique_ptr<Command> make_solve(Program& program);
[[nodiscard]] std::unique_ptr<Command> make_run(Program& program);
[[nodiscard]] std::unique_ptr<Command> make_verify(Program& program);
[[nodiscard]] std::unique_ptr<Command> make_show(Program& program);
[[nodiscard]] std::unique_ptr<Command> make_explain(Program& program);
[[nodiscard]] std::unique_ptr<Command> make_compare(Program& program);
[[nodiscard]] std::unique_ptr<Command> make_reproduce(Program& program);
[[nodiscard]] std::unique_ptr<Command> make_import(Program& program);
[[nodiscard]] std::unique_ptr<Command> make_sweep(Program& program);
[[nodiscard]] std::unique_ptr<Command> make_models(Program& program);
[[nodiscard]] std::unique_ptr<Command> make_devices(Program& program);

}  // namespace poet::cli
