#include "poet/optimize/heuristic/streaming_pass.h"

#include <algorithm>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/streaming_prices.h"

namespace poet {
namespace {

constexpr int kWorkspace = -1;  // used in place of a value's id

std::int64_t largest_value(const Problem& p) {
  std::int64_t largest = 0;
  for (int v = 0; v < p.values; ++v)
    if (p.active[at(v)]) largest = std::max(largest, p.bytes[at(v)]);
  return largest;
}

/// Inserts each page-out directly after the step that completes its value.
void place_page_outs(std::vector<StreamedPageOut> page_outs, std::vector<Step>& steps) {
  std::sort(page_outs.begin(), page_outs.end());
  std::vector<Step> all;
  all.reserve(steps.size() + page_outs.size());
  auto next = page_outs.begin();
  for (std::size_t i = 0; i <= steps.size(); ++i) {
    for (; next != page_outs.end() && next->after == i; ++next)
      all.push_back({StepKind::page_out, OpId(), ValueId(next->value)});
    if (i < steps.size()) all.push_back(steps[i]);
  }
  steps = std::move(all);
}

}  // namespace

StreamingPass::StreamingPass(const Problem& p, const Gaps& gaps, const StreamingGuide& guide,
                             std::vector<double> recomputation)
    : p_(p),
      gaps_(gaps),
      guide_(guide),
      recomputation_(std::move(recomputation)),
      ram_(p),
      values_(at(p.values)),
      known_(p.values) {
  if (guide.alignment > 0) {
    const std::int64_t largest = largest_value(p);
    const std::int64_t slot = (largest + guide.alignment - 1) / guide.alignment * guide.alignment;
    arena_.emplace(p.budget, guide.alignment, largest / 2, guide.in_slots ? slot : guide.alignment);
  }
  rent_.push_back(0);
  for (const double rent : guide.rent) rent_.push_back(rent_.back() + rent);
  made_.in_ram.resize(at(p.values));
}

std::optional<Stream> StreamingPass::run(const std::function<bool()>& stop) {
  constexpr int kPoll = 256;
  for (t_ = 0; t_ < p_.ops; ++t_) {
    if (t_ % kPoll == 0 && stop()) return std::nullopt;
    if (!step() && !step_from_empty()) return std::nullopt;
  }
  place_page_outs(std::move(page_outs_), made_.plan.steps);
  return std::move(made_);
}

bool StreamingPass::step() {
  const auto& operands = p_.reads[at(t_)];
  for (const int u : operands) ram_.pin(u);
  bool done = true;
  for (const int u : operands) done = done && bring(u, 0);
  done = done && compute(t_, dying());
  for (const int u : operands) ram_.unpin(u);
  for (const int u : operands) values_[at(u)].uses += done ? 1 : 0;
  return done;
}

// Retries with nothing in RAM, in case free RAM was only fragmented.
bool StreamingPass::step_from_empty() {
  if (!arena_) return false;
  while (!ram_.values().empty())
    if (!evict(ram_.values().back())) return false;
  return step();
}

void StreamingPass::enter(int v) {
  ram_.add(v);
  values_[at(v)].complete_at = made_.plan.steps.size();
  made_.in_ram[at(v)].push_back({t_, p_.ops});
}

void StreamingPass::leave(int v) {
  ram_.remove(v);
  made_.in_ram[at(v)].back().to = t_;
  made_.plan.steps.push_back({StepKind::free, OpId(), ValueId(v)});
  if (arena_) arena_->remove(v);
}

void StreamingPass::store(int v) {
  values_[at(v)].is_stored = true;
  values_[at(v)].sent_at = values_[at(v)].complete_at;
  made_.joules += p_.out_joules[at(v)];
  made_.bytes_written += p_.bytes[at(v)];
  page_outs_.push_back({values_[at(v)].complete_at, v});
}

// Makes room for the value or workspace (kWorkspace) by evictions, and assigns an address if there is an
// arena. Returns false if it does not fit.
bool StreamingPass::allocate(int v, std::int64_t bytes) {
  if (!arena_) return make_room(bytes);
  if (bytes == 0) return true;
  std::optional<std::int64_t> offset = arena_->put(v, bytes);
  while (!offset) {
    const auto leaving =
        arena_->in_the_way(bytes, [&](int u) { return u < 0 || ram_.is_pinned(u) ? kInfinity : loss(u); });
    if (!leaving) return false;
    for (const int u : *leaving)
      if (!evict(u)) return false;
    offset = arena_->put(v, bytes);
  }
  made_.addresses.push_back({allocations_, v, *offset});
  return true;
}

// Returns the operand that the op overwrites with its first result, as nothing needs it afterwards, or -1.
int StreamingPass::dying() const {
  if (p_.overwritable[at(t_)].empty() || ram_.has(p_.first_result[at(t_)])) return -1;
  for (const int u : p_.overwritable[at(t_)]) {
    const auto next = static_cast<std::size_t>(values_[at(u)].uses) + 1;
    if (gaps_.all()[gaps_.of(u)[next]].to >= p_.ops && (p_.paging || !values_[at(u)].is_wanted_stored))
      return u;
  }
  return -1;
}

// Runs the op, whose operands are in RAM and pinned. `overwritten`: one of them, or -1.
bool StreamingPass::compute(int op, int overwritten) {
  const auto& results = p_.writes[at(op)];
  for (const int v : results) ram_.pin(v);
  const bool fits = arena_ ? allocate_each(op, overwritten) : make_room(missing(op, overwritten));
  for (const int v : results) ram_.unpin(v);
  if (!fits) return false;
  if (overwritten >= 0) finish_sending(overwritten);
  made_.plan.steps.push_back({StepKind::compute, OpId(op), ValueId()});
  ++allocations_;
  made_.joules += price_of(p_, op);
  made_.seconds += p_.seconds[at(op)];
  for (const int v : results)
    if (!ram_.has(v)) enter(v);
  if (overwritten >= 0) leave(overwritten);
  return true;
}

std::int64_t StreamingPass::missing(int op, int overwritten) const {
  std::int64_t bytes = p_.workspace[at(op)];
  for (const int v : p_.writes[at(op)])
    if (!ram_.has(v)) bytes += p_.bytes[at(v)];
  return overwritten < 0 ? bytes : bytes - p_.bytes[at(overwritten)];
}

// Completes the page-out of a dead value before it is overwritten.
void StreamingPass::finish_sending(int v) {
  if (values_[at(v)].is_wanted_stored && !values_[at(v)].is_stored) store(v);
  if (p_.concurrent && values_[at(v)].sent_at == values_[at(v)].complete_at)
    made_.plan.steps.push_back({StepKind::wait, OpId(), ValueId(v)});
}

// Assigns addresses to results and workspace. Results in RAM keep their address.
bool StreamingPass::allocate_each(int op, int overwritten) {
  bool fits = allocate(kWorkspace, p_.workspace[at(op)]);
  std::vector<int> placed;
  for (const int v : p_.writes[at(op)]) {
    if (!fits) break;
    if (ram_.has(v)) {
      made_.addresses.push_back({allocations_, v, values_[at(v)].offset});
      continue;
    }
    if (overwritten >= 0 && v == p_.first_result[at(op)]) continue;
    fits = allocate(v, p_.bytes[at(v)]);
    if (!fits) break;
    values_[at(v)].offset = made_.addresses.back().offset;
    placed.push_back(v);
  }
  arena_->remove(kWorkspace);
  if (!fits)
    for (const int v : placed) arena_->remove(v);
  if (fits && overwritten >= 0) {
    const int v = p_.first_result[at(op)];
    arena_->replace(overwritten, v);
    values_[at(v)].offset = values_[at(overwritten)].offset;
    made_.addresses.push_back({allocations_, v, values_[at(v)].offset});
  }
  return fits;
}

bool StreamingPass::bring(int v, int depth) {
  if (ram_.has(v)) return true;
  const int op = p_.producer[at(v)];
  const double paging = values_[at(v)].is_stored ? p_.in_joules[at(v)] : kInfinity;
  known_.forget();
  const std::int64_t room = p_.budget - ram_.pinned_bytes() - p_.bytes[at(v)];
  const double recomputing = price_of_recomputing(v, depth, room).price;
  if (paging == kInfinity && recomputing == kInfinity) return false;
  if (paging <= recomputing) return page_in(v);
  for (const int u : p_.reads[at(op)]) ram_.pin(u);
  bool done = true;
  for (const int u : p_.reads[at(op)]) done = done && bring(u, depth + 1);
  done = done && compute(op, -1);
  for (const int u : p_.reads[at(op)]) ram_.unpin(u);
  if (done || paging == kInfinity) return done;
  return page_in(v);
}

bool StreamingPass::page_in(int v) {
  if (!allocate(v, p_.bytes[at(v)])) return false;
  if (arena_) values_[at(v)].offset = made_.addresses.back().offset;
  made_.plan.steps.push_back({StepKind::page_in, OpId(), ValueId(v)});
  ++allocations_;
  made_.joules += p_.in_joules[at(v)];
  enter(v);
  return true;
}

// The price of recomputing `v` is infinite if that is impossible. `room`: RAM beside what is pinned, `v` and
// what the recomputation is for.
PriceInRoom StreamingPass::price_of_recomputing(int v, int depth, std::int64_t room) {
  const int op = p_.producer[at(v)];
  if ((depth >= kStreamDepth && !p_.reads[at(op)].empty()) || t_ > p_.recompute_until[at(op)]) return {};
  if (const PriceInRoom* known = known_.find(v, depth, room)) return *known;
  std::int64_t taken = 0;
  for (const int u : p_.reads[at(op)])
    if (!ram_.has(u) || !ram_.is_pinned(u)) taken += p_.bytes[at(u)];
  for (const int w : p_.writes[at(op)])
    if (w != v && !ram_.has(w)) taken += p_.bytes[at(w)];
  PriceInRoom made;
  made.compare(room, taken + p_.workspace[at(op)]);
  if (room >= taken + p_.workspace[at(op)]) {
    made.price = price_of(p_, op);
    for (const int u : p_.reads[at(op)]) {
      if (ram_.has(u)) continue;
      const double paging = values_[at(u)].is_stored ? p_.in_joules[at(u)] : kInfinity;
      const PriceInRoom again = price_of_recomputing(u, depth + 1, room - taken);
      made.depend(again, taken);
      made.price += std::min(paging, again.price);
      if (made.price == kInfinity) break;
    }
  }
  known_.remember(v, depth, made);
  return made;
}

}  // namespace poet
