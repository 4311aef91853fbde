#include "poet/runtime/executor/persistent.h"

#include "poet/base/error.h"
#include "poet/graph/parts.h"

namespace poet::runtime {

PersistentValues::PersistentValues(const Graph& graph, const Program& program, PageFile* pages)
    : graph_(graph), program_(&program), pages_(pages), copies_(graph.values.size()) {
  for (const ValueId v : ids<ValueId>(graph.values.size()))
    if (graph.values[v].rows) rows_.push_back(v);
}

void PersistentValues::set(ValueId v, const std::function<void(std::byte* to)>& fill) {
  const Value& value = graph_.values[v];
  if (!value.paged) {
    fill(program_->persistent(v));
    return;
  }
  std::vector<std::byte> contents(static_cast<std::size_t>(at_home(value).bytes.value()));
  fill(contents.data());
  if (value.rows)
    pages_->rows().write_all(program_->rows(v).table, contents.data(), 0);
  else
    pages_->write(home(v), contents.data());
  copies_[v].clear();
}

const std::byte* PersistentValues::contents(ValueId v) const {
  const Value& value = graph_.values[v];
  if (!value.paged) return program_->persistent(v);
  std::vector<std::byte>& copy = copies_[v];
  if (copy.empty()) {
    copy.resize(static_cast<std::size_t>(at_home(value).bytes.value()));
    if (value.rows)
      pages_->rows().read_all(program_->rows(v).table, copy.data());
    else
      pages_->read(home(v), copy.data());
  }
  return copy.data();
}

void PersistentValues::start(std::int64_t step) { program_->start_rows(step); }

void PersistentValues::commit(std::int64_t step, float loss) {
  swapped_ = !swapped_;
  for (const ValueId v : rows_) pages_->commit_rows(program_->rows(v));
  if (log_ == nullptr) return;
  log_->write(*pages_, step, loss, swapped_);
  pages_->keep(true);
}

void PersistentValues::keep(StepLog& log, std::int64_t step, float loss) {
  log_ = &log;
  log.start(*pages_);
  log.write(*pages_, step, loss, swapped_);
}

void PersistentValues::go_on(StepLog& log, const LeftRun& left) {
  log_ = &log;
  swapped_ = log.restore(*pages_, left);
}

void PersistentValues::leave() {
  forget();
  const PersistentKinds kinds = persistent_kinds(graph_);
  for (const ValueId v : kinds.all) {
    if (graph_.values[v].paged) continue;
    // A page that the last record names is not among these, but for what is on it already.
    if (kinds.updated[v] == 0 && pages_->has(home(v))) continue;
    pages_->write(home(v), program_->persistent(v));
  }
  log_ = nullptr;
  program_ = nullptr;
}

void PersistentValues::enter(const Program& program) {
  program_ = &program;
  for (const ValueId v : persistent_kinds(graph_).all)
    if (!graph_.values[v].paged) pages_->read(home(v), program.persistent(v));
}

std::size_t PersistentValues::home(ValueId v) const {
  const Home& home = program_->home(v);
  return swapped_ ? home.other_slot : home.slot;
}

}  // namespace poet::runtime
