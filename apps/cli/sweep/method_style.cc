#include "apps/cli/sweep/method_style.h"

#include <map>
#include <string_view>

#include "poet/report/palette.h"

namespace poet::cli {

CurveStyle style_of(const Method& method) {
  struct Look {
    const char* colour;
    int marker;
    double width;
    bool dashed;
  };
  static const std::map<std::string_view, Look> table = {
      {"checkpoint-all", {"#000000", 3, 1.2, false}},
      {"revolve", {kGrey, 2, 1.2, true}},
      {"chen-sqrt", {kOrange, 8, 1.2, true}},
      {"chen-greedy", {kOrange, 9, 1.2, false}},
      {"checkmate", {kBlue, 5, 1.2, false}},
      {"checkmate-lp", {kBlue, 4, 1.2, true}},
      {"checkmate-random", {kBlue, 12, 1.2, true}},
      {"dtr", {kGreen, 7, 1.2, false}},
      {"dtr-eq", {kGreen, 6, 1.2, true}},
      {"dtr-local", {kGreen, 10, 1.2, true}},
      {"capuchin", {kPurple, 13, 1.2, false}},
      {"rotor", {kSky, 3, 1.2, true}},
      {"pofo", {kSky, 11, 1.2, false}},
      {"pofo-blocking", {kSky, 10, 1.2, true}},
      {"poet-no-paging", {kVermilion, 8, 1.2, true}},
      {"poet-no-remat", {kVermilion, 4, 1.2, true}},
      {"poet", {kVermilion, 7, 2.4, false}},
  };
  const auto found = table.find(method.name);
  const Look look = found != table.end() ? found->second : Look{kYellow, 1, 1.2, false};
  return {std::string(method.title), look.colour, look.marker, look.width, look.dashed};
}

}  // namespace poet::cli
