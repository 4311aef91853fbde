#pragma once

// The orders in which ops are first computed.

#include <memory>

#include "poet/base/stop.h"
#include "poet/compile/variants/variant.h"

namespace poet {

/// The request's instance in its own order.
[[nodiscard]] std::shared_ptr<const Form> given_form(const CompileRequest& request);

/// In the order of least keep-all peak found (optimize/order/least_peak.h); null if that is the given one.
[[nodiscard]] std::shared_ptr<const Form> form_of_least_peak(const CompileRequest& request, const Stop& stop);

/// Returns whether the RAM floor or the time of computing everything once, the same in every order, exceeds a
/// limit.
[[nodiscard]] bool is_impossible_in_any_order(const CompileRequest& request, const Form& given);

}  // namespace poet
