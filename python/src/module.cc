#include "poet/base/data_dir.h"
#include "poet/version.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"

namespace poet::python {

PYBIND11_MODULE(_core, module) {
  module.doc() = "The library behind the package poet; not for direct use.";
  module.attr("version") = version();
  add_errors(module);
  add_arguments(module);
  add_instances(module);
  add_plans(module);
  add_solving(module);
  add_methods(module);
  add_training(module);
  add_weights(module);
  add_packing(module);
  add_machine(module);
  add_sweeping(module);
  add_program(module);
  module.def("data_dir", [] { return data_dir().string(); });
}

}  // namespace poet::python
