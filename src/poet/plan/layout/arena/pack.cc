#include "poet/plan/layout/arena/pack.h"

#include <algorithm>
#include <numeric>

#include "poet/base/error.h"
#include "poet/plan/layout/arena/first_fit.h"
#include "poet/plan/layout/arena/pack_orders.h"
#include "poet/plan/layout/arena/pack_search.h"

namespace poet {
namespace {

// First-fits after which better orders have become rare.
constexpr int kRounds = 300;

// Of buffers that take room only.
class Packer {
 public:
  Packer(const std::vector<Buffer>& buffers, const PackOptions& options)
      : buffers_(buffers), options_(options), sections_(sections_of(buffers)), left_(options.effort) {
    best_.height = kAnywhere;
    best_.lower_bound = greatest_load(sections_);
    for (const Buffer& buffer : buffers)
      best_.lower_bound = std::max(best_.lower_bound, buffer.from + buffer.size);
  }

  Packing run() {
    fit_all();
    if (buffers_.size() <= kMostSearched) search();
    return std::move(best_);
  }

 private:
  [[nodiscard]] bool done() const {
    const bool good = best_.height <= std::max(options_.good_enough, best_.lower_bound);
    return good || best_.lower_bound > options_.capacity || left_ <= 0 || options_.stop();
  }

  void keep(std::vector<std::int64_t> offsets, std::int64_t height) {
    if (height >= best_.height) return;
    best_.offsets = std::move(offsets);
    best_.height = height;
  }

  FirstFit fit_in(const std::vector<int>& order) {
    FirstFit fit = first_fit(buffers_, sections_, order);
    if (best_order_.empty() || fit.height < best_.height) best_order_ = order;
    keep(fit.offsets, fit.height);
    const auto count = static_cast<std::int64_t>(buffers_.size());
    left_ -= count * count / 2;
    return fit;
  }

  void fit_all() {
    for (const std::vector<int>& order : orders_) {
      fit_in(order);
      if (done()) return;
    }
    improve_order(buffers_.size() <= kMostSearched ? left_ - left_ / 8 : 0);
  }

  // Squeaky wheel: whatever ends too high comes earlier next time, by up to a tenth of all. Until no more
  // than `reserve` of the effort is left.
  void improve_order(std::int64_t reserve) {
    std::vector<int> order = best_order_;
    std::vector<double> turn(order.size());
    const double step = 0.1 * static_cast<double>(order.size());
    for (int round = 0; round < kRounds && left_ > reserve && !done(); ++round) {
      const FirstFit fit = fit_in(order);
      for (std::size_t i = 0; i < order.size(); ++i) {
        const auto b = static_cast<std::size_t>(order[i]);
        turn[b] = static_cast<double>(i);
        if (is_fixed(buffers_[b]))
          turn[b] -= static_cast<double>(order.size());  // stays in front
        else if (fit.offsets[b] + buffers_[b].size > std::min(best_.lower_bound, buffers_[b].to))
          turn[b] -= step * fraction(random_);
      }
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return turn[static_cast<std::size_t>(a)] < turn[static_cast<std::size_t>(b)];
      });
    }
  }

  // Two thirds of the effort for the lower bound itself, of the rest for halfway between it and the best...
  void search() {
    std::int64_t low = best_.lower_bound;  // nothing lower was found
    std::int64_t target = low;
    while (!done() && low < best_.height) {
      target = std::min(std::max(target, options_.good_enough), best_.height - 1);
      if (!try_height(target, left_ / 3 * 2 + 1)) low = target + 1;
      target = low + (best_.height - low) / 2;
    }
  }

  // Short tries from ever new orders, some of which happen to fit: a packing takes as many nodes as there are
  // buffers, if nothing is taken back. And, for a third of the effort, rounds of longer and longer ones from
  // the orders by traits and a new one, so that the search is complete in the end.
  bool try_height(std::int64_t height, std::int64_t effort) {
    const std::int64_t brief =
        std::max<std::int64_t>(3 * static_cast<std::int64_t>(buffers_.size()) / 2, 100);
    std::int64_t lengthy = 2 * brief;
    std::size_t turn = 0;  // in a round
    std::int64_t spent_briefly = 0, spent_long = 0;
    while (spent_briefly + spent_long < effort && !done()) {
      const bool long_one = 2 * spent_long <= spent_briefly;
      const PackLimits limits{height, long_one ? lengthy : brief, effort - spent_briefly - spent_long};
      const bool by_traits = long_one && turn < orders_.size();
      const PackAnswer answer = search_packing(
          buffers_, sections_, by_traits ? orders_[turn] : outward_order(buffers_, sections_, random_),
          limits, options_.stop);
      (long_one ? spent_long : spent_briefly) += answer.effort;
      if (long_one && ++turn > orders_.size()) {
        turn = 0;
        lengthy *= 4;
      }
      left_ -= answer.effort;
      best_.nodes += answer.nodes;
      if (answer.status == PackStatus::found) {
        std::int64_t reached = 0;
        for (std::size_t b = 0; b < buffers_.size(); ++b)
          reached = std::max(reached, answer.offsets[b] + buffers_[b].size);
        keep(answer.offsets, reached);
        return true;
      }
      if (answer.status == PackStatus::impossible) {
        best_.lower_bound = std::max(best_.lower_bound, height + 1);
        return false;
      }
    }
    return false;
  }

  const std::vector<Buffer>& buffers_;
  const PackOptions& options_;
  const Sections sections_;
  const std::vector<std::vector<int>> orders_ = trait_orders(buffers_, sections_);
  std::int64_t left_;  // of the effort
  std::mt19937 random_{1};
  std::vector<int> best_order_;  // for first-fit
  Packing best_;
};

bool fixed_overlap(const std::vector<Buffer>& buffers) {
  std::vector<Buffer> fixed;
  std::vector<std::int64_t> at;
  for (const Buffer& buffer : buffers) {
    if (!is_fixed(buffer)) continue;
    fixed.push_back(buffer);
    at.push_back(buffer.from);
  }
  return !is_packing(fixed, at);
}

}  // namespace

Packing pack(const std::vector<Buffer>& buffers, const PackOptions& options) {
  ensure_valid(buffers);
  std::vector<Buffer> solid;
  std::vector<std::size_t> index;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].size == 0) continue;
    solid.push_back(buffers[b]);
    if (is_fixed(buffers[b])) solid.back().alignment = 1;
    index.push_back(b);
  }
  Packing packing;
  if (fixed_overlap(solid)) {
    packing.height = packing.lower_bound = kAnywhere;
    return packing;
  }
  if (!solid.empty()) packing = Packer(solid, options).run();
  if (solid.size() > packing.offsets.size()) return packing;
  std::vector<std::int64_t> offsets;
  for (const Buffer& buffer : buffers) offsets.push_back(aligned(buffer.from, buffer.alignment));
  for (std::size_t i = 0; i < index.size(); ++i) offsets[index[i]] = packing.offsets[i];
  packing.offsets = std::move(offsets);
  return packing;
}

}  // namespace poet
