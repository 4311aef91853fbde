#include "poet/frontend/onnx/read_model.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <system_error>

#include "poet/base/error.h"

namespace poet::onnx {
namespace {

using Proto = ::onnx::TensorProto;

constexpr int kNewestOpset = 17;  // that this libonnx can check
constexpr std::uintmax_t kMostBytes = std::numeric_limits<std::int32_t>::max();

std::string one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// How many bytes from `at` on are one character of UTF-8; 0 when they are none.
std::size_t utf8_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const bool short_enough = length == 2 || (length == 3 ? code >= 0x800 : code >= 0x10000);
  return short_enough && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? length : 0;
}

/// Names go into messages and reports, which are lines, and into JSON, which is UTF-8. Control characters
/// and bytes that are no UTF-8 become question marks.
std::string clean(const std::string& name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t length = utf8_length(name, at);
    const auto first = static_cast<unsigned char>(name[at]);
    const bool control = first < 0x20 || first == 0x7f ||
                         (first == 0xc2 && length == 2 && static_cast<unsigned char>(name[at + 1]) < 0xa0);
    out += length == 0 || control ? "?" : name.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::vector<std::string> cleaned(const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back(clean(name));
  return out;
}

Type type_of(std::int32_t type) {
  switch (type) {
    case Proto::FLOAT:
    case Proto::DOUBLE:
    case Proto::FLOAT16:
    case Proto::BFLOAT16:
      return Type::real;
    case Proto::INT8:
    case Proto::INT16:
    case Proto::INT32:
    case Proto::INT64:
    case Proto::UINT8:
    case Proto::UINT16:
    case Proto::UINT32:
    case Proto::UINT64:
      return Type::integer;
    case Proto::BOOL:
      return Type::boolean;
    default:
      return Type::other;
  }
}

std::string type_name(std::int32_t type) {
  static const std::map<std::int32_t, std::string> names = {
      {Proto::FLOAT, "float"},   {Proto::DOUBLE, "double"},     {Proto::FLOAT16, "float16"},
      {Proto::INT64, "int64"},   {Proto::INT32, "int32"},       {Proto::INT16, "int16"},
      {Proto::INT8, "int8"},     {Proto::UINT8, "uint8"},       {Proto::UINT16, "uint16"},
      {Proto::UINT32, "uint32"}, {Proto::UINT64, "uint64"},     {Proto::BOOL, "bool"},
      {Proto::STRING, "string"}, {Proto::BFLOAT16, "bfloat16"},
  };
  const auto found = names.find(type);
  return found == names.end() ? fmt::format("element type {}", type) : found->second;
}

/// Elements of type T in `raw`, little-endian as ONNX and this machine store them.
template <class T, class To>
bool read_raw(const std::string& raw, std::size_t count, std::vector<To>& out) {
  if (raw.size() != count * sizeof(T)) return false;
  out.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, raw.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<To>(element);
  }
  return true;
}

template <class Field, class To>
bool read_field(const Field& field, std::size_t count, std::vector<To>& out) {
  if (static_cast<std::size_t>(field.size()) != count) return false;
  out.assign(field.begin(), field.end());
  return true;
}

double from_float16(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = bits >> 10U & 0x1fU;
  const int fraction = bits & 0x3ffU;
  if (exponent == 0x1f) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

double from_bfloat16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16U;
  float number = 0;
  std::memcpy(&number, &wide, sizeof(number));
  return number;
}

/// The elements of a small tensor; false when they are absent or of a type that no shape is computed from.
bool read_contents(const Proto& proto, std::size_t count, Tensor& tensor) {
  const bool raw = proto.has_raw_data();
  const std::string& bytes = proto.raw_data();
  switch (proto.data_type()) {
    case Proto::INT64:
      return raw ? read_raw<std::int64_t>(bytes, count, tensor.integers)
                 : read_field(proto.int64_data(), count, tensor.integers);
    case Proto::INT32:
      return raw ? read_raw<std::int32_t>(bytes, count, tensor.integers)
                 : read_field(proto.int32_data(), count, tensor.integers);
    case Proto::UINT8:
    case Proto::BOOL:
      return raw ? read_raw<std::uint8_t>(bytes, count, tensor.integers)
                 : read_field(proto.int32_data(), count, tensor.integers);
    case Proto::INT8:
      return raw ? read_raw<std::int8_t>(bytes, count, tensor.integers)
                 : read_field(proto.int32_data(), count, tensor.integers);
    case Proto::FLOAT:
      return raw ? read_raw<float>(bytes, count, tensor.reals)
                 : read_field(proto.float_data(), count, tensor.reals);
    case Proto::DOUBLE:
      return raw ? read_raw<double>(bytes, count, tensor.reals)
                 : read_field(proto.double_data(), count, tensor.reals);
    case Proto::FLOAT16:
    case Proto::BFLOAT16: {
      std::vector<std::uint16_t> bits;
      if (!(raw ? read_raw<std::uint16_t>(bytes, count, bits) : read_field(proto.int32_data(), count, bits)))
        return false;
      const auto convert = proto.data_type() == Proto::FLOAT16 ? from_float16 : from_bfloat16;
      for (const std::uint16_t element : bits) tensor.reals.push_back(convert(element));
      return true;
    }
    default:
      return false;
  }
}

Tensor read_tensor(const Proto& proto, const std::string& place) {
  Tensor tensor;
  tensor.type = type_of(proto.data_type());
  tensor.type_name = type_name(proto.data_type());
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  std::int64_t count = 0;
  try {
    count = element_count(tensor.shape);
    (void)byte_count(tensor.shape, DType::int64);
  } catch (const InputError& error) {
    throw InputError(place, error.what());
  }
  const bool small = count <= (tensor.type == Type::real ? kMostReals : kMostIntegers);
  tensor.external = proto.data_location() == Proto::EXTERNAL;
  if (small && !tensor.external) {
    tensor.known = read_contents(proto, static_cast<std::size_t>(count), tensor);
  }
  return tensor;
}

AttributeValue read_attribute(const ::onnx::AttributeProto& proto, const std::string& place) {
  using Attribute = ::onnx::AttributeProto;
  switch (proto.type()) {
    case Attribute::INT:
      return proto.i();
    case Attribute::FLOAT:
      return static_cast<double>(proto.f());
    case Attribute::STRING:
      return clean(proto.s());
    case Attribute::INTS:
      return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
    case Attribute::FLOATS:
      return std::vector<double>(proto.floats().begin(), proto.floats().end());
    case Attribute::STRINGS:
      return cleaned(proto.strings());
    case Attribute::TENSOR:
      return read_tensor(proto.t(), place);
    default:
      return OtherAttribute{};
  }
}

Node read_node(const ::onnx::NodeProto& proto, std::size_t index, const std::string& place) {
  Node node;
  node.index = index;
  node.name = clean(proto.name());
  node.op_type = clean(proto.op_type());
  node.domain = proto.domain() == "ai.onnx" ? "" : clean(proto.domain());
  node.inputs = cleaned(proto.input());
  node.outputs = cleaned(proto.output());
  for (const ::onnx::AttributeProto& attribute : proto.attribute()) {
    const std::string name = clean(attribute.name());
    node.attributes[name] = read_attribute(
        attribute,
        fmt::format("{}: node {} '{}' ({}), attribute '{}'", place, index, node.name, node.op_type, name));
  }
  return node;
}

Input read_input(const ::onnx::ValueInfoProto& proto) {
  Input input;
  input.name = clean(proto.name());
  input.type = Type::other;
  input.type_name = "no tensor";
  if (!proto.type().has_tensor_type()) return input;
  const ::onnx::TypeProto_Tensor& type = proto.type().tensor_type();
  input.type = type_of(type.elem_type());
  input.type_name = type_name(type.elem_type());
  if (!type.has_shape()) return input;
  input.shape.emplace();
  for (const ::onnx::TensorShapeProto_Dimension& dim : type.shape().dim()) {
    Dimension dimension;
    // Exporters also write 0 or -1 for "unknown".
    if (dim.has_dim_value() && dim.dim_value() > 0) dimension.size = dim.dim_value();
    if (dim.has_dim_param()) dimension.symbol = clean(dim.dim_param());
    input.shape->push_back(std::move(dimension));
  }
  return input;
}

bool has_data(const Proto& tensor) {
  if (tensor.data_location() == Proto::EXTERNAL) return false;
  return tensor.has_raw_data() || tensor.float_data_size() > 0 || tensor.int32_data_size() > 0 ||
         tensor.int64_data_size() > 0 || tensor.double_data_size() > 0 || tensor.uint64_data_size() > 0 ||
         tensor.string_data_size() > 0;
}

/// libonnx refuses models without their weights and models newer than itself; for those the walk over the
/// nodes finds what matters here.
bool can_be_checked(const ::onnx::ModelProto& model) {
  if (model.ir_version() > ::onnx::Version::IR_VERSION) return false;
  for (const ::onnx::OperatorSetIdProto& opset : model.opset_import()) {
    if (!opset.domain().empty() && opset.domain() != "ai.onnx") return false;
    if (opset.version() > kNewestOpset) return false;
  }
  for (const Proto& tensor : model.graph().initializer()) {
    if (!has_data(tensor)) return false;
  }
  for (const ::onnx::NodeProto& node : model.graph().node()) {
    for (const ::onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_t() && !has_data(attribute.t())) return false;
    }
  }
  return true;
}

