#include "apps/shared/command.h"

#include <CLI/CLI.hpp>

namespace poet::cli {

bool Command::called() const { return app_->parsed(); }

}  // namespace poet::cli
