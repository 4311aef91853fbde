#include "poet/optimize/clauses/weighted_sums.h"

#include <algorithm>
#include <limits>

namespace poet {

int WeightedSums::add(std::vector<WeightedLiteral> terms, std::int64_t bound, Literal unless) {
  std::erase_if(terms, [](const WeightedLiteral& term) { return term.weight == 0; });
  std::ranges::stable_sort(terms, std::ranges::greater{}, &WeightedLiteral::weight);
  const int number = static_cast<int>(sums_.size());
  Sum sum{std::move(terms), bound, 0, unless};
  for (const auto& [weight, literal] : sum.terms) {
    uses_[literal.index()].push_back({number, weight});
    if (assigned_.is_true(literal) && at(assigned_.position_of(literal)) < assigned_.next_position())
      sum.counted += weight;
  }
  if (unless.exists()) uses_[(~unless).index()].push_back({number, 0});
  sums_.push_back(std::move(sum));
  return number;
}

Reason WeightedSums::count(Literal literal) {
  const auto& uses = uses_[literal.index()];
  for (const auto& [sum, weight] : uses) sums_[at(sum)].counted += weight;
  effort_ += static_cast<std::int64_t>(uses.size());
  Reason broken;
  for (const auto& [sum, weight] : uses)
    if (!propagate(sum)) broken.sum = sum;
  return broken;
}

void WeightedSums::uncount(Literal literal) {
  for (const auto& [sum, weight] : uses_[literal.index()]) sums_[at(sum)].counted -= weight;
}

bool WeightedSums::propagate(int number) {
  const Sum& sum = sums_[at(number)];
  if (sum.terms.empty() && sum.bound >= 0) return true;
  const bool binds = !sum.unless.exists() || assigned_.is_false(sum.unless);
  const std::int64_t left = sum.bound - sum.counted;
  if (left < 0) {
    if (binds) return false;
    if (assigned_.is_open(sum.unless)) assigned_.set(sum.unless, {-1, number});
    return true;
  }
  if (!binds) return true;
  for (const auto& [weight, literal] : sum.terms) {
    if (weight <= left) break;
    ++effort_;
    if (assigned_.is_open(literal)) assigned_.set(~literal, {-1, number});
  }
  return true;
}

void WeightedSums::explain(int number, Literal implied, Clause& why) {
  const Sum& sum = sums_[at(number)];
  std::int64_t missing = sum.bound + 1;  // weight of true literals that is needed
  int before = std::numeric_limits<int>::max();
  if (implied.exists()) before = assigned_.position_of(implied);
  const bool implies_term = implied.exists() && implied != sum.unless;
  if (implies_term)
    for (const auto& [weight, literal] : sum.terms)
      if (literal == ~implied) missing -= weight;
  if (sum.unless.exists() && (implies_term || !implied.exists())) why.push_back(sum.unless);
  effort_ += static_cast<std::int64_t>(sum.terms.size());
  const auto counts = [&](Literal literal) {
    return assigned_.is_true(literal) && assigned_.position_of(literal) < before;
  };
  // What holds without decisions needs no mention.
  for (const auto& [weight, literal] : sum.terms)
    if (counts(literal) && assigned_.level_of(literal) == 0) missing -= weight;
  const auto begin = static_cast<std::ptrdiff_t>(why.size());
  std::vector<std::int64_t> weights;
  for (const auto& [weight, literal] : sum.terms) {
    if (missing <= 0) break;
    if (!counts(literal) || assigned_.level_of(literal) == 0) continue;
    missing -= weight;
    weights.push_back(weight);
    why.push_back(~literal);
  }
  // What is too much goes again, the heaviest first.
  for (std::size_t i = 0; i < weights.size();) {
    if (weights[i] > -missing) {
      ++i;
      continue;
    }
    missing += weights[i];
    weights.erase(weights.begin() + static_cast<std::ptrdiff_t>(i));
    why.erase(why.begin() + begin + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace poet
