#include "poet/frontend/onnx/import.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/frontend/onnx/read/read_model.h"

namespace poet {

namespace {

/// Returns whether a node that its rule rejects may become opaque: the rule may lack a setting, whereas a
/// rejected view is an error in the file.
bool may_become_opaque(const std::string& op_type) {
  const std::set<std::string> views = {"Reshape", "Flatten",   "Squeeze", "Unsqueeze",
                                       "Expand",  "Transpose", "Concat",  "Split"};
  return !views.contains(op_type);
}

/// Lowers a model; nodes that their rules reject become opaque if the options allow it. Throws ControlKnown.
ImportedModel lowered(const onnx::Model& model, const ImportOptions& options) {
  // Each round finds one more node that its rule rejects. Operators without a rule need no round.
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

/// Lowers a model, and again from the beginning whenever the branch of an If or the count of a Loop is found.
ImportedModel resolved(onnx::OpenedModel& opened, const ImportOptions& options) {
  constexpr std::size_t kMostControls = 4096;
  std::vector<onnx::ResolvedControl> controls;
  for (;;) {
    try {
      ImportedModel imported = lowered(opened.model(), options);
      if (!controls.empty())
        imported.notices.push_back(fmt::format(
            "{} replaced by the nodes that {} known to run",
            std::ssize(controls) == 1 ? "an If or Loop node was"
                                      : counted(std::ssize(controls), "If or Loop node") + " were",
            std::ssize(controls) == 1 ? "it is" : "they are"));
      imported.resolved = std::move(controls);
      return imported;
    } catch (const onnx::ControlKnown& known) {
      if (controls.size() == kMostControls)
        throw InputError(fmt::format("has more than {} If and Loop nodes", kMostControls));
      opened.resolve(known.control);
      controls.push_back(known.control);
    }
  }
}

}  // namespace

ImportedModel import_model(const onnx::Model& model, const ImportOptions& options) {
  try {
    return lowered(model, options);
  } catch (const onnx::ControlKnown& known) {
    throw InputError(onnx::place_of(model.nodes.at(known.control.node)),
                     "has subgraphs, which only the file has; import that");
  }
}

ImportedModel import_onnx(const std::filesystem::path& file, const ImportOptions& options) {
  onnx::OpenedModel opened(file);
  try {
    ImportedModel imported = resolved(opened, options);
    imported.forward.name = file.stem().string();
    return imported;
  } catch (const InputError& error) {
    if (error.is_field()) throw;  // concerns the options
    throw InputError(file.string(), error.what());
  }
}

}  // namespace poet
