#include "poet/frontend/onnx/read/check_by_libonnx.h"

#include <onnx/checker.h>

#include <algorithm>
#include <set>

#include "poet/base/error.h"
#include "poet/base/text.h"
#include "poet/frontend/onnx/read/protobuf.h"

namespace poet::onnx {
namespace {

using Proto = ::onnx::TensorProto;

std::string one_line(const std::string& text) {
  std::string line;
  for (const std::string& word : words_of(text)) line += (line.empty() ? "" : " ") + word;
  return line;
}

bool has_data(const Proto& tensor) {
  if (tensor.data_location() == Proto::EXTERNAL) return false;
  return tensor.has_raw_data() || tensor.float_data_size() > 0 || tensor.int32_data_size() > 0 ||
         tensor.int64_data_size() > 0 || tensor.double_data_size() > 0 || tensor.uint64_data_size() > 0 ||
         tensor.string_data_size() > 0;
}

/// Returns whether a graph, and those in it, have all their contents themselves. libonnx looks for the rest
/// in the file system, from any path, and tells which files there are.
bool has_all_data(const ::onnx::GraphProto& graph) {
  const auto all = [](const auto& list, const auto& test) {
    return std::all_of(list.begin(), list.end(), test);
  };
  const auto sparse_has_data = [](const ::onnx::SparseTensorProto& tensor) {
    return has_data(tensor.values()) && has_data(tensor.indices());
  };
  return all(graph.initializer(), has_data) && all(graph.sparse_initializer(), sparse_has_data) &&
         all(graph.node(), [&](const ::onnx::NodeProto& node) {
           return all(node.attribute(), [&](const ::onnx::AttributeProto& attribute) {
             return (!attribute.has_t() || has_data(attribute.t())) && all(attribute.tensors(), has_data) &&
                    (!attribute.has_sparse_tensor() || sparse_has_data(attribute.sparse_tensor())) &&
                    all(attribute.sparse_tensors(), sparse_has_data) &&
                    (!attribute.has_g() || has_all_data(attribute.g())) &&
                    all(attribute.graphs(), has_all_data);
           });
         });
}

/// Returns whether libonnx can check the model. It rejects models without weights and models newer than
/// itself, for which the walk over the nodes checks what the importer needs.
bool can_be_checked(const ::onnx::ModelProto& model) {
  if (model.ir_version() > ::onnx::Version::IR_VERSION) return false;
  for (const ::onnx::OperatorSetIdProto& opset : model.opset_import()) {
    if (!opset.domain().empty() && opset.domain() != "ai.onnx") return false;
    if (opset.version() > kNewestOpset) return false;
  }
  // Operators of before ONNX 1.5, of which libonnx knows nothing but to write a warning to stderr.
  static const std::set<std::string> experimental = {"ATen",
                                                     "Affine",
                                                     "ConstantFill",
                                                     "Crop",
                                                     "DynamicSlice",
                                                     "GRUUnit",
                                                     "GivenTensorFill",
                                                     "ImageScaler",
                                                     "ParametricSoftplus",
                                                     "Scale",
                                                     "ScaledTanh"};
  for (const ::onnx::NodeProto& node : model.graph().node())
    if (experimental.contains(node.op_type())) return false;
  return has_all_data(model.graph());
}

}  // namespace

void check_by_libonnx(const ::onnx::ModelProto& model, const std::string& place) {
  if (!can_be_checked(model)) return;
  try {
    ::onnx::checker::check_model(model);
  } catch (const std::exception& error) {
    throw InputError(place, "libonnx refuses it: " + one_line(error.what()));
  }
}

}  // namespace poet::onnx
