// ONNX's own tests of its operators, as an independent check of the importer and of the reference kernels:
// what the imported forward graph computes is what the standard's reference implementation gave. Every test
// whose operator poet imports takes part on its own; nothing lists operators here.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "poet/base/error.h"
#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/read/read_model.h"
#include "tests/support/onnx_node_cases.h"
#include "tests/support/reference_kernels.h"

namespace poet {
namespace {

using reference::Array;
using test::OnnxNodeCase;

/// As many cases were compared when this was written; a new operator raises it.
constexpr std::size_t kLeastCompared = 585;
constexpr std::size_t kLeastImported = 801;  // with opaque operators

struct Exclusion {
  const char* name;  // or its beginning, when that ends in '*'
  const char* reason;
};
constexpr std::array kExclusions = {
    // Poet trains: what the file computes otherwise is meant to differ.
    Exclusion{"test_batchnorm_epsilon", "of inference; BatchNormalization is put back into training mode"},
    Exclusion{"test_batchnorm_example", "of inference; BatchNormalization is put back into training mode"},
    Exclusion{"test_dropout_*", "of inference; Dropout is put back into training mode"},
    Exclusion{"test_training_dropout*", "the standard does not say which elements a seed drops"},
    // The standard's formula divides by the output's size less 1, its tests by 2.4 less 1.
    Exclusion{"test_resize_downsample_scales_cubic_align_corners", "for an output of 2.4 elements"},
    Exclusion{"test_resize_downsample_scales_linear_align_corners", "for an output of 2.4 elements"},
    Exclusion{"test_stft*", "libonnx infers two sides where the attribute 'onesided' is left out"},
};

/// Why the case has another result by design; null where it has not.
const char* excluded(const OnnxNodeCase& one) {
  for (const Exclusion& exclusion : kExclusions) {
    std::string name = exclusion.name;
    const bool beginning = name.ends_with('*');
    if (beginning) name.pop_back();
    if (beginning ? one.name.starts_with(name) : one.name == name) return exclusion.reason;
  }
  if (one.inputs.empty() || one.outputs.empty() || one.inputs.size() > 31)
    return "an input or output is no tensor, or there is none";
  return nullptr;
}

struct NodeOutcome {
  enum class Kind { compared, mismatch, refused, not_comparable } kind;
  std::string text;
};

bool is_real(int element_type) {
  using Proto = ::onnx::TensorProto;
  return element_type == Proto::FLOAT || element_type == Proto::DOUBLE || element_type == Proto::FLOAT16 ||
         element_type == Proto::BFLOAT16;
}

/// What values of this element type may differ by, of 1 and more.
double tolerance(int element_type) {
  if (element_type == ::onnx::TensorProto::FLOAT16) return 2e-3;
  return element_type == ::onnx::TensorProto::BFLOAT16 ? 1e-2 : 1e-4;
}

/// The case's model with this output alone, as real numbers since a loss reads it, and with the inputs that
/// are not in `runtime` (a set of bits) as initialisers.
::onnx::ModelProto variant(const OnnxNodeCase& one, int output, std::uint32_t runtime) {
  ::onnx::ModelProto model = one.model;
  ::onnx::GraphProto& graph = *model.mutable_graph();
  ::onnx::ValueInfoProto wanted = graph.output(output);
  graph.clear_output();
  if (!is_real(wanted.type().tensor_type().elem_type())) {
    // Before opset 6 the attribute of Cast was a text.
    for (::onnx::OperatorSetIdProto& opset : *model.mutable_opset_import())
      if (opset.domain().empty()) opset.set_version(std::max<std::int64_t>(opset.version(), 6));
    ::onnx::NodeProto& cast = *graph.add_node();
    cast.set_op_type("Cast");
    cast.set_name("as_real");
    cast.add_input(wanted.name());
    cast.add_output("as_real");
    ::onnx::AttributeProto& to = *cast.add_attribute();
    to.set_name("to");
    to.set_type(::onnx::AttributeProto::INT);
    to.set_i(::onnx::TensorProto::FLOAT);
    wanted.set_name("as_real");
    wanted.mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT);
  }
  *graph.add_output() = wanted;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    if ((runtime >> i & 1U) == 0) *graph.add_initializer() = one.inputs[i];
  }
  return model;
}

/// Everything that the file says by name: inputs, initialisers, Constant nodes.
std::map<std::string, Array> contents(const OnnxNodeCase& one) {
  std::map<std::string, Array> all;
  const auto add = [&](const std::string& name, const ::onnx::TensorProto& tensor) {
    if (const auto array = test::array_of(tensor)) all[name] = *array;
  };
  for (const ::onnx::TensorProto& tensor : one.inputs) add(tensor.name(), tensor);
  for (const ::onnx::TensorProto& tensor : one.model.graph().initializer()) add(tensor.name(), tensor);
  for (const ::onnx::NodeProto& node : one.model.graph().node()) {
    for (const ::onnx::AttributeProto& attribute : node.attribute()) {
      if (node.op_type() == "Constant" && attribute.has_t()) add(node.output(0), attribute.t());
    }
  }
  return all;
}

