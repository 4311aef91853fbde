#pragma once

#include <string>

#include "poet/base/error.h"

namespace poet::cli {

/// Returns the error with option names: the library's `batch_size`, as a field or in backquotes, becomes
/// --batch-size.
[[nodiscard]] InputError with_option_names(const InputError& error);
/// Replaces library names in backquotes by option names.
[[nodiscard]] std::string with_option_names(std::string text);

}  // namespace poet::cli
