#include "poet/plan/file/sections.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/plan/decoder/poet_plan.h"
#include "poet/plan/file/bytes_out.h"

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

/// Takes nothing but the depth of nesting, which the parser follows by recursion.
class DepthCheck : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return false; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= kDeepest; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ <= kDeepest; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  static constexpr int kDeepest = 100;
  int depth_ = 0;
};

}  // namespace

std::uint32_t checksum(const Octets& bytes) { return poet_plan_crc32(bytes.data(), bytes.size()); }

Octets image_of(const std::vector<Section>& sections, std::uint32_t version) {
  BytesOut out;
  out.append({'P', 'O', 'E', 'T'});
  out.number(version, 2);
  out.number(sections.size(), 2);
  for (const Section& section : sections) {
    BytesOut covered;
    covered.number(section.tag, 4);
    covered.number(section.payload.size(), 4);
    covered.append(section.payload);
    covered.number(checksum(covered.bytes), 4);
    out.append(covered.bytes);
  }
  return out.bytes;
}

Octets section_of(const Octets& image, std::uint32_t tag, const char* name, const std::string& place) {
  const std::uint8_t* payload = nullptr;
  std::uint32_t length = 0;
  switch (const int code = poet_plan_section(image.data(), image.size(), tag, &payload, &length)) {
    case POET_PLAN_OK:
      return {payload, payload + length};
    case POET_PLAN_BAD_VERSION:
      throw InputError(place,
                       fmt::format("version {} of the plan format; this program reads up to version {}",
                                   version_of(image), POET_PLAN_FAMILY));
    case POET_PLAN_NO_SECTION:
      if (tag == POET_PLAN_GRAPH)
        throw InputError(
            place, "has no GRAPH section: it is for a device; the plan file that it was made with has one");
      throw InputError(place, fmt::format("has no {} section", name));
    case POET_PLAN_NOT_A_PLAN:
    case POET_PLAN_TRUNCATED:
      throw InputError(place, poet_plan_message(code));
    default:
      throw InputError(place, fmt::format("{}: {}", name, poet_plan_message(code)));
  }
}

bool has_section(const Octets& image, std::uint32_t tag) {
  const std::uint8_t* payload = nullptr;
  std::uint32_t length = 0;
  return poet_plan_section(image.data(), image.size(), tag, &payload, &length) != POET_PLAN_NO_SECTION;
}

std::uint32_t version_of(const Octets& image) {
  const bool is_plan = image.size() >= POET_PLAN_HEADER_BYTES && image[0] == 'P' && image[1] == 'O' &&
                       image[2] == 'E' && image[3] == 'T';
  return is_plan ? image[4] + 256U * image[5] : 0;
}

Octets to_cbor(const Json& json) {
  Octets bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

Json from_cbor(const Octets& bytes, const char* name, const std::string& place) {
  DepthCheck check;
  if (Json::sax_parse(bytes, &check, Json::input_format_t::cbor)) {
    try {
      return Json::from_cbor(bytes);
    } catch (const Json::exception&) {
    }
  }
  throw InputError(place, fmt::format("{}: is not CBOR", name));
}

}  // namespace poet