std::vector<double> transposed_matrix(const Array& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.shape.at(0));
  const auto columns = static_cast<std::size_t>(matrix.shape.at(1));
  std::vector<double> out(rows * columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = matrix.data[r * columns + c];
  }
  return out;
}

const Op& loss_of(const Graph& graph) {
  for (const Op& op : graph.ops) {
    if (op.kind == "mse_loss") return op;
  }
  throw InternalError("the import attached no loss");
}

/// Sets what comes from outside. Says what has no contents in the file, if anything.
std::string feed(const ImportedModel& imported, const std::map<std::string, Array>& all,
                 reference::Interpreter& run) {
  const Graph& graph = imported.forward;
  const ValueId targets = loss_of(graph).inputs.at(1);
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    const bool fed = !value.alias_of.valid() &&
                     (is_persistent(value.persistence) || value.persistence == Persistence::input);
    if (!fed) continue;
    const auto found = all.find(value.name);
    const auto elements = static_cast<std::size_t>(element_count(value.shape));
    if (found != all.end() && found->second.data.size() == elements) {
      run.set(v, value.in_file && value.in_file->transposed ? transposed_matrix(found->second)
                                                            : found->second.data);
    } else if (v == targets || value.name.ends_with(".bias")) {  // one that the file left out
      run.set(v, std::vector<double>(elements, 0.0));
    } else {
      return value.name;
    }
  }
  return "";
}

std::string text_of(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

/// Empty when they are one.
std::string difference(const Array& computed, const Array& expected, double tolerated) {
  if (computed.shape != expected.shape)
    return fmt::format("is {}, not {}", text_of(computed.shape), text_of(expected.shape));
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    const double a = computed.data.at(i);
    const double b = expected.data[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= tolerated * std::max(1.0, std::abs(b))))
      return fmt::format("element {} of {} is {}, not {}", i, text_of(expected.shape), a, b);
  }
  return "";
}

/// A diagnostic is one line that says where it is.
std::string unclear(const std::string& diagnostic, const OnnxNodeCase& one) {
  if (diagnostic.find('\n') != std::string::npos) return "more than one line: " + diagnostic;
  for (const ::onnx::NodeProto& node : one.model.graph().node()) {
    if (diagnostic.find(node.op_type()) != std::string::npos) return "";
  }
  const bool named =
      diagnostic.find("input '") != std::string::npos || diagnostic.find("output '") != std::string::npos ||
      diagnostic.find("(Cast)") != std::string::npos || diagnostic.find("opset_import") != std::string::npos;
  return named ? "" : "names neither operator nor input nor output: " + diagnostic;
}

/// Its result's shape is the whole comparison when there are opaque operators, of which nobody knows more.
NodeOutcome check(const OnnxNodeCase& one, int output, std::uint32_t runtime,
                  const std::map<std::string, Array>& all, bool allow_opaque) {
  const ::onnx::TensorProto& stated = one.outputs[static_cast<std::size_t>(output)];
  const auto expected = test::array_of(stated);
  if (!expected) return {NodeOutcome::Kind::not_comparable, "the output holds no numbers"};
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const auto& dims = one.inputs[i].dims();
    if ((runtime >> i & 1U) != 0 && std::find(dims.begin(), dims.end(), 0) != dims.end())
      return {NodeOutcome::Kind::not_comparable,
              "an input without elements: 0 in a file is an open dimension"};
  }
  ImportedModel imported;
  try {
    ImportOptions options;
    options.loss = Loss::mean_squared_error;
    options.allow_opaque = allow_opaque;
    imported =
        import_model(onnx::parse_model(variant(one, output, runtime).SerializeAsString(), one.name), options);
  } catch (const InputError& error) {
    const std::string wrong = unclear(error.what(), one);
    if (!wrong.empty()) return {NodeOutcome::Kind::mismatch, wrong};
    return {NodeOutcome::Kind::refused, error.what()};
  }
  verify(imported.forward);
  if (allow_opaque) {
    const Shape& shape = imported.forward.values[loss_of(imported.forward).inputs.at(0)].shape;
    if (shape == expected->shape) return {NodeOutcome::Kind::compared, ""};
    return {NodeOutcome::Kind::mismatch,
            fmt::format("is {}, not {}", text_of(shape), text_of(expected->shape))};
  }
  reference::Interpreter run(imported.forward);
  if (const std::string missing = feed(imported, all, run); !missing.empty()) {
    return {NodeOutcome::Kind::not_comparable, fmt::format("'{}' has other contents than the file", missing)};
  }
  run.run();
  const std::string differs =
      difference(run.get(loss_of(imported.forward).inputs.at(0)), *expected, tolerance(stated.data_type()));
  return {differs.empty() ? NodeOutcome::Kind::compared : NodeOutcome::Kind::mismatch, differs};
}

