#pragma once

// Measurements as text for people.

#include <string>
#include <vector>

#include "bench/measurement.h"

namespace poet::bench {

/// One line: "bert.m4 f=0.25 tight cbc: optimal, overhead 0.169%, gap 0.4%, 12.3 s".
[[nodiscard]] std::string progress_line(const Measurement& m);

/// A table per configuration with one line per case, the times of all configurations side by side, a summary,
/// and each configuration against the first one. The last three only where there is something to compare or
/// to sum up.
[[nodiscard]] std::string report(const std::vector<Measurement>& results, const Marks& marks);

/// "1.23", "123.4"; "-" when absent.
[[nodiscard]] std::string seconds_text(const std::optional<double>& seconds);

}  // namespace poet::bench
