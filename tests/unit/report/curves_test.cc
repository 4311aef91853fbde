// Panels of curves: what the script says, and that gnuplot draws it.

#include "poet/report/curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poet/report/gnuplot.h"

namespace poet {
namespace {

using testing::HasSubstr;
using testing::Not;

CurvePanels two_panels() {
  CurvePanels panels;
  panels.title = "Energy against RAM";
  panels.x_name = "RAM (MB)";
  panels.y_name = "overhead (%)";
  panels.styles = {
      {"first", "#0072b2", 7, 1, false}, {"second", "#d55e00", 5, 0, true}, {"unused", "#009e73"}};
  panels.panels.push_back({"left", {{0, {{1, 10}, {2, 0}}}, {1, {{1.5, 3}}}}, ""});
  panels.panels.push_back({"right", {}, "no plan holds"});
  return panels;
}

TEST(Curves, HaveTheirPointsInline) {
  const std::string script = curves_script(two_panels(), FigureFormat::svg, "figure");
  EXPECT_THAT(script, HasSubstr("$p0_0 << EOD\n1 10\n2 0\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("$p0_1 << EOD\n1.5 3\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("no plan holds"));
  EXPECT_EQ(script, curves_script(two_panels(), FigureFormat::svg, "figure"));
}

TEST(Curves, LegendHasWhatIsDrawn) {
  const std::string script = curves_script(two_panels(), FigureFormat::svg, "figure");
  EXPECT_THAT(script, HasSubstr("title \"first\""));
  EXPECT_THAT(script, HasSubstr("title \"second\""));
  EXPECT_THAT(script, Not(HasSubstr("unused")));
}

TEST(Curves, ALoneCurveHasNoLegend) {
  CurvePanels panels = two_panels();
  panels.panels[0].curves.pop_back();
  EXPECT_THAT(curves_script(panels, FigureFormat::svg, "figure"), Not(HasSubstr("keyentry")));
}

TEST(Curves, LogarithmicAxisDrawsZeroAtItsEdge) {
  CurvePanels panels = two_panels();
  panels.log_y = true;
  panels.y_floor = 0.01;
  const std::string script = curves_script(panels, FigureFormat::svg, "figure");
  EXPECT_THAT(script, HasSubstr("1 10\n2 0.01\n"));
  EXPECT_THAT(script, HasSubstr("set logscale y"));
  EXPECT_THAT(script, HasSubstr("plot [0.97:2.03][0.01:20]"));
}

TEST(Curves, LogarithmicAxesHaveMarksBetweenPowersOfTen) {
  CurvePanels panels = two_panels();
  panels.log_x = panels.log_y = true;
  panels.y_floor = 1;
  panels.panels[0].curves = {{0, {{1, 4}, {100, 1}}}};
  const std::string script = curves_script(panels, FigureFormat::svg, "figure");
  EXPECT_THAT(script, HasSubstr("set logscale x"));
  EXPECT_THAT(script, HasSubstr("set xtics nomirror (1, 3, 10, 30, 100)\n"));
  EXPECT_THAT(script, HasSubstr("set ytics nomirror (1, 1.5, 2, 3)\n"));
  EXPECT_THAT(script, HasSubstr("plot [0.8333:120][1:4.4]"));
  panels.panels[0].curves = {{0, {{1, 1.3}, {100, 1}}}};
  EXPECT_THAT(curves_script(panels, FigureFormat::svg, "figure"),
              HasSubstr("set ytics nomirror (1, 1.1, 1.2, 1.3)\n"));
}

TEST(Curves, AxisGoesAsFarAsItsPoints) {
  CurvePanels panels = two_panels();
  panels.panels[0].curves = {{0, {{1, 2.3}, {201, 0.4}}}};  // 3% of 200 on either side
  EXPECT_THAT(curves_script(panels, FigureFormat::svg, "f"), HasSubstr("plot [-5:207][*:*]"));
  panels.panels[0].curves = {{0, {{20, 1}}}};  // alone: 10%
  EXPECT_THAT(curves_script(panels, FigureFormat::svg, "f"), HasSubstr("plot [18:22][*:*]"));
}

TEST(Curves, MarksOfTheAxisAreRoundAndFew) {
  CurvePanels panels = two_panels();
  panels.panels[0].curves = {{0, {{40, 1}, {240, 2}}}};  // 200 / 5 = 40: the next of 10, 20, 50, 100
  EXPECT_THAT(curves_script(panels, FigureFormat::svg, "f"), HasSubstr("set xtics nomirror 50\n"));
  panels.panels[0].curves = {{0, {{225, 1}}}};  // alone: 10% on either side, 45 / 5 = 9
  EXPECT_THAT(curves_script(panels, FigureFormat::svg, "f"), HasSubstr("set xtics nomirror 10\n"));
}

TEST(Curves, StepsAreWholeNumbers) {
  CurvePanels panels = two_panels();
  panels.whole_x = true;
  panels.panels[0].curves = {{0, {{1, 2.3}}}};  // one step of training
  std::string script = curves_script(panels, FigureFormat::svg, "f");
  EXPECT_THAT(script, HasSubstr("set xtics nomirror 1\n"));
  EXPECT_THAT(script, HasSubstr("plot [0:2][*:*]"));
  panels.panels[0].curves = {{0, {{1, 2.3}, {3, 2.2}}}};
  EXPECT_THAT(curves_script(panels, FigureFormat::svg, "f"), HasSubstr("set xtics nomirror 1\n"));
}

// Beside its title, numbers and legend a panel is all plot.
TEST(Curves, APanelFillsItsRoom) {
  CurvePanels panels = two_panels();
  panels.panels.pop_back();
  const std::string script = curves_script(panels, FigureFormat::svg, "f");
  // 34 of title and 280 of panel, of which 26 are above the axes and 44 below, and two rows of 17 of legend.
  EXPECT_THAT(script, HasSubstr("svg size 480,348"));
  EXPECT_THAT(script, HasSubstr("set tmargin at screen 0.82759\nset bmargin at screen 0.22414\n"));
}

TEST(Curves, AreDrawn) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  CurvePanels panels = two_panels();
  for (const bool log : {false, true}) {
    panels.log_y = log;
    panels.y_floor = log ? 0.01 : 0;
    const std::string svg = run_gnuplot(curves_script(panels, FigureFormat::svg, "figure"));
    EXPECT_THAT(svg, HasSubstr("</svg>"));
    EXPECT_THAT(svg, HasSubstr("Energy against RAM"));
    EXPECT_THAT(run_gnuplot(curves_script(panels, FigureFormat::png, "figure")), HasSubstr("PNG"));
  }
}

TEST(Curves, WithoutPanelsOrPointsAreDrawnToo) {
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  CurvePanels empty = two_panels();
  empty.panels.erase(empty.panels.begin());
  EXPECT_THAT(run_gnuplot(curves_script(empty, FigureFormat::svg, "figure")), HasSubstr("no plan holds"));
}

}  // namespace
}  // namespace poet