/// Which inputs are computed at run time: the first one, all, then every other choice.
std::vector<std::uint32_t> choices(std::size_t inputs) {
  constexpr std::size_t kMost = 5;  // with more, the first and all have to do
  const std::uint32_t all = (1U << inputs) - 1;
  std::vector<std::uint32_t> sets = {1U};
  if (inputs > 1) sets.push_back(all);
  for (std::uint32_t set = 2; inputs <= kMost && set < all; ++set) sets.push_back(set);
  return sets;
}

/// The operator of a case of one node; of a case with more what they spell out.
std::string operator_of(const OnnxNodeCase& one) {
  const ::onnx::GraphProto& graph = one.model.graph();
  if (graph.node_size() == 1) return graph.node(0).op_type();
  return "several nodes";
}

std::string without_numbers(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) out += c;
    if (digit && (out.empty() || out.back() != '#')) out += '#';
  }
  return out;
}

/// The rule without the place.
std::string rule_of(const std::string& diagnostic) {
  const std::size_t node = diagnostic.find("): ");
  return node == std::string::npos ? diagnostic : diagnostic.substr(node + 3);
}

TEST(OnnxNodeTests, ImportedGraphsComputeWhatTheStandardSays) {
  const std::vector<OnnxNodeCase> cases = test::onnx_node_cases();
  if (cases.empty()) GTEST_SKIP() << test::onnx_node_folder() << " is absent (Debian's libonnx-testdata)";
  std::size_t compared = 0;
  std::size_t comparisons = 0;
  std::map<std::string, std::size_t> operators;
  std::map<std::string, std::map<std::string, std::size_t>> refused;
  std::map<std::string, std::size_t> others;
  for (const OnnxNodeCase& one : cases) {
    if (const char* reason = excluded(one)) {
      ++others[reason];
      continue;
    }
    const std::map<std::string, Array> all = contents(one);
    std::size_t here = 0;
    NodeOutcome first{NodeOutcome::Kind::compared, ""};
    for (int output = 0; output < static_cast<int>(one.outputs.size()); ++output) {
      for (const std::uint32_t runtime : choices(one.inputs.size())) {
        NodeOutcome outcome{};
        try {
          outcome = check(one, output, runtime, all, false);
        } catch (const std::exception& error) {
          outcome = {NodeOutcome::Kind::mismatch, std::string("thrown: ") + error.what()};
        }
        if (output == 0 && runtime == 1U) first = outcome;
        here += outcome.kind == NodeOutcome::Kind::compared ? 1 : 0;
        EXPECT_NE(outcome.kind, NodeOutcome::Kind::mismatch)
            << one.name << ", output " << output << ", run-time inputs " << runtime << ": " << outcome.text;
      }
    }
    comparisons += here;
    if (here > 0) {
      ++compared;
      ++operators[operator_of(one)];
    } else if (first.kind == NodeOutcome::Kind::refused) {
      ++refused[operator_of(one)][without_numbers(rule_of(first.text))];
    } else {
      ++others[first.text];
    }
  }
  std::cout << fmt::format("{} of {} cases compared, in {} ways\n", compared, cases.size(), comparisons);
  for (const auto& [name, count] : operators) std::cout << fmt::format("  compared {:4} {}\n", count, name);
  for (const auto& [name, reasons] : refused) {
    for (const auto& [reason, count] : reasons)
      std::cout << fmt::format("  refused  {:4} {}: {}\n", count, name, reason);
  }
  for (const auto& [reason, count] : others) std::cout << fmt::format("  left out {:4} {}\n", count, reason);
  EXPECT_GE(compared, kLeastCompared);
}

TEST(OnnxNodeTests, OpaqueOperatorsHaveTheShapesThatTheStandardSays) {
  const std::vector<OnnxNodeCase> cases = test::onnx_node_cases();
  if (cases.empty()) GTEST_SKIP() << test::onnx_node_folder() << " is absent (Debian's libonnx-testdata)";
  std::size_t compared = 0;
  for (const OnnxNodeCase& one : cases) {
    if (excluded(one) != nullptr) continue;
    for (const std::uint32_t runtime : choices(one.inputs.size())) {
      const NodeOutcome outcome = check(one, 0, runtime, {}, true);
      compared += runtime == 1U && outcome.kind == NodeOutcome::Kind::compared ? 1 : 0;
      EXPECT_NE(outcome.kind, NodeOutcome::Kind::mismatch)
          << one.name << ", run-time inputs " << runtime << ": " << outcome.text;
    }
  }
  std::cout << fmt::format("{} of {} cases imported with opaque operators\n", compared, cases.size());
  EXPECT_GE(compared, kLeastImported);
}

}  // namespace
}  // namespace poet
