#pragma once

// An ONNX file as protobuf has it. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

/// The bytes of a file of at most 2 GiB, which is all that a message may have. Throws InputError naming it.
[[nodiscard]] std::string read_bytes(const std::filesystem::path& file);

/// A model with a graph and nodes, its own functions inlined; nothing else is checked. Throws InputError that
/// begins with `place`.
[[nodiscard]] ::onnx::ModelProto parse_proto(std::string_view bytes, const std::string& place,
                                             ListedNodes* listed = nullptr);

/// parse_proto() of a file, with these If and Loop nodes resolved, one after the other.
[[nodiscard]] ::onnx::ModelProto read_proto(const std::filesystem::path& file,
                                            const std::vector<ResolvedControl>& resolved = {},
                                            ListedNodes* listed = nullptr);

}  // namespace poet::onnx
