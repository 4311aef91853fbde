#pragma once

// The library's parsers of amounts, with the program's option names in errors.

#include "poet/base/amounts.h"
#include "poet/base/parse_amounts.h"

namespace poet::cli {

using poet::parse_bytes;
using poet::parse_count;
using poet::parse_duration;
using poet::parse_factor;
using poet::parse_fraction;
using poet::parse_whole;
using poet::parse_word;

}  // namespace poet::cli
