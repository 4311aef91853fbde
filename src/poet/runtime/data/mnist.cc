// MNIST's IDX files (LeCun, Cortes, Burges): a big-endian magic number and sizes, then bytes.

#include <fmt/format.h>

#include <array>
#include <string>

#include "poet/base/error.h"
#include "poet/runtime/data/formats.h"
#include "poet/runtime/data/image_dataset.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kImagesMagic = 0x803;  // unsigned bytes (8), 3 axes
constexpr std::int64_t kLabelsMagic = 0x801;
constexpr std::int64_t kMostPixels = 1 << 20;  // along either axis

/// "train-images-idx3-ubyte" and "train-images.idx3-ubyte" are both about.
std::vector<fs::path> named(const fs::path& folder, const char* part) {
  std::vector<fs::path> all;
  std::vector<fs::path> training;
  for (const fs::path& file : files_in(folder)) {
    const std::string name = file.filename().string();
    if (name.find(part) == std::string::npos || file.extension() == ".gz") continue;
    all.push_back(file);
    if (name.rfind("train", 0) == 0) training.push_back(file);
  }
  return training.empty() ? all : training;
}

fs::path only_one(const fs::path& folder, const char* part, const char* what) {
  const std::vector<fs::path> files = named(folder, part);
  if (files.size() == 1) return files.front();
  throw InputError(folder.string(), fmt::format("must have one {} file of MNIST (...{}-ubyte, unpacked) or "
                                                "one called train..., but has {}",
                                                what, part, files.size()));
}

/// The `count` big-endian numbers that a file begins with.
template <std::size_t kCount>
std::array<std::int64_t, kCount> header(const DataFile& file, std::int64_t magic) {
  std::array<std::byte, kCount * 4> bytes;
  if (file.size() < static_cast<std::int64_t>(bytes.size())) file.fail("is too short for a file of MNIST");
  file.read(0, bytes);
  std::array<std::int64_t, kCount> numbers{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    numbers[i / 4] = numbers[i / 4] << 8 | std::to_integer<std::int64_t>(bytes[i]);
  if (numbers[0] != magic)
    file.fail(fmt::format("must begin with the number {:#x}, not {:#x}", magic, numbers[0]));
  return numbers;
}

void check_size(const DataFile& file, std::int64_t head, std::int64_t samples, std::int64_t each) {
  // 32-bit numbers: the product of three may not fit, so it is divided instead.
  const std::int64_t rest = file.size() - head;
  if (samples > 0 && each > 0 && rest % each == 0 && rest / each == samples) return;
  file.fail(fmt::format("says that it has {} of {} bytes each after {} bytes, but has {} bytes", samples,
                        each, head, file.size()));
}

}  // namespace

bool is_mnist(const fs::path& path) { return !named(path, "idx3").empty() || !named(path, "idx1").empty(); }

std::unique_ptr<Dataset> open_mnist(const fs::path& path, const Inputs& inputs) {
  const auto images = std::make_shared<const DataFile>(only_one(path, "idx3", "images"));
  const auto labels = std::make_shared<const DataFile>(only_one(path, "idx1", "labels"));
  const auto [magic, samples, height, width] = header<4>(*images, kImagesMagic);
  if (height > kMostPixels || width > kMostPixels)
    images->fail(fmt::format("says that its images have {} x {} pixels", height, width));
  const std::int64_t labelled = header<2>(*labels, kLabelsMagic)[1];
  check_size(*images, 16, samples, height * width);
  check_size(*labels, 8, labelled, 1);
  if (labelled != samples)
    labels->fail(fmt::format("has {} labels for the {} images of {}", labelled, samples, images->name()));
  ImageFormat format;
  format.name = "MNIST";
  format.image = {1, height, width};
  format.channels = {{0.1307, 0.3081}};  // of the training images
  format.images = {16, height * width};
  format.labels = {8, 1};
  return image_dataset(std::move(format), {{images, labels, samples}}, inputs);
}

}  // namespace poet::runtime
