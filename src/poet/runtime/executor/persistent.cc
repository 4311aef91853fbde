#include "poet/runtime/executor/persistent.h"

#include "poet/base/error.h"

namespace poet::runtime {

PersistentValues::PersistentValues(const Graph& graph, const Program& program, PageFile* pages)
    : graph_(graph), program_(program), pages_(pages), copies_(graph.values.size()) {}

void PersistentValues::set(ValueId v, const std::function<void(std::byte* to)>& fill) {
  if (!graph_.values[v].paged) {
    fill(program_.persistent(v));
    return;
  }
  std::vector<std::byte> contents(static_cast<std::size_t>(graph_.values[v].bytes.value()));
  fill(contents.data());
  pages_->write(home(v), contents.data());
  copies_[v].clear();
}

const std::byte* PersistentValues::contents(ValueId v) const {
  if (!graph_.values[v].paged) return program_.persistent(v);
  std::vector<std::byte>& copy = copies_[v];
  if (copy.empty()) {
    copy.resize(static_cast<std::size_t>(graph_.values[v].bytes.value()));
    pages_->read(home(v), copy.data());
  }
  return copy.data();
}

std::size_t PersistentValues::home(ValueId v) const {
  const Home& home = program_.home(v);
  return swapped_ ? home.other_slot : home.slot;
}

}  // namespace poet::runtime
