#pragma once

// Labelled images of bytes, in one file or several. Private to runtime/data.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "poet/runtime/data/data_file.h"
#include "poet/runtime/data/dataset.h"

namespace poet::runtime {

/// Where one kind of thing lies in a file: `first` + i * `stride` for the i-th.
struct Places {
  std::int64_t first = 0;
  std::int64_t stride = 0;
};

/// Samples that lie together, in one file or in two.
struct ImageFile {
  std::shared_ptr<const DataFile> images;
  std::shared_ptr<const DataFile> labels;
  std::int64_t samples = 0;
};

/// Mean and standard deviation of a channel's pixels, as fractions of 255.
struct ChannelStatistics {
  double mean;
  double deviation;
};

struct ImageFormat {
  std::string name;  // "CIFAR-10"
  Shape image;       // channels, height, width
  std::vector<ChannelStatistics> channels;
  std::int64_t classes = 10;
  Places images;
  Places labels;
};

/// Throws InputError when the graph does not have one input for such images and one for their labels: the
/// shape may lack axes of size 1 or be flat.
[[nodiscard]] std::unique_ptr<Dataset> image_dataset(ImageFormat format, std::vector<ImageFile> files,
                                                     const std::vector<DataInput>& inputs);

}  // namespace poet::runtime
