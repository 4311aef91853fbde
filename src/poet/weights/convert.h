#pragma once

// Weights out of an ONNX file as safetensors, and back into one, without training.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/units.h"

namespace poet {

struct WeightConversion {
  std::string from;  // .onnx, or safetensors under any other name
  std::string out;   // .safetensors of an ONNX file, .onnx of safetensors
  /// The network of safetensors, one of the two: an ONNX file, all of which but its weights stays as it is,
  /// or a built-in network.
  std::optional<std::string> onnx{};
  std::optional<std::string> model{};
};

struct ConvertedWeights {
  std::int64_t tensors = 0;
  Bytes bytes{};
  std::vector<std::string> notices{};  // one line each
};

/// Reads everything before `out` is replaced, as a whole or not at all. Throws InputError naming a field or
/// the file: safetensors without a parameter of the network are refused.
[[nodiscard]] ConvertedWeights convert_weights(const WeightConversion& conversion);

}  // namespace poet