/// Every input is known before it is read, every output is new: no cycles either.
void check_order(const Model& model, const std::string& place) {
  std::set<std::string> known;
  for (const Input& input : model.inputs) known.insert(input.name);
  for (const auto& [name, tensor] : model.initializers) known.insert(name);
  for (const Node& node : model.nodes) {
    const auto fail = [&](const std::string& rule) {
      throw InputError(fmt::format("{}: node {} '{}' ({})", place, node.index, node.name, node.op_type),
                       rule);
    };
    for (const std::string& input : node.inputs) {
      if (!input.empty() && !known.contains(input)) {
        fail(fmt::format("reads '{}', which no input, initialiser or earlier node provides", input));
      }
    }
    for (const std::string& output : node.outputs) {
      if (!output.empty() && !known.insert(output).second) {
        fail(fmt::format("writes '{}', which something else has provided already", output));
      }
    }
  }
  for (const std::string& output : model.outputs) {
    if (!known.contains(output)) {
      throw InputError(place, fmt::format("nothing provides the output '{}'", output));
    }
  }
}

/// Keeps protobuf's own complaints off stderr: what is wrong arrives as an exception.
class Silence {
 public:
  Silence() : before_(google::protobuf::SetLogHandler(nullptr)) {}
  ~Silence() { google::protobuf::SetLogHandler(before_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  google::protobuf::LogHandler* before_;
};

}  // namespace

Model parse_model(std::string_view bytes, const std::string& place) {
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

  Model model;
  model.name = clean(proto.graph().name());
  for (const ::onnx::OperatorSetIdProto& opset : proto.opset_import()) {
    if (opset.domain().empty() || opset.domain() == "ai.onnx") model.opset = opset.version();
  }
  if (model.opset < 1)
    throw InputError(place, "says for no version of ONNX's operators what it was made (opset_import)");
  if (proto.graph().sparse_initializer_size() > 0) {
    throw InputError(place, "has sparse initialisers; export it with dense ones");
  }
  for (const Proto& tensor : proto.graph().initializer()) {
    const std::string name = clean(tensor.name());
    if (model.initializers.contains(name))
      throw InputError(place, fmt::format("has two initialisers '{}'", name));
    model.initializers[name] = read_tensor(tensor, fmt::format("{}: initialiser '{}'", place, name));
  }
  for (const ::onnx::ValueInfoProto& input : proto.graph().input()) {
    if (!model.initializers.contains(clean(input.name()))) model.inputs.push_back(read_input(input));
  }
  for (const ::onnx::ValueInfoProto& output : proto.graph().output())
    model.outputs.push_back(clean(output.name()));
  if (model.outputs.empty()) throw InputError(place, "has no output to attach a loss to");
  for (const ::onnx::NodeProto& node : proto.graph().node()) {
    model.nodes.push_back(read_node(node, model.nodes.size(), place));
  }
  check_order(model, place);
  if (can_be_checked(proto)) {
    try {
      ::onnx::checker::check_model(proto);
    } catch (const std::exception& error) {
      throw InputError(place, "libonnx refuses it: " + one_line(error.what()));
    }
  }
  return model;
}

Model read_model(const std::filesystem::path& file) {
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
  return parse_model(bytes.str(), file.string());
}

}  // namespace poet::onnx
