#include "poet/frontend/onnx/read/origin.h"

#include <google/protobuf/unknown_field_set.h>

#include <string>

namespace poet::onnx {

std::optional<Origin> origin_of(const ::onnx::ValueInfoProto& info) {
  constexpr int kMetadata =
      4;  // ValueInfoProto.metadata_props of ONNX 1.16, which this libonnx does not know
  const google::protobuf::UnknownFieldSet& fields = info.unknown_fields();
  std::optional<Origin> origin;
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    ::onnx::StringStringEntryProto entry;
    if (field.number() != kMetadata ||
        field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED ||
        !entry.ParseFromString(field.length_delimited())) {
      continue;
    }
    if (entry.key() == "pkg.torch.export.graph_signature.InputSpec.kind") {
      if (entry.value() == "PARAMETER") origin = Origin::parameter;
      if (entry.value() == "BUFFER" || entry.value() == "CONSTANT_TENSOR") origin = Origin::buffer;
    } else if (entry.key() == "pkg.onnxscript.optimizer.folded_from") {
      origin = Origin::folded;
    }
  }
  return origin;
}

}  // namespace poet::onnx
