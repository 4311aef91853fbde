#include "poet/frontend/onnx/read/model_proto.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>

#include "poet/base/error.h"
#include "poet/frontend/onnx/read/control_flow.h"
#include "poet/frontend/onnx/read/model_functions.h"
#include "poet/frontend/onnx/read/protobuf.h"
#include "poet/frontend/onnx/read/sorted_nodes.h"

namespace poet::onnx {
namespace {

constexpr std::uintmax_t kMostBytes = std::numeric_limits<std::int32_t>::max();

}  // namespace

std::string read_bytes(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) throw InputError(file.string(), "is no readable file");
  if (std::filesystem::file_size(file, error) > kMostBytes) {
    throw InputError(file.string(), "is larger than 2 GiB: export the weights as external data");
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream bytes;
  if (!stream || (stream.peek() != std::ifstream::traits_type::eof() && !(bytes << stream.rdbuf()))) {
    throw InputError(file.string(), "cannot be read");
  }
  return std::move(bytes).str();
}

::onnx::ModelProto parse_proto(std::string_view bytes, const std::string& place, ListedNodes* listed) {
  const Silence silence;
  if (bytes.empty()) throw InputError(place, "is empty");
  if (bytes.size() > kMostBytes) {
    throw InputError(place, "is larger than 2 GiB: export the weights as external data");
  }
  ::onnx::ModelProto proto;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  if (!proto.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    throw InputError(place, "is no ONNX model, or is cut off or damaged");
  }
  if (!proto.has_graph() || proto.graph().node_size() == 0)
    throw InputError(place, "is no ONNX model: it has no graph");
  const std::int64_t all = proto.graph().node_size();
  const std::int64_t calls = inline_functions(proto, place);
  sort_nodes(*proto.mutable_graph());
  if (listed != nullptr) *listed = {all, calls};
  return proto;
}

::onnx::ModelProto read_proto(const std::filesystem::path& file, const std::vector<ResolvedControl>& resolved,
                              ListedNodes* listed) {
  ::onnx::ModelProto proto = parse_proto(read_bytes(file), file.string(), listed);
  for (const ResolvedControl& known : resolved) resolve(proto, known, file.string());
  return proto;
}

}  // namespace poet::onnx
