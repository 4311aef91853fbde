#pragma once

// Keyword arguments by name, as the functions of the package hand them on.

#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>

#include "poet/base/units.h"
#include "python/src/bindings.h"

namespace poet::python {

/// Takes arguments out of a dictionary; None counts as absent. What is wrong raises TypeError or ValueError
/// (InputError) that names the argument.
class Arguments {
 public:
  explicit Arguments(const py::kwargs& given) : left_(given) {}

  template <class T>
  [[nodiscard]] std::optional<T> take(const char* name) {
    const py::object value = pop(name);
    if (value.is_none()) return std::nullopt;
    try {
      return value.cast<T>();
    } catch (const py::cast_error&) {
      refuse_type(name, value);
    }
  }
  /// A whole number, or text as "300KiB".
  [[nodiscard]] std::optional<Bytes> bytes(const char* name);
  /// A number of seconds, or text as "50ms".
  [[nodiscard]] std::optional<Seconds> seconds(const char* name);
  /// A number from 0 to 1, or text as "5%".
  [[nodiscard]] std::optional<double> fraction(const char* name);
  /// A whole number, or text of one. Throws InputError naming the argument and its range.
  [[nodiscard]] std::optional<std::uint64_t> whole(const char* name, std::uint64_t least, std::uint64_t most);
  /// A whole number, at least 1.
  [[nodiscard]] std::optional<std::int64_t> count(const char* name);
  /// `threads`: from 1 to 256; absent: the machine's cores.
  [[nodiscard]] int threads();
  /// True or False, or 1 or 0; absent: `otherwise`.
  [[nodiscard]] bool flag(const char* name, bool otherwise);
  [[nodiscard]] py::object object(const char* name) { return pop(name); }

  /// Raises TypeError where some argument was not taken.
  void finish() const;

 private:
  [[nodiscard]] py::object pop(const char* name);
  [[noreturn]] static void refuse_type(const char* name, const py::object& value);
  /// Text to be parsed: what is typed, or the number.
  [[nodiscard]] std::optional<std::string> amount(const char* name, bool whole);

  py::dict left_;
};

/// Returns a number of Python's as a whole one: of any type with __index__ but bool, or a whole float, or text.
/// Throws TypeError or InputError naming the argument and its range.
[[nodiscard]] std::uint64_t whole_number(const std::string& name, const py::object& value, std::uint64_t least,
                                         std::uint64_t most);

void add_arguments(py::module_& module);

}  // namespace poet::python
