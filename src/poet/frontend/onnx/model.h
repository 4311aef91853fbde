#pragma once

// An ONNX model as the importer sees it: plain structs without protobuf, weights as shapes.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::onnx {

/// Element types as far as the importer tells them apart. `integer`: all widths, signed or not.
enum class Type { real, integer, boolean, other };

/// Of the elements of a tensor and their places: equal where these are equal. 0: no contents.
struct Digest {
  std::uint64_t as_stored = 0;
  std::uint64_t transposed = 0;  // of a matrix: that of its transpose
};

/// Contents are known when there is one element per position of the shape in `integers` (also booleans, as 0
/// and 1) or `reals`. Weights have a shape only, unless they are patterned.
struct Tensor {
  Type type = Type::real;
  std::string type_name = "float";  // as ONNX calls it
  Shape shape;
  bool known = false;
  bool external = false;  // the contents are in another file
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  // What is known of real numbers also where they are too many to be kept:
  // a formula made them, not training: one is infinite, or they are few different ones again and again, as in
  // masks and tables of coordinates;
  bool patterned = false;
  std::optional<double> fill;  // every element is this number
  Digest digest;
};

/// What the file says about a tensor, beside its numbers: torch.onnx.export writes so since PyTorch 2.6.
enum class Origin {
  parameter,            // of the module
  buffer,               // of the module, or a tensor that its code mentions
  folded,               // computed by the exporter, which does not say of what
  folded_of_parameter,  // one at least
  folded_of_constants,
};

/// An attribute that is a graph (control_flow.h), a type or sparse.
struct OtherAttribute {};

using AttributeValue =
    std::variant<OtherAttribute, std::int64_t, double, std::string, std::vector<std::int64_t>,
                 std::vector<double>, std::vector<std::string>, Tensor>;

struct Node {
  std::size_t index = 0;  // in the file
  std::string name;       // may be empty
  std::string op_type;
  std::string domain;                // empty: ONNX's own operators
  std::vector<std::string> inputs;   // empty name: an optional input left out
  std::vector<std::string> outputs;  // the same
  std::map<std::string, AttributeValue> attributes;
};

/// A dimension that the file leaves open has a symbol or nothing.
struct Dimension {
  std::optional<std::int64_t> size;
  std::string symbol;
};

/// As a file declares it.
struct Declaration {
  std::string name;
  Type type = Type::real;
  std::string type_name;
  std::optional<std::vector<Dimension>> shape;  // absent: not even the rank is known
};

/// Of a file, before its functions and what its If and Loop nodes run take their places.
struct ListedNodes {
  std::int64_t all = 0;
  std::int64_t calls = 0;  // of functions, all of which were replaced: also those within functions
};

struct Model {
  std::string name;
  std::string producer;             // the program that wrote it, as it calls itself
  std::int64_t opset = 0;           // of ONNX's own operators
  std::vector<Declaration> inputs;  // without those that only give an initialiser's type
  std::vector<std::string> outputs;
  std::map<std::string, Declaration> declared;  // results of nodes of which the file says the shape
  std::map<std::string, Tensor> initializers;
  std::map<std::string, Origin> origins;                    // of initialisers, where the file says so
  std::map<std::string, std::vector<std::string>> sources;  // of computed ones: what the file says of what
  // Of the module, which the file names but has no tensor of.
  std::vector<std::string> missing_parameters, missing_buffers;
  bool has_scoped_names = false;  // /layer/Op_output_0, onnx::Op_1: by PyTorch's older exporter
  std::vector<Node> nodes;        // an input is a graph input, an initialiser or an earlier node's output
  ListedNodes listed;             // of the file that the nodes come from; none: of no file
};

/// What is known of an If (1: it takes its then_branch, 0: the other one) or of a Loop (how often it runs, or
/// kOnceMore), by its place among the nodes.
struct ResolvedControl {
  static constexpr std::int64_t kOnceMore = -1;  // its condition holds; what comes then, the body decides

  std::size_t node = 0;
  std::int64_t known = 0;
};

}  // namespace poet::onnx
