#include "poet/frontend/onnx/read/model_functions.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "poet/base/error.h"
#include "poet/frontend/onnx/read/protobuf.h"
#include "poet/frontend/onnx/read/splice.h"

namespace poet::onnx {
namespace {

// Numbers of fields newer than libonnx 1.12.
constexpr int kNodeOverload = 8;
constexpr int kFunctionOverload = 13;
constexpr int kFunctionAttributeDefault = 11;

constexpr std::size_t kDeepest =
    100;  // of functions that call each other; exporters nest them as modules are
constexpr std::int64_t kMostCopied = std::int64_t{2} << 30;  // bytes, as many as a file may have

std::vector<std::string> unknown_texts(const google::protobuf::Message& message, int field) {
  std::vector<std::string> texts;
  const google::protobuf::UnknownFieldSet& fields = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& one = fields.field(i);
    if (one.number() == field && one.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      texts.push_back(one.length_delimited());
  }
  return texts;
}

std::string unknown_text(const google::protobuf::Message& message, int field) {
  const std::vector<std::string> texts = unknown_texts(message, field);
  return texts.empty() ? std::string() : texts.back();
}

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload

std::int64_t opset_of(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& imports) {
  for (const ::onnx::OperatorSetIdProto& one : imports)
    if (domain_of(one.domain()).empty()) return one.version();
  return 0;
}

using Attributes = std::map<std::string, ::onnx::AttributeProto>;

/// Returns the call's attributes, with the function's defaults for absent ones.
Attributes attributes_of(const ::onnx::NodeProto& call, const ::onnx::FunctionProto& function) {
  Attributes attributes;
  for (const std::string& bytes : unknown_texts(function, kFunctionAttributeDefault)) {
    ::onnx::AttributeProto given;
    if (given.ParseFromString(bytes)) attributes[given.name()] = given;
  }
  for (const ::onnx::AttributeProto& given : call.attribute()) attributes[given.name()] = given;
  return attributes;
}

/// Replaces references to the call's attributes by their values; references to absent ones are removed.
void give_attributes(::onnx::NodeProto& node, const Attributes& given) {
  google::protobuf::RepeatedPtrField<::onnx::AttributeProto> own;
  for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g())
      for (::onnx::NodeProto& inner : *attribute.mutable_g()->mutable_node()) give_attributes(inner, given);
    if (attribute.ref_attr_name().empty()) {
      *own.Add() = attribute;
    } else if (const auto found = given.find(attribute.ref_attr_name()); found != given.end()) {
      ::onnx::AttributeProto& value = *own.Add();
      value = found->second;
      value.set_name(attribute.name());
    }
  }
  node.mutable_attribute()->Swap(&own);
}

class Inliner {
 public:
  Inliner(const ::onnx::ModelProto& model, std::string place)
      : names_(model.graph()), place_(std::move(place)), opset_(opset_of(model.opset_import())) {
    for (const ::onnx::FunctionProto& function : model.functions())
      functions_[Key(domain_of(function.domain()), function.name(),
                     unknown_text(function, kFunctionOverload))] = &function;
  }

  [[nodiscard]] std::int64_t calls() const { return calls_; }

  /// Before anything is copied: n functions that call each other twice come to 2^n nodes.
  void check_size(const ::onnx::GraphProto& graph) {
    if (size_of(graph).nodes > kMostNodes) fail_size();
  }

  void inline_all(::onnx::GraphProto& graph) {
    ::onnx::GraphProto out;
    for (::onnx::NodeProto& node : *graph.mutable_node()) add(out, std::move(node));
    graph.mutable_node()->Swap(out.mutable_node());
  }

 private:
  /// What a graph, or the body of a function, comes to.
  struct Size {
    std::int64_t nodes = 0;  // at most one more than there may be
    std::size_t depth = 0;   // of functions that call each other
  };

  [[nodiscard]] const ::onnx::FunctionProto* function_of(const ::onnx::NodeProto& node) const {
    const auto found =
        functions_.find(Key(domain_of(node.domain()), node.op_type(), unknown_text(node, kNodeOverload)));
    return found == functions_.end() ? nullptr : found->second;
  }

  [[noreturn]] void fail_size() const {
    throw InputError(place_, fmt::format("its functions come to more than {} nodes", kMostNodes));
  }

  /// Of a graph or a function.
  template <class Nodes>
  Size size_of(const Nodes& graph) {
    Size all;
    const auto add = [&](const Size& one) {
      all.nodes = std::min<std::int64_t>(all.nodes + one.nodes, kMostNodes + 1);
      all.depth = std::max(all.depth, one.depth);
    };
    for (const ::onnx::NodeProto& node : graph.node()) {
      add({1, 0});
      if (const ::onnx::FunctionProto* function = function_of(node)) add(body_size(*function));
      for (const ::onnx::AttributeProto& attribute : node.attribute())
        if (attribute.has_g()) add(size_of(attribute.g()));
    }
    return all;
  }

