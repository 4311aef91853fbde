#pragma once

// The semantics of staged schedules (docs/formulation.md, section 1): the steps of a stage, and when RAM is
// freed in it. Shared by linearise() and by the measuring of schedules; a template, as local search walks
// stages in its innermost loop.

namespace poet {

/// Whether a value is retained at the start and at the end of a stage.
struct Retention {
  bool now = false;   // retained when the stage starts
  bool next = false;  // and when the next one does
  friend bool operator==(const Retention&, const Retention&) = default;
};

enum class InStage : char {
  away,        // not in RAM
  here,        // leaves after its last use in the stage
  held,        // stays to the stage's end: wanted by the next stage, or moving
  throughout,  // retained from the stage's start to the next one's
};

/// Walks a stage whose transfers last as long as it does, and take RAM (`transfers_take_ram`), or take none
/// and bring values at its end (published semantics). `stage` says what happens, with sorted lists:
/// - present(): values retained when it starts; those of them suffice that something happens to in the stage;
/// - page_outs(), page_ins(); for_each_op(f) in order, its own op last; reads(op), writes(op);
/// - retention(v); and, per value, state(v), `away` between walks, and uses(v), 0 between walks;
/// - overwritable(op), the operands over which its first result may be written (plan/overwritable.h), and, if
///   there are any, first_result(op).
/// `sink` hears what happens: enters(v), in RAM at the start and not throughout; page_out(v); page_in(v);
/// starts(), before the first computation; produces(v), a result that was not in RAM; overwrites(v), the
/// first result is written over this operand, which leaves with the op; computes(op); leaves(v), its RAM is
/// given back. O(values and operands named).
template <class Stage, class Sink>
void walk_stage(Stage& stage, Sink& sink, bool transfers_take_ram) {
  const auto look = [&](auto v) {
    if (stage.state(v) != InStage::away) return;
    const Retention retention = stage.retention(v);
    if (!retention.now) return;
    stage.state(v) = retention.next ? InStage::throughout : InStage::here;
    if (!retention.next) sink.enters(v);
  };
  const auto leave_if_done = [&](auto v) {
    if (stage.state(v) != InStage::here || stage.uses(v) > 0) return;
    stage.state(v) = InStage::away;
    sink.leaves(v);
  };
  for (const auto v : stage.present()) look(v);
  for (const auto v : stage.page_outs()) {
    if (transfers_take_ram && stage.state(v) == InStage::here) stage.state(v) = InStage::held;
    sink.page_out(v);
  }
  if (transfers_take_ram)
    for (const auto v : stage.page_ins()) {
      stage.state(v) = InStage::held;
      sink.page_in(v);
    }
  stage.for_each_op([&](auto op) {
    for (const auto v : stage.writes(op)) look(v);
    for (const auto v : stage.reads(op)) {
      look(v);
      ++stage.uses(v);
    }
  });
  sink.starts();
  for (const auto v : stage.present()) leave_if_done(v);
  const auto overwrite = [&](auto op) {
    for (const auto v : stage.overwritable(op))
      if (stage.state(v) == InStage::here && stage.uses(v) == 1) return sink.overwrites(v);
  };
  stage.for_each_op([&](auto op) {
    const bool anew = !stage.overwritable(op).empty() && stage.state(stage.first_result(op)) == InStage::away;
    for (const auto v : stage.writes(op))
      if (stage.state(v) == InStage::away) {
        stage.state(v) = stage.retention(v).next ? InStage::held : InStage::here;
        sink.produces(v);
      }
    if (anew) overwrite(op);
    sink.computes(op);
    for (const auto v : stage.reads(op)) {
      --stage.uses(v);
      leave_if_done(v);
    }
    for (const auto v : stage.writes(op)) leave_if_done(v);
  });
  if (transfers_take_ram) {
    for (const auto v : stage.page_outs())  // held for the transfer only
      if (!stage.retention(v).next) sink.leaves(v);
  } else {
    for (const auto v : stage.page_ins()) sink.page_in(v);
  }
  const auto forget = [&](auto v) { stage.state(v) = InStage::away; };
  stage.for_each_op([&](auto op) {
    for (const auto v : stage.reads(op)) forget(v);
    for (const auto v : stage.writes(op)) forget(v);
  });
  for (const auto v : stage.present()) forget(v);
  for (const auto v : stage.page_ins()) forget(v);
}

}  // namespace poet
