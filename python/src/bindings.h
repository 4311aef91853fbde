#pragma once

// The extension module poet._core: the library's functions as the package in ../poet calls them. It takes and
// gives plain things, text and numbers, JSON for what has many fields; what users see is made of them in
// Python.

#include <pybind11/pybind11.h>

#include <string>

namespace poet::python {

namespace py = pybind11;

/// Of what the library says: names in backquotes, of fields, become those of arguments.
std::string with_argument_names(std::string text);

void add_errors(py::module_& module);
void add_instances(py::module_& module);
void add_plans(py::module_& module);
void add_solving(py::module_& module);
void add_methods(py::module_& module);
void add_training(py::module_& module);
void add_weights(py::module_& module);
void add_packing(py::module_& module);
void add_machine(py::module_& module);
void add_sweeping(py::module_& module);
void add_program(py::module_& module);

}  // namespace poet::python
