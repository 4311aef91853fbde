#include "poet/runtime/kernels/onednn/sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "poet/base/error.h"

namespace poet::runtime::onednn {
namespace {

constexpr std::int64_t kAlignment = 64;

std::int64_t aligned(std::int64_t bytes) { return rounded_up(Bytes(bytes), Bytes(kAlignment)).value(); }

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

const dnnl::stream& stream() {
  static const dnnl::stream only(engine());
  return only;
}

dnnl::primitive_attr scratchpad_by_user() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

bool is_fast(const dnnl::primitive_desc_base& description) {
  const std::string_view name = description.impl_info_str();
  return name.find("ref") == std::string_view::npos;
}

BufferId Sequence::place(Space space, std::size_t index, const dnnl::memory::desc& layout) {
  buffers_.push_back({space, index, layout, {}});
  return buffers_.size() - 1;
}

BufferId Sequence::input(std::size_t position, const dnnl::memory::desc& layout) {
  return place(Space::input, position, layout);
}
BufferId Sequence::output(std::size_t position, const dnnl::memory::desc& layout) {
  return place(Space::output, position, layout);
}
BufferId Sequence::input(std::size_t position) { return place(Space::input, position, {}); }
BufferId Sequence::output(std::size_t position) { return place(Space::output, position, {}); }
BufferId Sequence::update(std::size_t position) { return place(Space::update, position, {}); }

BufferId Sequence::scratch(const dnnl::memory::desc& layout) {
  const BufferId slot = scratch(layout.get_size());
  buffers_[slot].layout = layout;
  return slot;
}

BufferId Sequence::scratch(std::size_t bytes) {
  const BufferId slot = place(Space::workspace, static_cast<std::size_t>(workspace_), {});
  workspace_ += aligned(static_cast<std::int64_t>(bytes));
  return slot;
}

BufferId Sequence::in_layout(BufferId buffer, const dnnl::memory::desc& wanted) {
  const BufferId result = result_for(buffer, wanted);
  if (result != buffer) reorder(buffer, result);
  return result;
}

BufferId Sequence::result_for(BufferId buffer, const dnnl::memory::desc& wanted) {
  return buffers_[buffer].layout == wanted ? buffer : scratch(wanted);
}

void Sequence::deliver(BufferId result, BufferId buffer) {
  if (result != buffer) reorder(result, buffer);
}

void Sequence::reorder(BufferId from, BufferId to) {
  const dnnl::reorder::primitive_desc description(engine(), buffers_[from].layout, engine(),
                                                  buffers_[to].layout, scratchpad_by_user());
  std::string name = std::move(name_);  // a reorder does not name the kernel
  add(dnnl::reorder(description), description, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  name_ = std::move(name);
  ++reorders_;
}

void Sequence::add(const dnnl::primitive& primitive, const dnnl::primitive_desc_base& description,
                   const std::vector<std::pair<int, BufferId>>& arguments) {
  Operation operation{primitive, {}, arguments, {}};
  const dnnl::memory::desc scratchpad = description.scratchpad_desc();
  if (const auto bytes = static_cast<std::int64_t>(scratchpad.get_size()); bytes > 0) {
    operation.arguments.emplace_back(DNNL_ARG_SCRATCHPAD, place(Space::scratchpad, 0, scratchpad));
    scratchpad_ = std::max(scratchpad_, aligned(bytes));
  }
  operations_.push_back(std::move(operation));
  if (name_.empty()) name_ = fmt::format("oneDNN {}", description.impl_info_str());
}

void Sequence::add(Loop loop, std::string name) {
  operations_.push_back({{}, std::move(loop), {}, {}});
  if (name_.empty()) name_ = std::move(name);
}

std::unique_ptr<Kernel> Sequence::finished(std::unique_ptr<Sequence> sequence) {
  for (Buffer& buffer : sequence->buffers_) {
    if (buffer.space == Space::scratchpad) buffer.index = static_cast<std::size_t>(sequence->workspace_);
  }
  sequence->workspace_ += sequence->scratchpad_;
  for (Operation& operation : sequence->operations_) {
    for (const auto& [argument, slot] : operation.arguments) {
      Buffer& buffer = sequence->buffers_[slot];
      if (!buffer.memory) buffer.memory = dnnl::memory(buffer.layout, engine(), DNNL_MEMORY_NONE);
      operation.prepared.push_back({argument, buffer.memory.get()});
    }
  }
  sequence->addresses_.resize(sequence->buffers_.size());
  return sequence;
}

void Sequence::run(const KernelCall& call) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = buffers_[i];
    switch (buffer.space) {
      case Space::input:
        addresses_[i] = call.inputs[buffer.index];
        break;
      case Space::output:
        addresses_[i] = call.outputs[buffer.index];
        break;
      case Space::update:
        addresses_[i] = call.updates[buffer.index];
        break;
      case Space::workspace:
      case Space::scratchpad:
        addresses_[i] = static_cast<std::byte*>(call.workspace) + buffer.index;
        break;
    }
    if (buffer.memory) buffer.memory.set_data_handle(addresses_[i]);
  }
  for (const Operation& operation : operations_) {
    if (operation.loop) {
      operation.loop(addresses_.data());
      continue;
    }
    const dnnl_status_t status =
        dnnl_primitive_execute(operation.primitive.get(), stream().get(),
                               static_cast<int>(operation.prepared.size()), operation.prepared.data());
    ensure(status == dnnl_success, "a oneDNN primitive runs on the operands it was made for");
  }
}

std::string Sequence::implementation() const {
  if (reorders_ == 0) return name_;
  return fmt::format("{}, {} reorder{}", name_, reorders_, reorders_ == 1 ? "" : "s");
}

}  // namespace poet::runtime::onednn
