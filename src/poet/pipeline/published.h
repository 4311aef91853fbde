#pragma once

// The published instances that come with poet: data/published/MODEL.PLATFORM.json.

#include <string>
#include <vector>

#include "poet/cost/instance.h"

namespace poet {

struct PublishedName {
  std::string model;
  std::string platform;
};

/// Sorted by model, then platform.
[[nodiscard]] std::vector<PublishedName> published_instances();

/// Throws InputError, listing the known ones, if there is no such instance.
[[nodiscard]] Instance read_published_instance(const PublishedName& name);

}  // namespace poet
