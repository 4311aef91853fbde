#pragma once

// Plan files taken apart and put together again, with the right checksums.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "poet/plan/decoder/poet_plan.h"
#include "poet/plan/file/bytes_out.h"

namespace poet::test {

using Octets = std::vector<std::uint8_t>;

struct ImageSection {
  std::string tag;  // four letters
  Octets payload;
};

inline std::uint32_t number_at(const Octets& bytes, std::size_t at) {
  return static_cast<std::uint32_t>(bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16) |
         static_cast<std::uint32_t>(bytes[at + 3]) << 24;
}

/// Rewrites the checksum of every section that lies within the bytes.
inline void mend_checksums(Octets& image) {
  for (std::size_t at = 8; at + 12 <= image.size();) {
    const std::size_t length = number_at(image, at + 4);
    if (length > image.size() - at - 12) return;
    std::uint32_t sum = poet_plan_crc32(image.data() + at, length + 8);
    for (std::size_t i = 0; i < 4; ++i, sum >>= 8)
      image[at + 8 + length + i] = static_cast<std::uint8_t>(sum & 255);
    at += length + 12;
  }
}

/// Tells SCHEDULE, if it is the first section and of fewer than 128 ops and values, that it belongs to GRAPH.
inline void mend_graph(Octets& image) {
  const std::uint8_t* graph = nullptr;
  std::uint32_t length = 0;
  if (poet_plan_section(image.data(), image.size(), POET_PLAN_GRAPH, &graph, &length) != POET_PLAN_OK) return;
  std::uint32_t sum = poet_plan_crc32(graph, length);
  for (std::size_t i = 0; i < 4; ++i, sum >>= 8) image[8 + 8 + 3 + i] = static_cast<std::uint8_t>(sum & 255);
  mend_checksums(image);
}

inline Octets make_image(const std::vector<ImageSection>& sections) {
  BytesOut out;
  out.append({'P', 'O', 'E', 'T'});
  out.number(1, 2);
  out.number(sections.size(), 2);
  for (const ImageSection& section : sections) {
    out.append({section.tag.begin(), section.tag.end()});
    out.number(section.payload.size(), 4);
    out.append(section.payload);
    out.number(0, 4);
  }
  mend_checksums(out.bytes);
  return out.bytes;
}

/// The sections of a valid image.
inline std::vector<ImageSection> sections_of_image(const Octets& image) {
  std::vector<ImageSection> sections;
  for (std::size_t at = 8; at < image.size();) {
    const std::size_t length = number_at(image, at + 4);
    const auto begin = image.begin() + static_cast<std::ptrdiff_t>(at);
    const auto payload = begin + 8;
    sections.push_back({{begin, begin + 4}, {payload, payload + static_cast<std::ptrdiff_t>(length)}});
    at += length + 12;
  }
  return sections;
}

}  // namespace poet::test
