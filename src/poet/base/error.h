#pragma once

// Two kinds of failure travel as exceptions: what the user got wrong (InputError, exit 2) and what we got
// wrong (InternalError, exit 3). "No schedule exists" is neither: it is data in the result.

#include <stdexcept>
#include <string>

namespace poet {

/// Bad input. `place` says where ("m4.json: /page_in/latency_seconds"), `rule` what must hold ("must be >
/// 0"). what() is one line: "place: rule".
class InputError : public std::runtime_error {
 public:
  InputError(const std::string& place, const std::string& rule);
  explicit InputError(const std::string& message);
};

/// A broken promise inside poet; what() names it. Never caused by user input alone.
class InternalError : public std::logic_error {
 public:
  explicit InternalError(const std::string& message);
};

/// Throws InternalError unless `condition` holds.
void ensure(bool condition, const char* promise);

}  // namespace poet
