// In place of onnx/ in a build without it.

#include "poet/base/error.h"
#include "poet/frontend/onnx/import.h"

namespace poet {

ImportedModel import_onnx(const std::filesystem::path& file, const ImportOptions&) {
  throw InputError(file.string(),
                   "this program reads no ONNX files; poet import -o makes an instance of one");
}

}  // namespace poet
