#include "poet/frontend/onnx/lower/stored_uses.h"

#include <algorithm>
#include <map>
#include <set>

#include "poet/frontend/onnx/lower/views.h"

namespace poet::onnx {
namespace {

using Slots = std::map<std::string, std::set<std::size_t>>;  // inputs by operator

bool is_among(const Slots& slots, const Use& use) {
  if (!use.node->domain.empty()) return false;
  const auto found = slots.find(use.node->op_type);
  return found != slots.end() && found->second.contains(use.input);
}

}  // namespace

std::vector<Use> uses_through_views(const Uses& uses, const std::string& value) {
  std::vector<Use> found;
  std::vector<std::string> values = {value};
  std::set<std::string> seen = {value};
  while (!values.empty()) {
    const std::string at = values.back();
    values.pop_back();
    const Node* before = nullptr;
    for (const Node* node : readers(uses, at)) {
      if (node == before) continue;  // listed once per input
      before = node;
      for (std::size_t i = 0; i < node->inputs.size(); ++i) {
        if (node->inputs[i] != at) continue;
        if (!node->outputs.empty() && uses.parted.contains(node->outputs[0])) continue;
        if (i > 0 || !is_view(*node) || node->outputs.empty())
          found.push_back({node, i});
        else if (seen.insert(node->outputs.front()).second)
          values.push_back(node->outputs.front());
      }
    }
  }
  return found;
}

bool is_weight(const Use& use) {
  static const Slots slots = {
      {"BatchNormalization", {1, 2}},
      {"Conv", {1, 2}},
      {"ConvTranspose", {1, 2}},
      {"GRU", {1, 2, 3}},
      {"Gather", {0}},
      {"Gemm", {0, 1, 2}},
      {"GroupNormalization", {1, 2}},
      {"LSTM", {1, 2, 3}},
      {"InstanceNormalization", {1, 2}},
      {"LayerNormalization", {1, 2}},
      {"MatMul", {0, 1}},
      {"PRelu", {1}},
      {"RMSNormalization", {1}},
      {"RNN", {1, 2, 3}},
  };
  return is_among(slots, use);
}

bool is_only_weight(const Use& use) {
  static const Slots slots = {{"GRU", {1, 2, 3}}, {"LSTM", {1, 2, 3}}, {"PRelu", {1}}, {"RNN", {1, 2, 3}}};
  return is_among(slots, use);
}

bool is_bias(const Use& use) {
  static const Slots slots = {{"Conv", {2}}, {"ConvTranspose", {2}}, {"Gemm", {2}}};
  return is_among(slots, use);
}

bool is_filter(const Use& use) {
  static const Slots slots = {
      {"Conv", {1}}, {"ConvTranspose", {1}}, {"GRU", {1, 2}}, {"Gather", {0}},
      {"Gemm", {1}}, {"LSTM", {1, 2}},       {"MatMul", {1}}, {"RNN", {1, 2}},
  };
  return is_among(slots, use);
}

bool is_statistics(const Use& use) {
  static const Slots slots = {{"BatchNormalization", {3, 4}}};
  return is_among(slots, use);
}

bool is_setting(const Use& use) {
  static const Slots slots = {
      {"Clip", {1, 2}},
      {"Dropout", {1}},
      {"OneHot", {2}},
      {"Pad", {2}},
      {"Range", {0, 1, 2}},
      {"Resize", {1, 2}},
      {"Upsample", {1}},
      {"RotaryEmbedding", {1, 2}},
      {"NegativeLogLikelihoodLoss", {2}},
      {"SoftmaxCrossEntropyLoss", {2}},
  };
  return is_among(slots, use);
}

bool is_bound(const Use& use) {
  static const Slots slots = {{"Clip", {1, 2}}};
  return is_among(slots, use);
}

bool is_compared(const Use& use) {
  static const Slots slots = {{"Equal", {0, 1}}, {"Greater", {0, 1}},     {"GreaterOrEqual", {0, 1}},
                              {"Less", {0, 1}},  {"LessOrEqual", {0, 1}}, {"Sign", {0}}};
  return is_among(slots, use);
}

}  // namespace poet::onnx
