#include "poet/cost/json_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#ifdef POET_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/cost/cost_table.h"

namespace poet {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kShown = 20;          // characters of what the parser stumbled over
constexpr int kDeepest = 100;               // far beyond any format here; printing a document recurses
constexpr std::size_t kMostMembers = 2048;  // of an object, likewise; building one takes their number squared

std::string one_line(std::string_view text) {
  std::string visible;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      visible += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
    } else {
      visible += c;
    }
  }
  return visible;
}

/// "line 3, column 7" of a 1-based byte position.
std::string line_and_column(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, std::min(position == 0 ? 0 : position - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return fmt::format("line {}, column {}", line, column);
}

/// Looks at the whole text without building anything, and remembers what is wrong with it and where.
/// (nlohmann's own message has a byte offset for syntax errors only, and none for numbers out of range.)
class Inspector : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t value, const string_t&) override { return std::isfinite(value); }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second) {
      rule_ = fmt::format("\"{}\" is there twice in one object", tail(name));
      return false;
    }
    if (names_.back().size() <= kMostMembers) return true;
    rule_ = fmt::format("an object of more than {} members", kMostMembers);
    return false;
  }
  bool start_object(std::size_t) override {
    names_.emplace_back();
    return deeper();
  }
  bool end_object() override {
    names_.pop_back();
    return shallower();
  }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override { return shallower(); }
  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::json::exception& error) override {
    position_ = position;
    // Not nlohmann's prose: it repeats the position and quotes the input unescaped.
    rule_ = error.id == 406 ? "a number beyond the range of a double: " + one_line(last_token)
                            : "not JSON" + (last_token.empty() ? "" : " (at \"" + tail(last_token) + "\")");
    return false;
  }

  [[nodiscard]] std::string diagnostic(std::string_view text) const {
    return position_ == 0 ? rule_ : line_and_column(text, position_) + ": " + rule_;
  }

 private:
  bool deeper() {
    if (++depth_ <= kDeepest) return true;
    rule_ = fmt::format("nested deeper than {} levels", kDeepest);
    return false;
  }
  bool shallower() {
    --depth_;
    return true;
  }
  static std::string tail(const std::string& token) {
    std::string shown = token.size() <= kShown ? token : token.substr(token.size() - kShown);
    // The token may be why the text is not UTF-8, or be cut inside a character: show ASCII only.
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x7f; }, '?');
    return one_line(shown);
  }

  int depth_ = 0;
  std::vector<std::unordered_set<std::string>> names_;  // of the objects around, the innermost last
  std::size_t position_ = 0;
  std::string rule_ = "not JSON";
};

#ifdef POET_ZLIB

// A thousand times the file's size is possible. An instance of half a million nodes has less than this.
constexpr std::size_t kMostUnpacked = std::size_t{256} << 20;

// zlib reads what is not compressed as it is.
std::string decompressed(const std::filesystem::path& file) {
  const gzFile in = gzopen(file.c_str(), "rb");
  std::string text;
  std::string part(1 << 16, '\0');
  int read = in == nullptr ? -1 : 0;
  while (in != nullptr && text.size() <= kMostUnpacked &&
         (read = gzread(in, part.data(), static_cast<unsigned>(part.size()))) > 0)
    text.append(part, 0, static_cast<std::size_t>(read));
  const bool complete = in != nullptr && gzclose(in) == Z_OK;
  if (text.size() > kMostUnpacked)
    throw InputError(
        file.string(),
        fmt::format("unpacks to more than {} MiB, the most that a compressed file may", kMostUnpacked >> 20));
  if (read < 0 || !complete) throw InputError(file.string(), "cannot be decompressed");
  return text;
}

#else

std::string decompressed(const std::filesystem::path& file) {
  throw InputError(file.string(), "is compressed, which this program cannot read: it was built without zlib");
}

#endif

}  // namespace

std::string pointer_step(std::string_view key) {
  std::string step;
  for (const char c : one_line(key)) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

std::string read_text_file(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    throw InputError(file.string(), "cannot be read: it is a folder");
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw InputError(file.string(),
                     std::filesystem::exists(file, ignored) ? "cannot be read" : "no such file");
  }
  std::ostringstream text;
  text << in.rdbuf();
  // A read that fails leaves its mark on the stream that is written to.
  if (in.bad() || text.bad()) throw InputError(file.string(), "cannot be read");
  return text.str();
}

