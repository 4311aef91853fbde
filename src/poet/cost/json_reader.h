#pragma once

// Reads JSON written by users: every diagnostic names the file, the place in it (a JSON pointer) and the
// rule.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poet/base/units.h"

namespace poet {

/// The largest byte count that a file may state: whole numbers up to here are exact in JSON and in a double.
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 53;

/// Returns the contents of a file. Throws InputError "FILE: cannot be read".
[[nodiscard]] std::string read_text_file(const std::filesystem::path& file);

/// Parses JSON. Throws InputError "PLACE: line L, column C: what is wrong" for malformed JSON, numbers
/// outside a double's range, nesting deeper than 100, and objects that name a member twice or have more than
/// 2048.
[[nodiscard]] nlohmann::ordered_json parse_json(const std::string& text, const std::string& place);

/// Returns JSON as text, on one line or indented, with invalid UTF-8 (in names from files) replaced. To be
/// used instead of the library's parse() and dump(), which every source that calls them compiles anew.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

/// Reads and parses a file, decompressing it if it is in gzip format.
[[nodiscard]] nlohmann::ordered_json read_json_file(const std::filesystem::path& file);

/// A value inside a JSON document, which must outlive it. Accessors throw InputError "FILE: /json/pointer:
/// rule" if the value is not of the requested kind.
class JsonField {
 public:
  JsonField(const nlohmann::ordered_json& json, std::string file) : json_(&json), file_(std::move(file)) {}

  /// Returns "FILE: /json/pointer", or "FILE" for the root.
  [[nodiscard]] std::string place() const;
  [[noreturn]] void fail(const std::string& rule) const;
  /// Calls fail() for the member `key`, whether it exists or not.
  [[noreturn]] void fail_at(std::string_view key, const std::string& rule) const;

  [[nodiscard]] bool has(std::string_view key) const;             // must be an object
  [[nodiscard]] JsonField at(std::string_view key) const;         // must be an object with that member
  [[nodiscard]] std::vector<JsonField> items() const;             // must be an array
  void only(std::initializer_list<std::string_view> keys) const;  // must be an object without other members

  [[nodiscard]] bool boolean() const;
  [[nodiscard]] const std::string& text() const;
  /// A string without control characters, which messages may quote on one line.
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] double number() const;        // finite
  [[nodiscard]] double non_negative() const;  // finite and >= 0
  [[nodiscard]] double positive() const;      // finite and > 0
  /// Returns one of `names`, compared without case.
  [[nodiscard]] std::string one_of(const std::vector<std::string>& names) const;
  /// A number written without point or exponent, in [least, most].
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;
  /// The member "format": the version of the format.
  [[nodiscard]] std::int64_t format(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] Bytes alignment() const;  // a power of two, 1 to 4096
  [[nodiscard]] std::vector<std::int64_t> integers(std::int64_t least, std::int64_t most) const;

  [[nodiscard]] const nlohmann::ordered_json& json() const { return *json_; }
  [[nodiscard]] const std::string& pointer() const { return pointer_; }

 private:
  JsonField(const nlohmann::ordered_json& json, std::string file, std::string pointer)
      : json_(&json), file_(std::move(file)), pointer_(std::move(pointer)) {}
  void require_object() const;

  const nlohmann::ordered_json* json_;
  std::string file_;
  std::string pointer_;
};

/// Returns `key` as one step of a JSON pointer (RFC 6901), with control characters escaped so that messages
/// stay one line.
[[nodiscard]] std::string pointer_step(std::string_view key);

}  // namespace poet
