#include "poet/frontend/onnx/import.h"

#include "poet/base/error.h"
#include "poet/frontend/onnx/read_model.h"
#include "poet/frontend/onnx/walk.h"

namespace poet {

ImportedModel import_model(const onnx::Model& model, const ImportOptions& options) {
  return onnx::Walk(model, options).run();
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
