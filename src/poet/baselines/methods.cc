#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "poet/base/error.h"
#include "poet/baselines/capuchin.h"
#include "poet/baselines/checkpoint_all.h"
#include "poet/baselines/dtr.h"
#include "poet/baselines/method.h"
#include "poet/baselines/poet_schedules.h"

namespace poet {
namespace {

constexpr bool kRecomputes = true;
constexpr bool kPages = true;

constexpr std::array kMethods = {
    Method{"checkpoint-all", "Checkpoint all", "the default of every framework", false, false,
           checkpoint_all},
    Method{"dtr", "DTR", "Kirisame et al. 2021, arXiv 2006.09616", kRecomputes, false, dtr},
    Method{"dtr-eq", "DTR, components", "Kirisame et al. 2021, arXiv 2006.09616, h_DTR^eq", kRecomputes,
           false, dtr_components},
    Method{"dtr-local", "DTR, local cost", "Kirisame et al. 2021, arXiv 2006.09616, h_DTR^local", kRecomputes,
           false, dtr_local},
    Method{"capuchin", "Capuchin", "Peng et al. 2020, ASPLOS, doi 10.1145/3373376.3378505", kRecomputes,
           kPages, capuchin},
    Method{"poet-no-paging", "POET, recomputation only", "Patil et al. 2022, arXiv 2207.07697, ablation",
           kRecomputes, false, poet_without_paging},
    Method{"poet-no-remat", "POET, paging only", "Patil et al. 2022, arXiv 2207.07697, ablation", false,
           kPages, poet_without_recomputation},
    Method{"poet", "POET", "Patil et al. 2022, arXiv 2207.07697", kRecomputes, kPages, poet_full},
};

}  // namespace

std::span<const Method> methods() { return kMethods; }

const Method& find_method(std::string_view name) {
  const auto found = std::find_if(kMethods.begin(), kMethods.end(),
                                  [&](const Method& method) { return method.name == name; });
  if (found != kMethods.end()) return *found;
  std::string known;
  for (const Method& method : kMethods) known += fmt::format("{}{}", known.empty() ? "" : ", ", method.name);
  throw InputError(fmt::format("unknown method \"{}\" (known: {})", name, known));
}

}  // namespace poet
