#include "poet/pipeline/names.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "poet/base/parse_amounts.h"
#include "poet/base/text.h"

namespace poet {

Semantics semantics_named(const std::string& place, const std::string& text) {
  return choose<Semantics>(
      place, text,
      {{"device", Semantics::device}, {"staged", Semantics::staged}, {"published", Semantics::published}});
}

PersistentPolicy persistent_policy_named(const std::string& place, const std::string& text) {
  if (same_name(text, "counted")) return PersistentPolicy::resident;  // its name in older sweeps
  return choose<PersistentPolicy>(place, text,
                                  {{"auto", PersistentPolicy::automatic},
                                   {"resident", PersistentPolicy::resident},
                                   {"excluded", PersistentPolicy::excluded}});
}

Optimizer optimizer_named(const std::string& place, const std::string& text) {
  return choose<Optimizer>(place, text,
                           {{"sgd", Optimizer::sgd},
                            {"momentum", Optimizer::momentum},
                            {"adam", Optimizer::adam},
                            {"adamw", Optimizer::adamw}});
}

Precision precision_named(const std::string& place, const std::string& text) {
  return choose<Precision>(place, text,
                           {{to_string(Precision::float32), Precision::float32},
                            {to_string(Precision::bfloat16_mixed), Precision::bfloat16_mixed}});
}

Loss loss_named(const std::string& place, const std::string& text) {
  return choose<Loss>(place, text,
                      {{"cross-entropy", Loss::cross_entropy},
                       {"mse", Loss::mean_squared_error},
                       {"l1", Loss::absolute_error},
                       {"huber", Loss::huber},
                       {"bce", Loss::binary_cross_entropy},
                       {"bce-with-logits", Loss::binary_cross_entropy_with_logits},
                       {"none", Loss::none}});
}

std::map<std::string, double> input_values_of(const std::string& place,
                                              const std::vector<std::string>& texts) {
  std::map<std::string, double> values;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    double number = 0;
    const char* end = text.data() + text.size();
    bool is_number = equals != std::string::npos && equals > 0;
    if (is_number) {
      const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, number);
      is_number = error == std::errc() && stop == end && std::isfinite(number);
    }
    if (!is_number) throw InputError(place, fmt::format("\"{}\" is not NAME=NUMBER", text));
    if (!values.emplace(text.substr(0, equals), number).second)
      throw InputError(place, fmt::format("two numbers for \"{}\"", text.substr(0, equals)));
  }
  return values;
}

std::map<std::string, Shape> input_shapes_of(const std::string& place,
                                             const std::vector<std::string>& texts) {
  std::map<std::string, Shape> shapes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError(place, fmt::format("\"{}\" is not NAME=1x3x224x224", text));
    Shape shape;
    for (const std::string& size : pieces_of(text.substr(equals + 1), 'x'))
      shape.push_back(parse_count(place, size));
    if (shape.empty()) throw InputError(place, fmt::format("\"{}\" gives no sizes", text));
    if (!shapes.emplace(text.substr(0, equals), shape).second)
      throw InputError(place, fmt::format("two shapes for \"{}\"", text.substr(0, equals)));
  }
  return shapes;
}

}  // namespace poet
