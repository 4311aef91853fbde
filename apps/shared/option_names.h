#pragma once

#include <string>

#include "poet/base/error.h"

namespace poet::cli {

/// The error as a user of the program reads it: what the library calls `batch_size`, as a field or in
/// backquotes, is --batch-size here.
[[nodiscard]] InputError with_option_names(const InputError& error);
/// The same in other texts of the library: what stands in backquotes.
[[nodiscard]] std::string with_option_names(std::string text);

}  // namespace poet::cli
