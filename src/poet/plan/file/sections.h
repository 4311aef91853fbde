#pragma once

// What binary plan files are made of: sections with their checksums, and JSON as CBOR in some of them.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace poet {

using Octets = std::vector<std::uint8_t>;

struct Section {
  std::uint32_t tag;
  Octets payload;
};

/// "POET", the version, and the sections.
[[nodiscard]] Octets image_of(const std::vector<Section>& sections, std::uint32_t version);

/// The payload of the section of this tag, called `name` in messages. Throws InputError with `place`: no such
/// section, or a damaged one.
[[nodiscard]] Octets section_of(const Octets& image, std::uint32_t tag, const char* name,
                                const std::string& place);
/// Whether there is one, be it damaged.
[[nodiscard]] bool has_section(const Octets& image, std::uint32_t tag);
/// Of something that begins like a plan; 0 of anything else.
[[nodiscard]] std::uint32_t version_of(const Octets& image);

[[nodiscard]] std::uint32_t checksum(const Octets& bytes);

[[nodiscard]] Octets to_cbor(const nlohmann::ordered_json& json);
/// Throws InputError with `place` and `name`.
[[nodiscard]] nlohmann::ordered_json from_cbor(const Octets& bytes, const char* name,
                                               const std::string& place);

}  // namespace poet
