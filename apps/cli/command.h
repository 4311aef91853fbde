#pragma once

// The subcommands of `poet`.

#include "apps/shared/command.h"

namespace poet::cli {

[[nodiscard]] std::unique_ptr<Command> make_solve(CLI::App& parent);
[[nodiscard]] std::unique_ptr<Command> make_run(CLI::App& parent);
[[nodiscard]] std::unique_ptr<Command> make_verify(CLI::App& parent);
[[nodiscard]] std::unique_ptr<Command> make_show(CLI::App& parent);
[[nodiscard]] std::unique_ptr<Command> make_explain(CLI::App& parent);
[[nodiscard]] std::unique_ptr<Command> make_compare(CLI::App& parent);
[[nodiscard]] std::unique_ptr<Command> make_reproduce(CLI::App& parent);
[[nodiscard]] std::unique_ptr<Command> make_import(CLI::App& parent);
[[nodiscard]] std::unique_ptr<Command> make_sweep(CLI::App& parent);
[[nodiscard]] std::unique_ptr<Command> make_models(CLI::App& parent);
[[nodiscard]] std::unique_ptr<Command> make_devices(CLI::App& parent);

}  // namespace poet::cli
