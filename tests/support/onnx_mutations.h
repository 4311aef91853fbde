#pragma once

// Damage to ONNX models that stays within the format: what a broken exporter, a careless script or an
// attacker would write.

#include <onnx/onnx_pb.h>

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace poet::test {

/// Quantities at which arithmetic goes wrong.
inline constexpr std::array<std::int64_t, 20> kExtremeIntegers = {
    0,
    1,
    -1,
    2,
    3,
    7,
    17,
    -2,
    256,
    65537,
    (std::int64_t{1} << 31) - 1,
    std::int64_t{1} << 31,
    -(std::int64_t{1} << 31),
    std::int64_t{1} << 32,
    std::int64_t{1} << 40,
    std::int64_t{1} << 61,
    std::int64_t{1} << 62,
    std::numeric_limits<std::int64_t>::max() - 1,
    std::numeric_limits<std::int64_t>::max(),
    std::numeric_limits<std::int64_t>::min(),
};
inline constexpr std::array<float, 10> kExtremeReals = {
    0.0F,
    -0.0F,
    1.0F,
    -1.0F,
    0.5F,
    1e-38F,
    3e38F,
    std::numeric_limits<float>::infinity(),
    -std::numeric_limits<float>::infinity(),
    std::numeric_limits<float>::quiet_NaN(),
};

/// One change: an attribute's value, type or presence; a node's inputs, outputs or operator; nodes,
/// initialisers and inputs dropped, repeated or swapped; dimensions, element types and contents; the opset;
/// or a node from `other`, wired into this graph. May do nothing where there is nothing of the sort. Says
/// what it did. `random` alone decides. O(size of the models).
std::string mutate(::onnx::ModelProto& model, const ::onnx::ModelProto& other, std::mt19937_64& random);

/// Some bytes changed, sometimes cut off.
void damage(std::string& bytes, std::mt19937_64& random);

}  // namespace poet::test