  /// Each function once. O(nodes of the file).
  Size body_size(const ::onnx::FunctionProto& function) {
    if (std::ranges::find(active_, &function) != active_.end()) fail(function, "calls itself");
    const auto check_depth = [&](std::size_t depth) {
      if (active_.size() + depth > kDeepest)
        fail(function, fmt::format("is called by functions that are nested deeper than {}", kDeepest));
    };
    const auto known = sizes_.find(&function);
    if (known != sizes_.end()) {
      check_depth(known->second.depth);
      return known->second;
    }
    check_depth(1);
    active_.push_back(&function);
    Size size = size_of(function);
    active_.pop_back();
    ++size.depth;
    return sizes_[&function] = size;
  }

  void add(::onnx::GraphProto& out, ::onnx::NodeProto node) {
    if (++nodes_ > kMostNodes) fail_size();  // attributes of calls bring subgraphs along
    if (const ::onnx::FunctionProto* function = function_of(node)) return add_body(out, node, *function);
    for (::onnx::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) inline_all(*attribute.mutable_g());
    *out.add_node() = std::move(node);
  }

  void add_body(::onnx::GraphProto& out, const ::onnx::NodeProto& call,
                const ::onnx::FunctionProto& function) {
    check(call, function);
    ++calls_;
    active_.push_back(&function);
    const std::string scope = scope_of(call);
    Renaming renaming = parameters_of(call, function, scope);
    for (const ::onnx::NodeProto& node : function.node())
      for (const std::string& output : node.output())
        if (!output.empty() && !renaming.contains(output)) renaming[output] = names_.fresh(scope, output);
    const Attributes attributes = attributes_of(call, function);
    ::onnx::GraphProto copies;
    for (const ::onnx::NodeProto& node : function.node()) {
      ::onnx::NodeProto& copy = add_copy(copies, node, scope, renaming);
      give_attributes(copy, attributes);
      // A tensor that a call gives may be referred to by any number of nodes.
      bytes_ += static_cast<std::int64_t>(copy.ByteSizeLong());
      if (bytes_ > kMostCopied)
        throw InputError(place_, fmt::format("its functions come to more than {} MiB", kMostCopied >> 20));
    }
    for (::onnx::NodeProto& node : *copies.mutable_node()) add(out, std::move(node));
    active_.pop_back();
  }

  [[noreturn]] void fail(const ::onnx::FunctionProto& function, const std::string& rule) const {
    throw InputError(
        fmt::format("{}: function '{}.{}'", place_, clean(function.domain()), clean(function.name())), rule);
  }

  void check(const ::onnx::NodeProto& call, const ::onnx::FunctionProto& function) const {
    // Here too: the attributes of a call may bring along nodes that call others.
    if (std::ranges::find(active_, &function) != active_.end()) fail(function, "calls itself");
    if (active_.size() >= kDeepest)
      fail(function, fmt::format("is called by functions that are nested deeper than {}", kDeepest));
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
      fail(function,
           fmt::format("has {} inputs and {} outputs, but a node gives it {} and takes {}",
                       function.input_size(), function.output_size(), call.input_size(), call.output_size()));
    const std::int64_t opset = opset_of(function.opset_import());
    if (opset != 0 && opset != opset_)
      fail(function, fmt::format("is written in opset {}, and the model in {}; export with one of them",
                                 opset, opset_));
  }

  /// Maps a function's inputs and outputs to the names of the call's.
  Renaming parameters_of(const ::onnx::NodeProto& call, const ::onnx::FunctionProto& function,
                         const std::string& scope) {
    Renaming renaming;
    for (int i = 0; i < function.input_size(); ++i)
      renaming[function.input(i)] = i < call.input_size() ? call.input(i) : std::string();
    for (int i = 0; i < function.output_size(); ++i) {
      const bool wanted = i < call.output_size() && !call.output(i).empty();
      renaming[function.output(i)] = wanted ? call.output(i) : names_.fresh(scope, function.output(i));
    }
    return renaming;
  }

  std::map<Key, const ::onnx::FunctionProto*> functions_;
  std::map<const ::onnx::FunctionProto*, Size> sizes_;
  std::vector<const ::onnx::FunctionProto*> active_;  // the current chain of calls
  ValueNames names_;
  std::string place_;
  std::int64_t opset_ = 0;
  int nodes_ = 0;
  std::int64_t bytes_ = 0;  // copied
  std::int64_t calls_ = 0;
};

}  // namespace

std::int64_t inline_functions(::onnx::ModelProto& model, const std::string& place) {
  if (model.functions_size() == 0) return 0;
  Inliner inliner(model, place);
  inliner.check_size(model.graph());
  inliner.inline_all(*model.mutable_graph());
  std::vector<std::string> domains;
  for (const ::onnx::FunctionProto& function : model.functions())
    domains.push_back(domain_of(function.domain()));
  model.clear_functions();
  auto& imports = *model.mutable_opset_import();
  const auto kept = std::remove_if(imports.begin(), imports.end(), [&](const auto& one) {
    const std::string domain = domain_of(one.domain());
    return !domain.empty() && std::ranges::find(domains, domain) != domains.end();
  });
  imports.erase(kept, imports.end());
  return inliner.calls();
}

}  // namespace poet::onnx
