#include "poet/base/error.h"

namespace poet {

InputError::InputError(const std::string& place, const std::string& rule)
    : std::runtime_error(place.empty() ? rule : place + ": " + rule), place_size_(place.size()) {}

InputError::InputError(const Field& field, const std::string& rule) : InputError(field.name, rule) {
  is_field_ = true;
}

InputError::InputError(const std::string& message) : std::runtime_error(message) {}

InternalError::InternalError(const std::string& message) : std::logic_error(message) {}

void ensure(bool condition, const char* promise) {
  if (!condition) throw InternalError(promise);
}

}  // namespace poet
