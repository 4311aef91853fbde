#pragma once

// The fields of a request, as one table: what is read, what the program's option is, and what the API's
// description says.

#include <string>
#include <vector>

namespace poet::server {

enum class FieldKind {
  model,     // a built-in network's name
  upload,    // the id of an uploaded file
  device,    // a shipped profile's name, or a profile
  choice,    // one of `choices`
  patterns,  // names with wildcards, separated by commas
  names,     // a list of such without wildcards
  bytes,     // a whole number, or text as "300KiB"
  split,     // the same, or "auto" or "off"
  seconds,   // a number, or text as "50ms"
  fraction,  // from 0 to 1, or text as "5%"
  factor,    // > 0
  count,     // a whole number >= 1
  flag,      // true or false; the option is given where it is true
  allowed,   // true or false; the option is given where it is false
  request,   // true or false, for the server itself
  shapes,    // {"input": [1, 3, 224, 224]}
};

struct Field {
  const char* name;
  FieldKind kind;
  const char* option;       // of the program
  const char* kinds;        // of jobs that have it: "solve explain"
  const char* description;  // with the unit
  std::vector<std::string> choices = {};
};

/// All, in the order in which they are described.
[[nodiscard]] const std::vector<Field>& fields();

/// Whether jobs of that kind have the field.
[[nodiscard]] bool belongs_to(const Field& field, const std::string& kind);

}  // namespace poet::server
