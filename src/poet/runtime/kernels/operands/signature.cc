#include <algorithm>
#include <optional>
#include <string_view>

#include "poet/base/amounts.h"
#include "poet/runtime/kernels/operands/rules.h"

namespace poet::runtime::operands {
namespace {

/// The words up to the next colon.
std::string_view next_part(std::string_view& rest) {
  const std::size_t colon = std::min(rest.find(':'), rest.size());
  const std::string_view part = rest.substr(0, colon);
  rest.remove_prefix(std::min(colon + 1, rest.size()));
  return part;
}

std::vector<std::string_view> words(std::string_view part) {
  std::vector<std::string_view> found;
  while (!part.empty()) {
    const std::size_t end = std::min(part.find(' '), part.size());
    if (end > 0) found.push_back(part.substr(0, end));
    part.remove_prefix(std::min(end + 1, part.size()));
  }
  return found;
}

/// The types that operands of "one type" have, once one of them has been seen.
struct Common {
  std::optional<DType> number, any;
};

void check_type(const OperandReader& op, const char* list, std::size_t i, DType type, char wanted,
                Common& common) {
  const auto need = [&](DType exact) {
    op.need(type == exact, "{} {} of type {}, not {}", list, i, to_string(exact), to_string(type));
  };
  switch (wanted) {
    case 'f':
      return need(DType::float32);
    case 'i':
      return need(DType::int32);
    case 'b':
      return need(DType::uint8);
    case 'n':
      op.need(type == DType::float32 || type == DType::int32, "{} {} of type float32 or int32, not {}", list,
              i, to_string(type));
      return need(*(common.number = common.number.value_or(type)));
    case 'u':
      return;
    default:
      return need(*(common.any = common.any.value_or(type)));
  }
}

/// One list of operands.
void check_list(const OperandReader& op, const char* list, const std::vector<ValueId>& values,
                std::string_view part, Common& common) {
  const std::vector<std::string_view> types = words(part);
  const auto is = [](char mark) { return [mark](std::string_view w) { return w.back() == mark; }; };
  const auto optional = static_cast<std::size_t>(std::count_if(types.begin(), types.end(), is('?')));
  const bool many = std::any_of(types.begin(), types.end(), is('+'));
  const std::size_t least = types.size() - optional;
  if (values.size() < least || (!many && values.size() > types.size())) {
    const std::string most = counted(static_cast<Index>(many ? least : types.size()), list);
    const std::string range = many ? "at least " : optional > 0 ? fmt::format("{} to ", least) : "";
    op.refuse(fmt::format("{}{}, not {}", range, most, values.size()));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    check_type(op, list, i, op.value(values[i]).dtype, types[std::min(i, types.size() - 1)].front(), common);
  }
}

}  // namespace

void check_signature(const OperandReader& op, const char* signature) {
  std::string_view rest = signature;
  Common common;
  check_list(op, "input", op.op().inputs, next_part(rest), common);
  check_list(op, "output", op.op().outputs, next_part(rest), common);
  const std::vector<std::string_view> updates = words(rest);
  op.need(op.op().updates.size() == updates.size(), "{} that it updates, not {}",
          counted(static_cast<Index>(updates.size()), "value"), op.op().updates.size());
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const auto position = static_cast<std::size_t>(updates[i].front() - '0');
    op.need(op.op().updates[i] == op.op().inputs[position], "input {} as update {}", position, i);
  }
}

}  // namespace poet::runtime::operands
