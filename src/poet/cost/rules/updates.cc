// What changes persistent values.

#include "poet/cost/rules.h"

namespace poet::cost {

const std::vector<Rule>& update_rules() {
  static const std::vector<Rule> rules = {
      {"batch_norm_stats", per_input<10>},  // mean 3; variance from invstd 4, blend 3
      {"sgd_update", per_update<2>},
      {"momentum_update", per_update<4>},
      {"adam_update", per_update<11 + kSpecial>},  // m 3, v 4, then sqrt, + eps, division, scale, difference
  };
  return rules;
}

}  // namespace poet::cost
