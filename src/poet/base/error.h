#pragma once

// Two kinds of failure are exceptions: bad input, or a file, process or thread that the system refuses
// (InputError, exit code 2), and a mistake in poet (InternalError, exit code 3). "No schedule exists" is
// neither: it is part of the result.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace poet {

/// What a caller of the library sets, by its name in the headers: Field{"learning_rate"}. A program with
/// other names for it (--learning-rate) says those. Rules name further fields in backquotes: `allow_opaque`.
struct Field {
  std::string name;
};

/// Bad input: where, and what must hold there. what() is one line: "place: rule", or "place: rule (hint)".
class InputError : public std::runtime_error {
 public:
  /// In a file ("m4.json: /page_in/latency_seconds") or anything else that has a name of its own.
  /// The hint tells people where to look, and is no part of the rule.
  InputError(const std::string& place, const std::string& rule, const std::string& hint = {});
  InputError(const Field& field, const std::string& rule);
  /// With no place but what the message says.
  explicit InputError(const std::string& message);

  /// Empty where the message says it.
  [[nodiscard]] std::string_view place() const { return {what(), place_size_}; }
  [[nodiscard]] std::string_view rule() const;
  /// Empty where there is none.
  [[nodiscard]] std::string_view hint() const;
  /// Whether place() is the name of a Field.
  [[nodiscard]] bool is_field() const { return is_field_; }

 private:
  // Parts of what(): copying an exception must not throw.
  std::size_t place_size_ = 0;
  std::size_t hint_size_ = 0;
  bool is_field_ = false;
};

/// A broken promise inside poet; what() names it. Never caused by user input alone.
class InternalError : public std::logic_error {
 public:
  explicit InternalError(const std::string& message);
};

/// Throws InternalError unless `condition` holds.
void ensure(bool condition, const char* promise);

}  // namespace poet
