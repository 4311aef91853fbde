// CIFAR-10's binary version (Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009): rows
// of one label byte and 32x32 pixels of red, of green and of blue.

#include <fmt/format.h>

#include <string>

#include "poet/runtime/data/formats.h"
#include "poet/runtime/data/image_dataset.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPixels = std::int64_t{3} * 32 * 32;
constexpr std::int64_t kRow = 1 + kPixels;

/// Of the images to train on, which the original has five of; test_batch.bin is none.
bool is_batch(const fs::path& file) {
  return file.extension() == ".bin" && file.filename().string().rfind("data_batch_", 0) == 0;
}

std::vector<fs::path> batches(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> out;
  for (const fs::path& file : files_in(path)) {
    if (is_batch(file)) out.push_back(file);
  }
  return out;
}

}  // namespace

bool is_cifar(const fs::path& path) {
  if (fs::is_directory(path)) return !batches(path).empty();
  return fs::is_regular_file(path) && path.extension() == ".bin";
}

std::unique_ptr<Dataset> open_cifar(const fs::path& path, const Inputs& inputs) {
  std::vector<ImageFile> files;
  for (const fs::path& file : batches(path)) {
    const auto opened = std::make_shared<const DataFile>(file);
    if (opened->size() == 0 || opened->size() % kRow != 0) {
      opened->fail(fmt::format("must be rows of {} bytes (a label and 3x32x32 pixels), but has {} bytes",
                               kRow, opened->size()));
    }
    files.push_back({opened, opened, opened->size() / kRow});
  }
  ImageFormat format;
  format.name = "CIFAR-10";
  format.image = {3, 32, 32};
  format.channels = {{0.4914, 0.2470}, {0.4822, 0.2435}, {0.4465, 0.2616}};  // of the training images
  format.labels = {0, kRow};
  format.images = {1, kRow};
  return image_dataset(std::move(format), std::move(files), inputs);
}

}  // namespace poet::runtime