Json parse_json(const std::string& text, const std::string& place) {
  Inspector inspector;
  if (!Json::sax_parse(text, &inspector)) throw InputError(place, inspector.diagnostic(text));
  return Json::parse(text);
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json read_json_file(const std::filesystem::path& file) {
  std::string text = read_text_file(file);
  if (text.starts_with("\x1f\x8b")) text = decompressed(file);
  return parse_json(text, file.string());
}

std::string JsonField::place() const { return pointer_.empty() ? file_ : file_ + ": " + pointer_; }

void JsonField::fail(const std::string& rule) const { throw InputError(place(), rule); }

void JsonField::fail_at(std::string_view key, const std::string& rule) const {
  throw InputError(file_ + ": " + pointer_ + "/" + pointer_step(key), rule);
}

void JsonField::require_object() const {
  if (!json_->is_object()) fail("must be an object");
}

bool JsonField::has(std::string_view key) const {
  require_object();
  return json_->find(std::string(key)) != json_->end();
}

JsonField JsonField::at(std::string_view key) const {
  require_object();
  const auto member = json_->find(std::string(key));
  if (member == json_->end()) fail_at(key, "must be present");
  return {*member, file_, pointer_ + "/" + pointer_step(key)};
}

std::vector<JsonField> JsonField::items() const {
  if (!json_->is_array()) fail("must be an array");
  std::vector<JsonField> fields;
  fields.reserve(json_->size());
  for (const Json& item : *json_) {
    fields.push_back(JsonField(item, file_, pointer_ + "/" + std::to_string(fields.size())));
  }
  return fields;
}

void JsonField::only(std::initializer_list<std::string_view> keys) const {
  require_object();
  for (const auto& member : json_->items()) {
    if (std::find(keys.begin(), keys.end(), member.key()) == keys.end()) {
      const std::vector<std::string> known(keys.begin(), keys.end());
      const std::string meant = did_you_mean(member.key(), known);
      fail_at(member.key(), fmt::format("is not a field here{} known: {}", meant.empty() ? ";" : meant,
                                        fmt::join(known, ", ")));
    }
  }
}

bool JsonField::boolean() const {
  if (!json_->is_boolean()) fail("must be true or false");
  return json_->get<bool>();
}

const std::string& JsonField::text() const {
  if (!json_->is_string()) fail("must be a string");
  return json_->get_ref<const std::string&>();
}

const std::string& JsonField::name() const {
  if (one_line(text()) != text()) fail("must not contain control characters");
  return text();
}

std::string JsonField::one_of(const std::vector<std::string>& names) const {
  const std::optional<std::size_t> at = place_in(name(), names);
  if (!at) fail(not_one_of(name(), names));
  return names[*at];
}

double JsonField::number() const {
  if (!json_->is_number()) fail("must be a number");
  const double value = json_->get<double>();
  if (!std::isfinite(value)) fail("must be a finite number");
  return value;
}

double JsonField::non_negative() const {
  const double value = number();
  if (value < 0) fail("must be >= 0");
  return value;
}

double JsonField::positive() const {
  const double value = number();
  if (value <= 0) fail("must be > 0");
  return value;
}

std::int64_t JsonField::integer(std::int64_t least, std::int64_t most) const {
  if (!json_->is_number_integer()) fail("must be an integer, written without point or exponent");
  // Above INT64_MAX nlohmann keeps an unsigned number, which get<int64_t> would wrap.
  const bool too_large =
      json_->is_number_unsigned() &&
      json_->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  const std::int64_t value =
      too_large ? std::numeric_limits<std::int64_t>::max() : json_->get<std::int64_t>();
  if (value < least) fail(fmt::format("must be >= {}", least));
  if (too_large || value > most) fail(fmt::format("must be <= {}", most));
  return value;
}

std::int64_t JsonField::format(std::int64_t least, std::int64_t most) const {
  if (!has("format")) fail_at("format", fmt::format("must be present, as in \"format\": {}", most));
  if (least != most) return at("format").integer(least, most);
  using Any = std::numeric_limits<std::int64_t>;
  if (at("format").integer(Any::min(), Any::max()) != least)
    fail_at("format", fmt::format("must be {}", least));
  return least;
}

Bytes JsonField::alignment() const {
  const std::int64_t bytes = integer(1, kMostAlignment.value());
  if ((bytes & (bytes - 1)) != 0) fail("must be a power of two");
  return Bytes(bytes);
}

std::vector<std::int64_t> JsonField::integers(std::int64_t least, std::int64_t most) const {
  std::vector<std::int64_t> values;
  for (const JsonField& item : items()) values.push_back(item.integer(least, most));
  return values;
}

}  // namespace poet
