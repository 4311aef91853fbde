// Exceptions of the library as Python's, classes of poet.errors, with the names that arguments have there.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "poet/base/error.h"
#include "python/src/bindings.h"

namespace poet::python {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kArguments = {
    {{"deadline.factor", "runtime_budget"},
     {"deadline.time", "deadline"},
     {"platform", "device"},
     {"time_limit_seconds", "time_limit"},
     {"validate", "validation"}}};

std::string argument_named(std::string_view field) {
  for (const auto& [name, argument] : kArguments)
    if (name == field) return std::string(argument);
  return std::string(field);
}

void raise(const char* type, const py::args& arguments) {
  const py::object exception = py::module_::import("poet.errors").attr(type);
  PyErr_SetObject(exception.ptr(), exception(*arguments).ptr());
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the type that pybind11 asks for
void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    const std::string_view place = error.place();
    std::string rule(error.rule());
    if (!error.hint().empty()) rule += " (" + std::string(error.hint()) + ")";
    raise("InputError", py::make_tuple(error.is_field() ? argument_named(place) : std::string(place),
                                       with_argument_names(std::move(rule))));
  } catch (const InternalError& error) {
    raise("InternalError", py::make_tuple(error.what()));
  }
}

/// "`input_shapes` x=4x20", as command lines have it, as "`input_shapes` {"x": (4, 20)}".
void write_shapes_as_python(std::string& text) {
  constexpr std::string_view kShapes = "`input_shapes` ";
  const std::size_t at = text.find(kShapes);
  if (at == std::string::npos) return;
  const std::size_t name = at + kShapes.size();
  const std::size_t equals = text.find('=', name);
  if (equals == std::string::npos) return;
  const std::size_t end = std::min(text.find_first_not_of("0123456789x", equals + 1), text.size());
  std::string sizes = text.substr(equals + 1, end - equals - 1);
  if (sizes.empty()) return;
  const bool is_one = sizes.find('x') == std::string::npos;
  for (std::size_t x = sizes.find('x'); x != std::string::npos; x = sizes.find('x', x)) sizes.replace(x, 1, ", ");
  text.replace(name, end - name,
               "{\"" + text.substr(name, equals - name) + "\": (" + sizes + (is_one ? ",)}" : ")}"));
}

}  // namespace

std::string with_argument_names(std::string text) {
  for (std::size_t begin = text.find('`'); begin != std::string::npos;) {
    const std::size_t end = text.find('`', begin + 1);
    if (end == std::string::npos) break;
    const std::string argument = argument_named(std::string_view(text).substr(begin + 1, end - begin - 1));
    text.replace(begin + 1, end - begin - 1, argument);
    begin = text.find('`', begin + argument.size() + 2);
  }
  write_shapes_as_python(text);
  return text;
}

void add_errors(py::module_& module) {
  py::register_exception_translator(&translate);
  module.def("with_argument_names", &with_argument_names);
}

}  // namespace poet::python
