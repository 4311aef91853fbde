#pragma once

// The table of request fields: types, options of the program, and descriptions for the API.

#include <string>
#include <string_view>
#include <vector>

namespace poet::server {

enum class FieldKind {
  model,     // a built-in network's name
  upload,    // the id of an uploaded file
  device,    // a shipped profile's name, or a profile
  choice,    // one of `choices`
  patterns,  // names with wildcards, separated by commas
  names,     // a list of names without wildcards
  bytes,     // a whole number, or text as "300KiB"
  split,     // as bytes, or "auto" or "off"
  seconds,   // a number, or text as "50ms"
  fraction,  // from 0 to 1, or text as "5%"
  factor,    // > 0
  count,     // a whole number >= 1
  flag,      // a boolean; true adds the option
  allowed,   // a boolean; false adds the option
  request,   // a boolean for the server itself
  shapes,    // {"input": [1, 3, 224, 224]}
  values,    // {"input": 16000}
};

struct Field {
  const char* name;
  FieldKind kind;
  const char* option;       // of the program
  const char* kinds;        // kinds of jobs that have it: "solve explain"
  const char* description;  // with the unit
  std::vector<std::string> choices = {};
};

/// Returns all fields, in the order of the API's description.
[[nodiscard]] const std::vector<Field>& fields();

/// Returns the field of an option of the program, else nullptr.
[[nodiscard]] const Field* field_of_option(std::string_view option);

/// Returns a message of the program with fields in place of their options: "paging: false" for "--no-paging".
[[nodiscard]] std::string in_fields(const std::string& message);

/// Returns whether jobs of that kind have the field.
[[nodiscard]] bool belongs_to(const Field& field, const std::string& kind);

}  // namespace poet::server
