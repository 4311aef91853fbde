#include "poet/frontend/onnx/read/origin.h"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "poet/frontend/onnx/read/protobuf.h"

namespace poet::onnx {
namespace {

using Metadata = std::map<std::string, std::string>;

/// Returns the entries of a field metadata_props, which ONNX has since 1.16 and this libonnx does not know.
Metadata metadata_of(const google::protobuf::UnknownFieldSet& fields, int number) {
  Metadata all;
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    ::onnx::StringStringEntryProto entry;
    if (field.number() == number && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
        entry.ParseFromString(field.length_delimited())) {
      all[entry.key()] = entry.value();
    }
  }
  return all;
}

/// Calls f with the text between each two quotes.
template <class F>
void for_each_quoted(std::string_view text, const F& f) {
  for (std::size_t at = text.find('\''); at != std::string_view::npos; at = text.find('\'', at + 1)) {
    const std::size_t end = text.find('\'', at + 1);
    if (end == std::string_view::npos) return;
    f(clean(std::string(text.substr(at + 1, end - at - 1))));
    at = end;
  }
}

/// Returns the tensors of a kind that the signature of the exported program lists, one a line:
/// "p_fc_weight: PARAMETER target='fc.weight'".
std::set<std::string> listed_as(std::string_view kind, std::string_view signature) {
  const std::string words = ": " + std::string(kind) + " target=";
  std::set<std::string> names;
  for (std::size_t at = signature.find(words); at != std::string_view::npos;
       at = signature.find(words, at + 1)) {
    const std::string_view line = signature.substr(at, signature.find('\n', at) - at);
    for_each_quoted(line, [&](std::string name) { names.insert(std::move(name)); });
  }
  return names;
}

}  // namespace

Origins origins_of(const ::onnx::GraphProto& graph) {
  constexpr int kOfGraph = 16, kOfValue = 4;  // the numbers of the fields
  Metadata program = metadata_of(graph.unknown_fields(), kOfGraph);
  const std::string& signature = program["pkg.torch.export.ExportedProgram.graph_signature"];
  const std::set<std::string> parameters = listed_as("PARAMETER", signature);
  Origins origins;
  std::set<std::string> used;
  for (const ::onnx::TensorProto& tensor : graph.initializer()) used.insert(clean(tensor.name()));
  // Of initialisers that are inputs, too, the input has the metadata.
  for (const auto* infos : {&graph.value_info(), &graph.input()}) {
    for (const ::onnx::ValueInfoProto& info : *infos) {
      const std::string name = clean(info.name());
      Metadata said = metadata_of(info.unknown_fields(), kOfValue);
      const std::string& kind = said["pkg.torch.export.graph_signature.InputSpec.kind"];
      if (kind == "PARAMETER") origins.of[name] = Origin::parameter;
      if (kind == "BUFFER" || kind == "CONSTANT_TENSOR") origins.of[name] = Origin::buffer;
      const auto folded = said.find("pkg.onnxscript.optimizer.folded_from");
      if (folded == said.end()) continue;
      std::vector<std::string>& sources = origins.sources[name];
      for_each_quoted(folded->second, [&](std::string source) { sources.push_back(std::move(source)); });
      const bool of_parameter = std::any_of(sources.begin(), sources.end(), [&](const std::string& source) {
        return parameters.contains(source);
      });
      used.insert(sources.begin(), sources.end());
      origins.of[name] = parameters.empty() ? Origin::folded
                         : of_parameter     ? Origin::folded_of_parameter
                                            : Origin::folded_of_constants;
    }
  }
  for (const std::string& name : parameters)
    if (!used.contains(name)) origins.missing_parameters.push_back(name);
  for (const std::string& name : listed_as("BUFFER", signature))
    if (!used.contains(name)) origins.missing_buffers.push_back(name);
  return origins;
}

}  // namespace poet::onnx
