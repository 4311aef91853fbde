#include "poet/plan/layout/arena/pack_orders.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "poet/base/numbers.h"

namespace poet {
namespace {

int any_of(int count, std::mt19937& random) { return static_cast<int>(random() % at(count)); }

std::vector<int> sorted_by(const std::vector<double>& key) {
  std::vector<int> order(key.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key[at(a)] < key[at(b)]; });
  return order;
}

}  // namespace

std::vector<std::vector<int>> trait_orders(const std::vector<Buffer>& buffers, const Sections& sections) {
  enum Trait : std::size_t { load, area, lifetime, size };
  std::vector<std::array<double, 4>> traits(buffers.size());
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const auto first = sections.load.begin() + sections.spans[b].first;
    const auto last = sections.load.begin() + sections.spans[b].last;
    const auto life = static_cast<double>(buffers[b].upper) - static_cast<double>(buffers[b].lower);
    const auto bytes = static_cast<double>(buffers[b].size);
    traits[b] = {static_cast<double>(*std::max_element(first, last + 1)), life * bytes, life, bytes};
  }
  constexpr std::array<std::array<Trait, 3>, 6> kSequences{{{lifetime, size, load},
                                                            {area, load, lifetime},
                                                            {load, lifetime, area},
                                                            {load, area, lifetime},
                                                            {size, lifetime, load},
                                                            {load, size, lifetime}}};
  std::vector<std::vector<int>> orders;
  for (const auto& sequence : kSequences) {
    std::vector<int> order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      for (const Trait trait : sequence)
        if (traits[at(a)][trait] != traits[at(b)][trait]) return traits[at(a)][trait] > traits[at(b)][trait];
      return false;
    });
    std::stable_partition(order.begin(), order.end(), [&](int b) { return is_fixed(buffers[at(b)]); });
    orders.push_back(std::move(order));
  }
  return orders;
}

std::vector<int> outward_order(const std::vector<Buffer>& buffers, const Sections& sections,
                               std::mt19937& random) {
  const int count = static_cast<int>(sections.load.size());
  const int kind = any_of(4, random);
  int centre = kind == 0 ? 0 : count - 1;
  for (int i = 0; kind > 1 && i < 5; ++i) {
    const int other = any_of(count, random);
    if (i == 0 || sections.load[at(other)] > sections.load[at(centre)]) centre = other;
  }
  std::int64_t greatest = 1;
  for (const Buffer& buffer : buffers) greatest = std::max(greatest, buffer.size);
  const double noise = 0.02 * count * fraction(random);
  std::vector<double> key(buffers.size());
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const auto [first, last] = sections.spans[b];
    const double share = static_cast<double>(buffers[b].size) / static_cast<double>(greatest);
    const double shift = noise * fraction(random);
    key[b] = std::max({first - centre, centre - last, 0}) + shift - 0.6 * share * (0.5 + fraction(random));
  }
  return sorted_by(key);
}

}  // namespace poet
