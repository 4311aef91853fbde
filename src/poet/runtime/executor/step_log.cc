#include "poet/runtime/executor/step_log.h"

#include <fmt/format.h>

#include <utility>

#include "poet/base/error.h"

namespace poet::runtime {

StepLog::StepLog(const Graph& graph, const Program& program, StepRecord run, bool sized)
    : graph_(graph), program_(program), slots_(program.slots()), record_(std::move(run)) {
  const PersistentKinds kinds = persistent_kinds(graph);
  for (const ValueId v : kinds.all) {
    if (graph.values[v].paged)
      homes_.push_back(v);
    else
      (kinds.updated[v] != 0 ? changed_ : unchanged_).push_back(v);
  }
  for (const ValueId v : unchanged_)
    if (program.home(v).slot == kNoSlot) slots_.push_back(graph.values[v].bytes);
  homes_.insert(homes_.end(), unchanged_.begin(), unchanged_.end());
  record_.homes.resize(homes_.size() + program.tables().size());
  if (sized) record_.size = Bytes(1);  // as large as any number
  encoded_.resize(static_cast<std::size_t>(encoded_size(record_).value()));
  pieces_.emplace_back(encoded_);
  for (const ValueId v : changed_) pieces_.emplace_back(memory(v));
  if (sized) record_.size = record_bytes();
}

std::span<std::byte> StepLog::memory(ValueId v) const {
  return {program_.persistent(v), static_cast<std::size_t>(graph_.values[v].bytes.value())};
}

Bytes StepLog::record_bytes() const {
  Bytes bytes = kRecordChecksum;
  for (const std::span<const std::byte> piece : pieces_)
    bytes += Bytes(static_cast<std::int64_t>(piece.size()));
  return bytes;
}

ValueId StepLog::owner(std::size_t slot) const {
  const std::size_t of_program = program_.slots().size();
  return slot < of_program ? program_.owner(slot) : unchanged_[slot - of_program];
}

std::size_t StepLog::slot_of_unchanged(std::size_t i) const {
  // Either all of them have homes, or none.
  const std::size_t home = program_.home(unchanged_[i]).slot;
  return home != kNoSlot ? home : program_.slots().size() + i;
}

void StepLog::start(PageFile& pages) {
  for (std::size_t i = 0; i < unchanged_.size(); ++i) {
    const std::size_t slot = slot_of_unchanged(i);
    if (!pages.has(slot)) pages.write(slot, program_.persistent(unchanged_[i]));
  }
}

void StepLog::write(PageFile& pages, std::int64_t step, float loss, bool swapped) {
  ++record_.number;
  record_.step = step;
  record_.loss = loss;
  std::size_t of_unchanged = 0;
  for (std::size_t i = 0; i < homes_.size(); ++i) {
    const Home& home = program_.home(homes_[i]);
    std::size_t slot = swapped ? home.other_slot : home.slot;
    if (!graph_.values[homes_[i]].paged) slot = slot_of_unchanged(of_unchanged++);
    record_.homes[i] = {static_cast<std::uint32_t>(slot), pages.checksum(slot)};
  }
  for (std::size_t table = 0; table < program_.tables().size(); ++table)
    record_.homes[homes_.size() + table] = {static_cast<std::uint32_t>(table), pages.rows().digest(table)};
  encode(record_, encoded_);
  pages.write_record(record_.number, pieces_);
}

bool StepLog::restore(PageFile& pages, const LeftRun& left) {
  const StepRecord& found = left.record();
  const auto expect = [&](bool fits) {
    if (!fits) throw InputError("the record of a step", "names other pages than its run has");
  };
  expect(found.homes.size() == homes_.size() + program_.tables().size());
  bool swapped = false;
  bool is_known = false;
  std::size_t of_unchanged = 0;
  for (std::size_t i = 0; i < homes_.size(); ++i) {
    const auto [slot, checksum] = found.homes[i];
    const Home& home = program_.home(homes_[i]);
    if (!graph_.values[homes_[i]].paged) {
      expect(slot == slot_of_unchanged(of_unchanged++));
    } else {
      expect(slot == home.slot || slot == home.other_slot);
      // A value that no step changes has one slot, which says nothing.
      if (home.slot != home.other_slot) {
        expect(!is_known || swapped == (slot == home.other_slot));
        swapped = slot == home.other_slot;
        is_known = true;
      }
    }
    pages.adopt(slot, checksum);
    pages.check(slot);
  }
  for (std::size_t table = 0; table < program_.tables().size(); ++table) {
    const auto [number, digest] = found.homes[homes_.size() + table];
    expect(number == table);
    pages.rows().adopt(table, found.step, digest);
  }
  std::vector<std::span<std::byte>> in_ram;
  Bytes needed{};
  for (const ValueId v : changed_) {
    in_ram.push_back(memory(v));
    needed += graph_.values[v].bytes;
  }
  expect(needed == left.resident_bytes());
  left.read_resident(in_ram);
  for (std::size_t i = 0; i < unchanged_.size(); ++i)
    pages.read(slot_of_unchanged(i), program_.persistent(unchanged_[i]));
  record_.number = found.number;
  return swapped;
}

}  // namespace poet::runtime
