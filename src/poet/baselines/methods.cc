#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/baselines/capuchin.h"
#include "poet/baselines/checkmate.h"
#include "poet/baselines/checkpoint_all.h"
#include "poet/baselines/chen.h"
#include "poet/baselines/dtr.h"
#include "poet/baselines/method.h"
#include "poet/baselines/poet_schedules.h"
#include "poet/baselines/pofo.h"
#include "poet/baselines/revolve.h"
#include "poet/baselines/rotor.h"

namespace poet {
namespace {

constexpr bool kRecomputes = true;
constexpr bool kPages = true;
constexpr bool kPagesPersistent = true;

constexpr std::array kMethods = {
    Method{"checkpoint-all", "Checkpoint all", "the default of every framework", false, false,
           checkpoint_all},
    Method{"revolve", "Revolve", "Griewank and Walther 2000, ACM TOMS 26(1), Algorithm 799", kRecomputes,
           false, revolve},
    Method{"chen-sqrt", "Chen sqrt(n)", "Chen et al. 2016, arXiv 1604.06174, section 3", kRecomputes, false,
           chen_sqrt},
    Method{"chen-greedy", "Chen greedy", "Chen et al. 2016, arXiv 1604.06174, algorithm 3", kRecomputes,
           false, chen_greedy},
    Method{"checkmate", "Checkmate", "Jain et al. 2020, arXiv 1910.02653", kRecomputes, false, checkmate},
    Method{"checkmate-lp", "Checkmate, LP rounding", "Jain et al. 2020, arXiv 1910.02653, algorithm 2",
           kRecomputes, false, checkmate_lp},
    Method{"checkmate-random", "Checkmate, random rounding", "Jain et al. 2020, arXiv 1910.02653, section 5",
           kRecomputes, false, checkmate_random},
    Method{"dtr", "DTR", "Kirisame et al. 2021, arXiv 2006.09616", kRecomputes, false, dtr},
    Method{"dtr-eq", "DTR, components", "Kirisame et al. 2021, arXiv 2006.09616, h_DTR^eq", kRecomputes,
           false, dtr_components},
    Method{"dtr-local", "DTR, local cost", "Kirisame et al. 2021, arXiv 2006.09616, h_DTR^local", kRecomputes,
           false, dtr_local},
    Method{"capuchin", "Capuchin", "Peng et al. 2020, ASPLOS, doi 10.1145/3373376.3378505", kRecomputes,
           kPages, capuchin},
    Method{"rotor", "rotor", "Beaumont et al. 2019, arXiv 1911.13214", kRecomputes, false, rotor},
    Method{"pofo", "POFO", "Beaumont et al. 2021, NeurIPS", kRecomputes, kPages, pofo},
    Method{"pofo-blocking", "POFO, blocking transfers", "Beaumont et al. 2021, NeurIPS; no DMA", kRecomputes,
           kPages, pofo_blocking},
    Method{"poet-no-paging", "POET, recomputation only", "Patil et al. 2022, arXiv 2207.07697, ablation",
           kRecomputes, false, poet_without_paging},
    Method{"poet-no-remat", "POET, paging only", "Patil et al. 2022, arXiv 2207.07697, ablation", false,
           kPages, poet_without_recomputation},
    Method{"poet", "POET", "Patil et al. 2022, arXiv 2207.07697", kRecomputes, kPages, poet_full,
           kPagesPersistent},
};

}  // namespace

std::span<const Method> methods() { return kMethods; }

const Method& find_method(std::string_view name) {
  std::vector<std::string> known;
  for (const Method& method : kMethods) known.emplace_back(method.name);
  if (const std::optional<std::size_t> at = place_in(name, known)) return kMethods[*at];
  throw InputError(fmt::format("unknown method \"{}\"{} (known: {})", name, did_you_mean(name, known),
                               fmt::join(known, ", ")));
}

}  // namespace poet
