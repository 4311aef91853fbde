#include "poet/plan/file/events.h"

#include <algorithm>
#include <map>
#include <utility>

#include "poet/base/error.h"
#include "poet/plan/file/bytes_out.h"

namespace poet {
namespace {

enum Tag : std::uint8_t { first, ahead, behind, on, page_out, page_in, wait };

constexpr std::int64_t kEscape = 31;     // in place of an operand: it follows, absolute
constexpr std::int64_t kLongestOn = 32;  // computations that one `on` stands for; it has no escape

class Encoder {
 public:
  Encoder(const Plan& plan, std::size_t values) : plan_(plan), in_(static_cast<std::int64_t>(values)) {}

  std::vector<std::uint8_t> run() {
    for (std::size_t i = 0; i < plan_.steps.size();) i += take(i);
    return std::move(out_.bytes);
  }

 private:
  // Returns how many steps the event stands for.
  std::size_t take(std::size_t i) {
    const Step& step = plan_.steps[i];
    const std::int64_t value = step.value.index;
    switch (step.kind) {
      case StepKind::compute:
        return compute(i);
      case StepKind::page_out:
        put(page_out, value - out_value_, value);
        out_value_ = value + 1;
        issued_[step.value] = ++transfers_;
        break;
      case StepKind::page_in:
        put(page_in, in_ - 1 - value, value);
        in_ = value;
        issued_[step.value] = ++transfers_;
        break;
      case StepKind::wait: {
        const auto issued = issued_.find(step.value);
        ensure(issued != issued_.end(), "a plan waits only for what it has transferred");
        put(wait, transfers_ - issued->second, transfers_ - issued->second);
        break;
      }
      case StepKind::free:
        break;
    }
    return 1;
  }

  // Frees between computations do not end a run: they are not in the stream.
  std::size_t compute(std::size_t i) {
    const std::int64_t op = plan_.steps[i].op.index;
    const bool is_first = op == first_;
    std::int64_t ops = 0;  // in the run
    std::size_t next = i;
    for (; next < plan_.steps.size(); ++next) {
      const Step& step = plan_.steps[next];
      if (step.kind == StepKind::free) continue;
      if (step.kind != StepKind::compute || step.op.index != op + ops) break;
      if (!is_first && step.op.index == first_) break;
      ++ops;
    }
    if (is_first) {
      put(first, ops - 1, ops - 1);
      first_ += ops;
      return next - i;
    }
    put(op >= again_ ? ahead : behind, op >= again_ ? op - again_ : again_ - 1 - op, op);
    again_ = op + ops;
    for (--ops; ops > 0; ops -= kLongestOn) byte(on, std::min(ops, kLongestOn) - 1);
    return next - i;
  }

  void put(Tag tag, std::int64_t operand, std::int64_t absolute) {
    const bool fits = operand >= 0 && operand < kEscape;
    byte(tag, fits ? operand : kEscape);
    if (!fits) out_.varint(static_cast<std::uint64_t>(absolute));
  }

  void byte(Tag tag, std::int64_t operand) { out_.number(static_cast<std::uint64_t>(tag << 5 | operand), 1); }

  const Plan& plan_;
  BytesOut out_;
  std::int64_t first_ = 0;      // next op to be computed for the first time
  std::int64_t again_ = 0;      // one after the op recomputed last
  std::int64_t out_value_ = 0;  // one after the value paged out last
  std::int64_t in_;             // the value paged in last
  std::int64_t transfers_ = 0;
  std::map<ValueId, std::int64_t> issued_;  // number of the value's last transfer
};

}  // namespace

std::vector<std::uint8_t> events_of(const Plan& plan, std::size_t values) {
  return Encoder(plan, values).run();
}

Plan steps_of(const poet_plan& opened) {
  Plan plan;
  std::vector<ValueId> transfers;
  poet_plan_cursor cursor;
  poet_plan_begin(&opened, &cursor);
  poet_plan_step step;
  while (poet_plan_next(&cursor, &step) == POET_PLAN_OK) {
    const OpId op(static_cast<std::int32_t>(step.operand));
    const ValueId value(static_cast<std::int32_t>(step.operand));
    switch (step.kind) {
      case POET_PLAN_COMPUTE:
        plan.steps.push_back({StepKind::compute, op, ValueId()});
        break;
      case POET_PLAN_PAGE_OUT:
      case POET_PLAN_PAGE_IN:
        plan.steps.push_back(
            {step.kind == POET_PLAN_PAGE_OUT ? StepKind::page_out : StepKind::page_in, OpId(), value});
        transfers.push_back(value);
        break;
      case POET_PLAN_WAIT:
        plan.steps.push_back({StepKind::wait, OpId(), transfers[transfers.size() - 1 - step.operand]});
        break;
    }
  }
  return plan;
}

}  // namespace poet
