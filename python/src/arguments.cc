#include "python/src/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "poet/base/cores.h"
#include "poet/base/error.h"
#include "poet/base/parse_amounts.h"

namespace poet::python {
namespace {

/// Python's or numpy's, which are integers to PyNumber_Index().
bool is_truth_value(const py::object& value) {
  const auto type = py::str(py::type::of(value).attr("__name__")).cast<std::string>();
  return type == "bool" || type == "bool_";
}

/// Returns the integer that a value stands for; nullopt for a truth value and for what is no whole number.
std::optional<py::int_> as_integer(const py::object& value) {
  PyObject* made = nullptr;
  if (is_truth_value(value)) return std::nullopt;
  if (py::isinstance<py::str>(value)) {
    made = PyLong_FromUnicodeObject(value.ptr(), 10);
  } else if (PyIndex_Check(value.ptr()) != 0) {
    made = PyNumber_Index(value.ptr());
  } else {
    const double number = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred() == nullptr && std::isfinite(number) && number == std::floor(number))
      made = PyLong_FromDouble(number);
  }
  PyErr_Clear();
  if (made == nullptr) return std::nullopt;
  return py::reinterpret_steal<py::int_>(made);
}

}  // namespace

py::object Arguments::pop(const char* name) {
  if (!left_.contains(name)) return py::none();
  py::object value = left_[name];
  PyDict_DelItemString(left_.ptr(), name);
  return value;
}

void Arguments::refuse_type(const char* name, const py::object& value) {
  throw py::type_error(fmt::format("{}: cannot be {}", name, py::repr(value).cast<std::string>()));
}

std::optional<std::string> Arguments::amount(const char* name, bool whole) {
  const py::object value = pop(name);
  if (value.is_none()) return std::nullopt;
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (is_truth_value(value)) refuse_type(name, value);
  if (PyIndex_Check(value.ptr()) != 0) {
    const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!index) {
      PyErr_Clear();
      refuse_type(name, value);
    }
    return py::str(index).cast<std::string>();
  }
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse_type(name, value);
  }
  if (whole && (!std::isfinite(number) || number != std::floor(number) || std::abs(number) > 0x1p53))
    throw InputError(Field{name}, fmt::format("{} is not a whole number", number));
  return whole ? fmt::format("{:.0f}", number) : fmt::format("{}", number);
}

std::optional<Bytes> Arguments::bytes(const char* name) {
  const auto text = amount(name, true);
  if (!text) return std::nullopt;
  return parse_bytes(name, *text);
}

std::optional<Seconds> Arguments::seconds(const char* name) {
  const auto text = amount(name, false);
  if (!text) return std::nullopt;
  return parse_duration(name, *text);
}

std::optional<double> Arguments::fraction(const char* name) {
  const auto text = amount(name, false);
  if (!text) return std::nullopt;
  return parse_fraction(name, *text);
}

std::optional<std::uint64_t> Arguments::whole(const char* name, std::uint64_t least, std::uint64_t most) {
  const py::object value = pop(name);
  if (value.is_none()) return std::nullopt;
  return whole_number(name, value, least, most);
}

std::optional<std::int64_t> Arguments::count(const char* name) {
  const auto number = whole(name, 1, std::numeric_limits<std::int64_t>::max());
  if (!number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

int Arguments::threads() {
  constexpr std::int64_t kMost = 256;  // more than any machine has cores only cost memory
  return static_cast<int>(std::min(count("threads").value_or(usable_cores()), kMost));
}

bool Arguments::flag(const char* name, bool otherwise) {
  const py::object value = pop(name);
  if (value.is_none()) return otherwise;
  // Numbers 0 and 1 and numpy's truth values, too; no text, which would always be true.
  py::object scalar = value;
  if (py::hasattr(value, "item")) try {
      scalar = value.attr("item")();
    } catch (const py::error_already_set&) {  // an array of several
      refuse_type(name, value);
    }
  if (!PyLong_Check(scalar.ptr())) refuse_type(name, value);  // bool is one of these
  const long number = PyLong_AsLong(scalar.ptr());
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  if (number != 0 && number != 1) refuse_type(name, value);
  return number == 1;
}

void Arguments::finish() const {
  for (const auto& [name, value] : left_)
    throw py::type_error(fmt::format("{}: is no argument of this function", py::str(name).cast<std::string>()));
}

std::uint64_t whole_number(const std::string& name, const py::object& value, std::uint64_t least,
                           std::uint64_t most) {
  const std::string rule = fmt::format("must be a whole number from {} to {}, not {}", least, most,
                                       py::repr(value).cast<std::string>());
  const std::optional<py::int_> number = as_integer(value);
  if (!number && !is_truth_value(value)) {
    (void)PyFloat_AsDouble(value.ptr());
    const bool is_number = PyErr_Occurred() == nullptr;  // 2.5, of any kind
    PyErr_Clear();
    if (is_number || py::isinstance<py::str>(value)) throw InputError(name, rule);
  }
  if (!number) throw py::type_error(name + ": " + rule);
  const std::uint64_t found = PyLong_AsUnsignedLongLong(number->ptr());
  const bool is_beyond = PyErr_Occurred() != nullptr;  // negative or more than 64 bits
  if (is_beyond) PyErr_Clear();
  if (is_beyond || found < least || found > most) throw InputError(name, rule);
  return found;
}

void add_arguments(py::module_& module) { module.def("whole_number", &whole_number); }

}  // namespace poet::python
