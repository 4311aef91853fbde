#pragma once

// The formats that open_dataset() tells apart, each with a test whether `path` is meant to be one and an
// opener, which throws InputError naming the file and the violated rule. Private to runtime/data.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "poet/runtime/data/dataset.h"

namespace poet::runtime {

using Inputs = std::vector<DataInput>;

[[nodiscard]] bool is_cifar(const std::filesystem::path& path);
[[nodiscard]] std::unique_ptr<Dataset> open_cifar(const std::filesystem::path& path, const Inputs& inputs);

[[nodiscard]] bool is_mnist(const std::filesystem::path& path);
[[nodiscard]] std::unique_ptr<Dataset> open_mnist(const std::filesystem::path& path, const Inputs& inputs);

[[nodiscard]] bool is_text(const std::filesystem::path& path);
[[nodiscard]] std::unique_ptr<Dataset> open_text(const std::filesystem::path& path, const Inputs& inputs);

/// The name of an input as that of a file: inputs of ONNX models are called "/embeddings/ids" or worse.
[[nodiscard]] std::string file_name(const DataInput& input);
/// A folder with a file for one of the inputs at least.
[[nodiscard]] bool is_raw(const std::filesystem::path& path, const Inputs& inputs);
[[nodiscard]] std::unique_ptr<Dataset> open_raw(const std::filesystem::path& path, const Inputs& inputs);

/// The regular files of a folder, by name; none when it is not a folder.
[[nodiscard]] std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

}  // namespace poet::runtime
