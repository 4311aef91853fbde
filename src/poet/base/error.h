#pragma once

// Two kinds of failure are exceptions: bad input, or a file, process or thread that the system refuses
// (InputError, exit code 2), and a mistake in poet (InternalError, exit code 3). "No schedule exists" is
// neither: it is part of the result.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace poet {

/// A setting of the library by its name in the headers: Field{"learning_rate"}. Programs replace it by their
/// own name (--learning-rate). Rules name other fields in backquotes: `allow_opaque`.
struct Field {
  std::string name;
};

/// Bad input: the place and the rule that it violates. what() is one line: "place: rule", or "place: rule
/// (hint)".
class InputError : public std::runtime_error {
 public:
  /// `place` is a position in a file ("m4.json: /page_in/latency_seconds") or anything else with a name. The
  /// hint says where to look for help and is not part of the rule.
  InputError(const std::string& place, const std::string& rule, const std::string& hint = {});
  InputError(const Field& field, const std::string& rule);
  /// Without a place apart from the message.
  explicit InputError(const std::string& message);

  /// Empty if there is none apart from the message.
  [[nodiscard]] std::string_view place() const { return {what(), place_size_}; }
  [[nodiscard]] std::string_view rule() const;
  /// Empty if there is none.
  [[nodiscard]] std::string_view hint() const;
  /// Whether place() is the name of a Field.
  [[nodiscard]] bool is_field() const { return is_field_; }

 private:
  // Parts of what(): copying an exception must not throw.
  std::size_t place_size_ = 0;
  std::size_t hint_size_ = 0;
  bool is_field_ = false;
};

/// A violated invariant of poet; what() names it. Never caused by input alone.
class InternalError : public std::logic_error {
 public:
  explicit InternalError(const std::string& message);
};

/// Throws InternalError "violated: PROMISE" unless `condition` holds. `promise` states the invariant.
void ensure(bool condition, const char* promise);

}  // namespace poet
