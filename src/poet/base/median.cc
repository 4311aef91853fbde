#include "poet/base/median.h"

#include <utility>

#include "poet/base/quantile.h"

namespace poet {

double median(std::vector<double> figures) { return quantile(std::move(figures), 0.5); }

}  // namespace poet
