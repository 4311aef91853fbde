#pragma once

// poet's own plans have to be accepted by the verifier.

#include <string>
#include <string_view>

#include "poet/base/error.h"

namespace poet {

/// The verifier rejects a plan, schedule or addresses that poet has made: a mistake in poet.
class RejectedPlan : public InternalError {
  using InternalError::InternalError;
};

/// Throws RejectedPlan naming `what` ("the plan") and the report's violation unless the report (Report,
/// ArenaReport) is valid.
template <class AnyReport>
void ensure_accepted(const AnyReport& report, std::string_view what) {
  if (report.valid) return;
  throw RejectedPlan("violated: the verifier rejects " + std::string(what) + ": " + report.violation);
}

}  // namespace poet
