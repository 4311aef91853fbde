#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/base/folder.h"
#include "poet/runtime/data/formats.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Dataset> open(const fs::path& path, const Inputs& inputs, const Field& field) {
  if (!fs::exists(path)) throw InputError(field, fmt::format("\"{}\" does not exist", path.string()));
  if (is_raw(path, inputs)) return open_raw(path, inputs);  // first: its files are named by the graph
  if (is_cifar(path)) return open_cifar(path, inputs);
  if (is_mnist(path)) return open_mnist(path, inputs);
  if (is_text(path)) return open_text(path, inputs);
  const std::string example = inputs.empty() ? "input" : file_name(inputs.front());
  throw InputError(
      field, fmt::format("\"{}\" is no data set: it must be a folder with data_batch_*.bin (CIFAR-10), with "
                         "...idx3-ubyte and ...idx1-ubyte (MNIST) or with a file per input ({}.bin...), or a "
                         "file .bin (CIFAR-10), .u16 or .i32 (a text)",
                         path.string(), example));
}

/// Reads every target and id once, which the data set checks, instead of failing after hours.
void check_targets_and_ids(const Dataset& data, const Inputs& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype != DType::int32 && inputs[i].role != InputRole::number_targets) continue;
    std::vector<std::byte> sample(
        static_cast<std::size_t>(byte_count(inputs[i].sample, inputs[i].dtype).value()));
    for (std::int64_t s = 0; s < data.samples(); ++s) data.read(i, {&s, 1}, sample.data());
  }
}

}  // namespace

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  std::error_code error;
  for (fs::path& entry : entries_of(folder, error))
    if (fs::is_regular_file(entry)) files.push_back(std::move(entry));
  if (error) throw fs::filesystem_error("cannot be read", folder, error);
  return files;
}

std::unique_ptr<Dataset> open_dataset(const fs::path& path, const Graph& graph, const Field& field) {
  try {
    const Inputs inputs = data_inputs(graph);
    std::unique_ptr<Dataset> data = open(path, inputs, field);
    check_targets_and_ids(*data, inputs);
    return data;
  } catch (const fs::filesystem_error& error) {
    throw InputError(path.string(), "cannot be read: " + error.code().message());
  }
}

}  // namespace poet::runtime
