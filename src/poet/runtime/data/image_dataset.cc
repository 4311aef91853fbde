#include "poet/runtime/data/image_dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/runtime/data/integers.h"

namespace poet::runtime {
namespace {

Shape without_ones(const Shape& shape) {
  Shape out;
  for (const std::int64_t d : shape) {
    if (d != 1) out.push_back(d);
  }
  return out;
}

void check_fits(const ImageFormat& format, const std::vector<DataInput>& inputs) {
  const auto count = [&](InputRole role) {
    return std::count_if(inputs.begin(), inputs.end(), [&](const DataInput& i) { return i.role == role; });
  };
  if (inputs.size() != 2 || count(InputRole::features) != 1 || count(InputRole::class_targets) != 1) {
    throw InputError(format.name,
                     "feeds networks with one input of real numbers and one of classes as targets, which "
                     "this one is not");
  }
  for (const DataInput& input : inputs) {
    if (input.role == InputRole::class_targets) {
      if (element_count(input.sample) == 1) continue;
      throw InputError(format.name, fmt::format("has one label per image, but '{}' takes {}", input.name,
                                                element_count(input.sample)));
    }
    const Shape wanted = without_ones(input.sample);
    if (wanted == without_ones(format.image) || wanted == Shape{element_count(format.image)}) continue;
    throw InputError(format.name,
                     fmt::format("has images of {}, but '{}' takes {}; only equal sizes fit",
                                 fmt::join(format.image, "x"), input.name, fmt::join(input.sample, "x")));
  }
}

class ImageDataset : public Dataset {
 public:
  ImageDataset(ImageFormat format, std::vector<ImageFile> files, const std::vector<DataInput>& inputs)
      : format_(std::move(format)), files_(std::move(files)), inputs_(inputs) {
    for (const ImageFile& file : files_) samples_ += file.samples;
    for (const ChannelStatistics& channel : format_.channels) {
      std::array<float, 256>& as_float = normalised_.emplace_back();
      for (std::size_t pixel = 0; pixel < as_float.size(); ++pixel) {
        as_float[pixel] =
            static_cast<float>((static_cast<double>(pixel) / 255.0 - channel.mean) / channel.deviation);
      }
    }
  }

  [[nodiscard]] std::int64_t samples() const override { return samples_; }

  void read(std::size_t input, std::span<const std::int64_t> samples, std::byte* to) const override {
    const DataInput& into = inputs_.at(input);
    const auto size = static_cast<std::size_t>(byte_count(into.sample, into.dtype).value());
    for (const std::int64_t sample : samples) {
      if (into.role == InputRole::features) {
        read_image(sample, to);
      } else {
        read_label(into, sample, to);
      }
      to += size;
    }
  }

  [[nodiscard]] std::string description() const override {
    return fmt::format("{}, {} images of {}, {} classes", format_.name, format_count(samples_),
                       fmt::join(format_.image, "x"), format_.classes);
  }

 private:
  /// The file that a sample lies in, and its number there.
  [[nodiscard]] std::pair<const ImageFile*, std::int64_t> find(std::int64_t sample) const {
    ensure(sample >= 0 && sample < samples_, "a sample is one of the data set");
    const ImageFile* file = files_.data();
    for (; sample >= file->samples; ++file) sample -= file->samples;
    return {file, sample};
  }

  void read_image(std::int64_t sample, std::byte* to) const {
    const auto place = find(sample);
    const std::int64_t plane = format_.image[1] * format_.image[2];
    std::int64_t offset = format_.images.first + place.second * format_.images.stride;
    for (const std::array<float, 256>& as_float : normalised_) {
      read_plane(*place.first->images, offset, plane, as_float, to);
      offset += plane;
      to += plane * static_cast<std::int64_t>(sizeof(float));
    }
  }

  /// Through a buffer of fixed size, so that memory does not depend on the image's.
  static void read_plane(const DataFile& file, std::int64_t offset, std::int64_t pixels,
                         const std::array<float, 256>& as_float, std::byte* to) {
    std::array<std::byte, 4096> buffer;
    while (pixels > 0) {
      const std::int64_t count = std::min(pixels, static_cast<std::int64_t>(buffer.size()));
      const std::span<std::byte> part(buffer.data(), static_cast<std::size_t>(count));
      file.read(offset, part);
      for (const std::byte pixel : part) {
        std::memcpy(to, &as_float[std::to_integer<std::size_t>(pixel)], sizeof(float));
        to += sizeof(float);
      }
      offset += count;
      pixels -= count;
    }
  }

  void read_label(const DataInput& into, std::int64_t sample, std::byte* to) const {
    const auto place = find(sample);
    const DataFile& file = *place.first->labels;
    std::byte label{};
    file.read(format_.labels.first + place.second * format_.labels.stride, {&label, 1});
    const auto value = std::to_integer<std::int32_t>(label);
    if (value >= format_.classes) {
      file.fail(fmt::format("has the label {} at sample {}; labels of {} are below {}", value, place.second,
                            format_.name, format_.classes));
    }
    check_range(file, into, place.second, value);
    std::memcpy(to, &value, sizeof(value));
  }

  ImageFormat format_;
  std::vector<ImageFile> files_;
  std::vector<DataInput> inputs_;
  std::vector<std::array<float, 256>> normalised_;  // per channel, what a pixel becomes
  std::int64_t samples_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> image_dataset(ImageFormat format, std::vector<ImageFile> files,
                                       const std::vector<DataInput>& inputs) {
  check_fits(format, inputs);
  return std::make_unique<ImageDataset>(std::move(format), std::move(files), inputs);
}

}  // namespace poet::runtime
