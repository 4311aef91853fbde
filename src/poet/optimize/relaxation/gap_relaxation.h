#pragma once

// A Lagrangian bound on every plan without a constraint matrix: between two uses, a value takes RAM at every
// op or is restored at a minimum price (docs/bounds.md). Retention is an interval packing
// (gap_flow.h). Multipliers split the costs that several gaps share; any multipliers give a valid bound.

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "poet/optimize/problem/gaps.h"
#include "poet/optimize/problem/problem.h"
#include "poet/optimize/relaxation/gap_flow.h"

namespace poet {

class GapRelaxation {
 public:
  /// Both must outlive this. With Problem::residents the bound holds for every choice of them. O(gaps).
  GapRelaxation(const Problem& problem, const Gaps& gaps);

  /// Runs a network simplex with the current multipliers, then a subgradient step towards a bound of `target`
  /// joules. Returns the bound proven, which holds for every plan; nullopt when stopped.
  std::optional<double> improve(double target, const std::function<bool()>& stop = {});

  [[nodiscard]] double bound() const { return bound_; }  // the best so far
  /// Of the last packing: the price of a byte per op, and the fraction of each gap (of Gaps) that is kept.
  [[nodiscard]] const std::vector<double>& rent() const { return rent_; }
  [[nodiscard]] const std::vector<double>& kept() const { return kept_; }

 private:
  // A value from which the gap's own can be recomputed, and that nothing reads meanwhile.
  struct Link {
    int value;
    std::size_t id;  // of its gap that holds this one, in Gaps
    double recompute;
    double paging = 0;  // the part of its page-out's joules that a page-in for this gap pays
  };
  struct Modelled {
    std::size_t id;      // in Gaps
    std::int64_t bytes;  // least of the chain
    double recompute;
    double paging = 0;  // as above
    double fee = 0;     // for being recomputed from what another gap keeps
    /// Each is computed from the next; what the last one is computed from costs nothing.
    std::vector<Link> chain;
  };
  struct Way {
    double joules;
    int link;  // that is paged in, or one of the ways named in the source file
  };
  static constexpr int kLinks = 4;
  // Of what brings a value back during one of its gaps: paid by the gap, and by gaps of what is recomputed
  // through it, by their place in the chain.
  using Parts = std::array<double, kLinks + 1>;
  struct Claim {
    int gap;
    int link;
  };

  void link_operands();
  void add_chain(Modelled& modelled) const;
  [[nodiscard]] double page_in_price(int value) const;
  [[nodiscard]] double recompute_price(int value, int after) const;
  [[nodiscard]] double part(const Modelled& gap, int link) const;
  [[nodiscard]] double price(const Modelled& gap, int link, bool paged) const;
  [[nodiscard]] double least_price(const Modelled& gap) const;
  [[nodiscard]] Way way_back(const Modelled& gap) const;
  [[nodiscard]] double saved_by_residence(const std::vector<PackedInterval>& intervals,
                                          const std::vector<double>& prices) const;
  void step(const std::vector<Way>& ways, const GapPacking& packing, double missing);
  double& share(const Claim& claim);

  const Problem& p_;
  const Gaps& gaps_;
  std::vector<int> operand_;  // per value: what it is recomputed from, which serves no other so; -1: none
  std::vector<char> may_be_resident_;  // per value
  std::vector<int> index_;             // per gap of Gaps: in modelled_, or -1
  std::vector<Modelled> modelled_;
  std::vector<Parts> parts_;                             // per gap of Gaps
  std::vector<std::array<int, kLinks + 1>> takes_part_;  // how many gaps
  std::vector<std::vector<Claim>> claims_;               // per value: whose page-ins share its page-out
  std::vector<std::int64_t> capacity_;
  double most_;  // that any gap is worth
  double bound_;
  std::vector<double> rent_, kept_;
};

}  // namespace poet
