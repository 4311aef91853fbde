#include "poet/frontend/onnx/import.h"

#include <set>
#include <string>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/frontend/onnx/read/read_model.h"

namespace poet {

namespace {

/// Whether what its rule refuses may be a setting that the rule lacks. A view that does not fit is a mistake
/// in the file.
bool may_become_opaque(const std::string& op_type) {
  const std::set<std::string> views = {"Reshape", "Flatten",   "Squeeze", "Unsqueeze",
                                       "Expand",  "Transpose", "Concat",  "Split"};
  return !views.contains(op_type);
}

}  // namespace

ImportedModel import_model(const onnx::Model& model, const ImportOptions& options) {
  // Each round finds one more node that its rule cannot take. Operators without any rule need no round.
  constexpr std::size_t kMostRounds = 64;
  onnx::OpaqueNodes opaque;
  for (;;) {
    try {
      return onnx::lower_model(model, options, opaque);
    } catch (const onnx::NodeError& error) {
      const bool again = options.allow_opaque && opaque.size() < kMostRounds &&
                         may_become_opaque(model.nodes.at(error.node()).op_type) &&
                         opaque.emplace(error.node(), std::string(error.rule())).second;
      if (!again) throw;
    }
  }
}

ImportedModel import_onnx(const std::filesystem::path& file, const ImportOptions& options) {
  const onnx::Model model = onnx::read_model(file);
  try {
    ImportedModel imported = import_model(model, options);
    imported.forward.name = file.stem().string();
    return imported;
  } catch (const InputError& error) {
    throw InputError(file.string(), error.what());
  }
}

}  // namespace poet
