// The command line as a function, for the command `poet` of an installed package.

#include "apps/cli/program.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <string>
#include <vector>

#include "python/src/bindings.h"

namespace poet::python {
namespace {

int program(const std::vector<std::string>& arguments, const std::filesystem::path& file) {
  std::vector<const char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  const py::gil_scoped_release unlocked;
  return cli::run_program(static_cast<int>(arguments.size()), argv.data(), file.c_str());
}

}  // namespace

void add_program(py::module_& module) { module.def("program", &program); }

}  // namespace poet::python
