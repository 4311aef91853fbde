// Replaces onnx/ in a build without ONNX.

#include "poet/base/error.h"
#include "poet/frontend/onnx/import.h"

namespace poet {

ImportedModel import_onnx(const std::filesystem::path& file, const ImportOptions&) {
  throw InputError(file.string(),
                   "this program reads no ONNX files; poet import -o makes an instance of one");
}

}  // namespace poet
