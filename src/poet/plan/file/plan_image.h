#pragma once

// A plan's steps and addresses as sections, for files of one plan and of several.

#include <cstdint>
#include <optional>
#include <string>

#include "poet/plan/file/plan_file.h"
#include "poet/plan/file/sections.h"

namespace poet {

/// An image of SCHEDULE and ADDRESSES, then `more`; the former belongs to the GRAPH of this checksum. Throws
/// InternalError for a plan that would not come back as it is.
[[nodiscard]] Octets plan_image(const PlanFile& file, std::uint32_t graph_checksum,
                                const std::vector<Section>& more);

/// What its section MADE says; nothing where there is none. Throws InputError.
[[nodiscard]] std::optional<Made> made_of_image(const Octets& image, const std::string& place);

/// Steps and addresses of such an image, of a plan for `file`'s instance and semantics. Throws InputError.
void read_plan_image(const Octets& image, std::uint32_t graph_checksum, const std::string& place,
                     PlanFile& file);

}  // namespace poet
