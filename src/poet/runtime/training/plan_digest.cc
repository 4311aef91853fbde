#include "poet/runtime/training/plan_digest.h"

#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "poet/runtime/storage/page_checksum.h"

namespace poet::runtime {
namespace {

/// Of a sequence of numbers and texts; texts and lists with their lengths, so that no two sequences are
/// alike.
class Digest {
 public:
  void add(std::int64_t number) { checksum_.add(std::as_bytes(std::span(&number, 1))); }
  void add(const std::string& text) {
    add(static_cast<std::int64_t>(text.size()));
    checksum_.add(std::as_bytes(std::span(text)));
  }
  void add(const Shape& numbers) {
    add(static_cast<std::int64_t>(numbers.size()));
    checksum_.add(std::as_bytes(std::span(numbers)));
  }
  void add(const std::vector<ValueId>& values) {
    add(static_cast<std::int64_t>(values.size()));
    for (const ValueId v : values) add(std::int64_t{v.index});
  }
  [[nodiscard]] std::uint64_t value() const { return checksum_.value(); }

 private:
  PageChecksum checksum_;
};

/// Attributes that are no hyperparameters, which a run may set and which are among its circumstances.
void add_attributes(Digest& digest, const Op& op) {
  for (const auto& [name, attribute] : op.attributes) {
    if (op.pass == Pass::update && (name == "weight_decay" || name == "nesterov")) continue;  // may be absent
    digest.add(name);
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
            std::int64_t bits = 0;
            static_assert(sizeof bits == sizeof value);
            std::memcpy(&bits, &value, sizeof bits);
            if (op.pass != Pass::update || op.kind == "batch_norm_stats") digest.add(bits);
          } else {
            digest.add(value);
          }
        },
        attribute);
  }
}

}  // namespace

std::uint64_t network_digest(const Graph& graph) {
  Digest digest;
  for (const Value& value : graph.values) {
    digest.add(value.name);
    digest.add(value.shape);
    digest.add(value.strides);
    digest.add(static_cast<std::int64_t>(value.dtype));
    digest.add(static_cast<std::int64_t>(value.persistence));
    digest.add(std::int64_t{value.alias_of.index});
    if (value.rows) {
      digest.add(value.rows->table);
      digest.add(value.rows->indices);
      digest.add(value.rows->of);
    }
    if (!value.part) continue;
    digest.add(value.part->tensor);
    digest.add(value.part->shape);
    digest.add(value.part->begin);
  }
  for (const Op& op : graph.ops) {
    digest.add(op.name);
    digest.add(op.kind);
    add_attributes(digest, op);
    for (const std::vector<ValueId>* values : {&op.inputs, &op.outputs, &op.updates}) digest.add(*values);
  }
  return digest.value();
}

std::uint64_t plan_digest(const PlanFile& file) {
  Digest digest;
  for (const Value& value : file.instance.graph.values) digest.add(std::int64_t{value.paged});
  for (const Step& step : file.plan.steps) {
    digest.add(static_cast<std::int64_t>(step.kind));
    digest.add(std::int64_t{step.op.index});
    digest.add(std::int64_t{step.value.index});
  }
  digest.add(file.layout.arena.value());
  for (const Allocation& allocation : file.layout.allocations) digest.add(allocation.offset);
  return digest.value();
}

std::vector<std::uint64_t> family_digests(const std::vector<std::uint64_t>& plans) {
  if (plans.size() == 1) return plans;
  std::vector<std::uint64_t> digests;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Digest digest;
    digest.add(static_cast<std::int64_t>(i));
    for (const std::uint64_t plan : plans) digest.add(static_cast<std::int64_t>(plan));
    digests.push_back(digest.value());
  }
  return digests;
}

}  // namespace poet::runtime
