#pragma once

// The subcommands of `poet`.

#include "apps/shared/command.h"

namespace poet::cli {

[[nodiscard]] std::unique_ptr<Command> make_solve(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_run(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_verify(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_show(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_explain(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_compare(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_reproduce(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_import(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_weights(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_sweep(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_codegen(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_card(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_serve(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_pack(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_models(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_devices(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_completion(CommandLine& program);
[[nodiscard]] std::unique_ptr<Command> make_manual(CommandLine& program);

}  // namespace poet::cli
