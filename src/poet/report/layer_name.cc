#include "poet/report/layer_name.h"

#include <algorithm>
#include <cctype>

namespace poet {
namespace {

using Characters = std::vector<std::string>;

bool is_digit(const std::string& character) {
  return character.size() == 1 && std::isdigit(static_cast<unsigned char>(character.front())) != 0;
}

void append_end(Characters& to, const Characters& text, std::size_t length) {
  to.insert(to.end(), text.end() - static_cast<std::ptrdiff_t>(length), text.end());
}

/// The end of `text`, after a gap where that is not all.
Characters ending(const Characters& text, std::size_t longest, const std::string& gap) {
  if (text.size() <= longest || longest == 0) return longest == 0 ? Characters() : text;
  Characters end = {gap};
  append_end(end, text, longest - 1);
  return end;
}

/// Where the number of a layer stands: [number, end) is "4.1" of "layer4.1.conv", [word, end) "layer4.1".
struct LayerNumber {
  std::size_t word = 0, number = 0, end = 0;
};

LayerNumber number_of(const Characters& name) {
  LayerNumber found;
  const auto first = std::find_if(name.begin(), name.end(), is_digit);
  if (first == name.end()) return found;
  found.number = found.word = static_cast<std::size_t>(first - name.begin());
  const auto separates = [&](std::size_t i) { return name[i] == "." || name[i] == ":"; };
  while (found.word > 0 && !separates(found.word - 1)) --found.word;
  for (std::size_t i = found.number; i < name.size() && !separates(i); ++i)
    if (is_digit(name[i])) found.end = i + 1;
  // And the numbers that follow.
  while (found.end + 1 < name.size() && name[found.end] == "." && is_digit(name[found.end + 1])) {
    ++found.end;
    while (found.end < name.size() && is_digit(name[found.end])) ++found.end;
  }
  return found;
}

/// The end of a name without its part; the number of its layer stays, if there is room for both.
Characters end_of_layer(const Characters& name, std::size_t longest, const std::string& gap) {
  const LayerNumber found = number_of(name);
  if (name.size() <= longest || found.end == 0 || found.number > name.size() - longest)
    return ending(name, longest, gap);
  for (const std::size_t from : {found.word, found.number}) {
    const std::size_t taken = (from > 0 ? 2 : 1) + found.end - from;
    if (taken >= longest || 3 * (longest - taken) < longest) continue;
    Characters kept;
    if (from > 0) kept.push_back(gap);
    kept.insert(kept.end(), name.begin() + static_cast<std::ptrdiff_t>(from),
                name.begin() + static_cast<std::ptrdiff_t>(found.end));
    kept.push_back(gap);
    append_end(kept, name, longest - taken);
    return kept;
  }
  return ending(name, longest, gap);
}

}  // namespace

std::vector<std::string> layer_name(const std::vector<std::string>& name, std::size_t longest,
                                    const std::string& gap) {
  if (name.size() <= longest) return name;
  const auto bracket = std::find(name.begin(), name.end(), "[");
  const Characters layer(name.begin(), bracket);
  const Characters part(bracket, name.end());
  const std::size_t left = longest > layer.size() ? longest - layer.size() : 0;
  const std::size_t for_part = std::min(part.size(), std::max(left, longest / 3));
  Characters shortest = end_of_layer(layer, longest - for_part, gap);
  const Characters rest = ending(part, for_part, gap);
  shortest.insert(shortest.end(), rest.begin(), rest.end());
  return shortest;
}

}  // namespace poet
