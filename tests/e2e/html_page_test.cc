// The page in a browser: headless Chromium draws it, and the document afterwards says what came of it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/plan/schedule/keep_all.h"
#include "poet/plan/schedule/linearise.h"
#include "poet/report/html.h"
#include "tests/support/program.h"
#include "tests/support/random_training_graph.h"
#include "tests/support/small_pictures.h"

namespace poet {
namespace {

std::string in_path(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  for (const std::string& name : names) {
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');)
      if (access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
  }
  return {};
}

Picture chain_picture(const Schedule& schedule, std::int64_t ram) {
  return test::picture_of_schedule(test::chain(), schedule, test::ram(ram), "chain");
}

class HtmlPageInBrowser : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("POET_DATA_DIR");
    browser_ = in_path({"chromium", "chromium-browser", "google-chrome"});
    if (browser_.empty()) GTEST_SKIP() << "no Chromium in PATH";
    try {
      (void)html_page({chain_picture(test::chain_recomputing(), 30)});
    } catch (const InputError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  /// The document after the page has been drawn; `script` runs then.
  std::string drawn(const std::vector<Picture>& pictures, const std::string& address = "",
                    const std::string& script = "") {
    std::string page = html_page(pictures);
    page.insert(page.rfind("</body>"),
                "<script>addEventListener('load', () => setTimeout(() => {" + script + "}, 3000))</script>");
    const std::string file = folder_.write("page.html", page);
    const test::ProgramRun run = test::run_command(
        {browser_, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--user-data-dir=" + folder_.file("profile"), "--window-size=1280,2400",
         "--virtual-time-budget=10000", "--dump-dom", "file://" + file + address});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.out;
  }

  std::string browser_;
  test::TemporaryFolder folder_;
};

/// The start tag of the body, where the page leaves word of itself.
std::string body_tag(const std::string& document) {
  const std::size_t from = document.find("<body");
  if (from == std::string::npos) return {};
  return document.substr(from, document.find('>', from) - from);
}

void expect_drawn(const std::string& document, int charts, const std::string& axis) {
  const std::string body = body_tag(document);
  EXPECT_NE(body.find("data-ready=\"yes\""), std::string::npos) << body;
  EXPECT_NE(body.find("data-charts=\"" + std::to_string(charts) + "\""), std::string::npos) << body;
  EXPECT_NE(body.find("data-axis=\"" + axis + "\""), std::string::npos) << body;
  EXPECT_EQ(body.find("data-error"), std::string::npos) << body;
}

/// Points at every item of every chart, so that every tooltip is made.
const std::string kEveryTooltip = R"(
  for (const { chart } of board.drawn) {
    chart.getOption().series.forEach((series, seriesIndex) => {
      const { rects = [null], point = () => {} } = series.renderItem ?? {};
      rects.forEach((rect) => {
        point(rect);
        (series.data ?? []).forEach((_, dataIndex) => chart.dispatchAction({ type: 'showTip', seriesIndex, dataIndex }));
      });
    });
    chart.dispatchAction({ type: 'showTip', x: 400, y: 100 });
  }
  document.body.dataset.tips = document.querySelectorAll('figure table').length;)";

TEST_F(HtmlPageInBrowser, DrawsAPlan) {
  const std::string document = drawn({chain_picture(test::chain_recomputing(), 30)}, "", kEveryTooltip);
  expect_drawn(document, 5, "time");
  EXPECT_NE(document.find("Peak 30 B at b, 100% of the budget of 30 B."), std::string::npos);
  EXPECT_NE(document.find("Compute: 80% first computations, 20% recomputations, 0% waiting."),
            std::string::npos);
  EXPECT_NE(document.find("<strong>✓ Valid. </strong>"), std::string::npos);
  EXPECT_EQ(document.find("<strong>✗"), std::string::npos);
  EXPECT_EQ(body_tag(document).find("data-tips=\"0\""), std::string::npos);
}

// b, 20 bytes, and a, 10, which is coming back, are 30: c adds 5 while it runs.
TEST_F(HtmlPageInBrowser, SaysByHowMuchABudgetIsExceeded) {
  const std::string document = drawn({chain_picture(test::chain_paging(), 30)}, "", kEveryTooltip);
  expect_drawn(document, 5, "time");
  EXPECT_NE(document.find("<strong>✗ Over the limits. </strong>"), std::string::npos);
  EXPECT_NE(document.find("<div>Over the budget in 1 step, by up to 5 B (16.7%).</div>"), std::string::npos)
      << document.substr(document.find("<div class=\"verdict"), 400);
  EXPECT_EQ(document.find(">The verifier stopped"), std::string::npos);
}

// The search proved a bound under the limits, which this plan breaks.
TEST_F(HtmlPageInBrowser, ClaimsNothingOfAPlanOverItsLimits) {
  Picture picture = chain_picture(test::chain_paging(), 30);
  picture.plan.made = Made{"poet 0.1.0", "poet solve", "feasible", Joules(1)};
  const std::string document = drawn({picture});
  EXPECT_NE(document.find("Over the limits: nothing is proven of this plan."), std::string::npos);
  EXPECT_EQ(document.find("no plan needs less than 1 J"), std::string::npos);
}

// As the command did that made the plan.
TEST_F(HtmlPageInBrowser, TellsBytesInTheUnitsOfThePlan) {
  Picture picture = chain_picture(test::chain_recomputing(), 99999);
  EXPECT_NE(drawn({picture}).find("100 KB (budget)"), std::string::npos);
  picture.plan.made = Made{"poet 0.1.0", "poet solve", "feasible"};
  picture.plan.made->binary_units = true;
  EXPECT_NE(drawn({picture}).find("97.66 KiB (budget)"), std::string::npos);
}

// The classes add up to the RAM in use, also where a result is written over its operand.
TEST_F(HtmlPageInBrowser, StacksAllOfTheRam) {
  const std::string script = R"(
    const { stacked } = modules["stack.js"];
    const sums = board.models.map((model) => {
      const { boxes, bands } = stacked(model);
      const { steps } = model;
      return steps.filter((step, s) => {
        const box = boxes.filter((one) => one.s0 <= s && s < one.s1).reduce((sum, one) => sum + one.high - one.low, 0);
        const band = bands.reduce((sum, one) => sum + one.high[s] - one.low[s], 0);
        return step.t1 > step.t0 && model.persistent + box + band !== step.ram;
      }).length;
    });
    document.body.dataset.sums = sums.join();)";
  test::RandomTrainingGraphOptions options;
  options.ops = 400;
  const Instance instance = test::random_training_graph(1, options);
  Limits limits;
  limits.ram_budget = replay_keep_all(instance, Semantics::device).peak_ram;
  const std::string body =
      body_tag(drawn({chain_picture(test::chain_recomputing(), 30),
                      test::picture_of_schedule(instance, keep_all_schedule(instance.graph), limits, "many")},
                     "", script));
  EXPECT_NE(body.find("data-sums=\"0,0\""), std::string::npos) << body;
}

// Of steps that share a pixel the highest; a peak without duration takes no more than its pixel from the step
// after it.
TEST_F(HtmlPageInBrowser, DrawsTheHighestStepOfAPixel) {
  const std::string script = R"(
    const { columnsOf } = modules["columns.js"];
    const spans = [[0, 2, 5], [2, 2, 9], [2, 4, 3], [4, 4.02, 1], [4.02, 4.04, 7], [4.04, 10, 2]]
        .map(([x0, x1, ram], s) => ({ x0, x1, s, ram }));
    const columns = columnsOf(spans, { map: { sx: 10, ox: 0 }, frame: { x: 0, width: 100 } });
    document.body.dataset.columns = columns.map(({ left, right, ram }) => `${left}-${right}:${ram}`).join(' ');)";
  const std::string body = body_tag(drawn({chain_picture(test::chain_recomputing(), 30)}, "", script));
  EXPECT_NE(body.find("data-columns=\"0-20:5 20-21:9 21-40:3 40-41:7 41-100:2\""), std::string::npos) << body;
}

TEST_F(HtmlPageInBrowser, KnowsWhatIsOnStorage) {
  Plan plan = linearise(test::chain(), test::chain_paging(), Semantics::device);
  ASSERT_EQ(plan.steps[5].kind, StepKind::page_in);
  std::swap(plan.steps[5], plan.steps[6]);  // c, from 2 s to 3 s, comes first
  const std::string document =
      drawn({test::picture_of_plan(test::chain(), plan, test::ram(100), "later")}, "",
            kEveryTooltip +
                "document.body.dataset.stored = board.models[0].stored.map((one) => "
                "`${one.value} ${one.t0} ${one.t1} ${one.s0 < one.s1}`).join()");
  expect_drawn(document, 5, "time");
  EXPECT_NE(body_tag(document).find("data-stored=\"0 2 3 true\""), std::string::npos) << body_tag(document);
}

TEST_F(HtmlPageInBrowser, SaysWhatTheRamBought) {
  const std::string document = drawn({chain_picture(test::chain_recomputing(), 30)});
  EXPECT_NE(document.find("35 B of RAM with everything kept become 30 B, for 25% more energy and 25% more "
                          "time a step."),
            std::string::npos);
}

// A link leads to a tensor: what became of it, why, and what else would have cost.
TEST_F(HtmlPageInBrowser, KnowsWhyATensorIsRecomputed) {
  const Picture picture = chain_picture(test::chain_recomputing(), 30);
  const std::string document = drawn({picture}, "#tensor=a");
  expect_drawn(document, 5, "time");
  const std::string inspector = document.substr(document.find("<aside id=\"inspector\""), 2000);
  EXPECT_EQ(inspector.find("hidden"), std::string::npos);
  for (const char* said : {"<h2>a</h2>", "Recomputed: recomputing is 3.5x cheaper.", "7 J, 700 mJ per byte",
                           "2 J, 200 mJ per byte", "3 s: computed again, in RAM for 2 s"})
    EXPECT_NE(inspector.find(said), std::string::npos) << said << inspector;
  EXPECT_NE(drawn({picture}, "#tensor=nobody").find("aria-label=\"The selected tensor\" hidden"),
            std::string::npos);
}

// Its parameter has a chart of its own, with loads and what goes home in colours of their own.
TEST_F(HtmlPageInBrowser, DrawsParametersOnStorage) {
  const std::string document = drawn({test::picture_at_home()}, "", kEveryTooltip);
  expect_drawn(document, 6, "time");
  EXPECT_NE(document.find("1 parameter (10 B) on storage, at most 10 B in RAM at a time: 1 load of 10 B, 1 "
                          "update of 10 B written home."),
            std::string::npos);
  EXPECT_NE(document.find("3 ops against time: 0 recomputations, 0 page-outs, 0 page-ins; those of "
                          "parameters are below."),
            std::string::npos);
  EXPECT_NE(document.find("page in: parameters"), std::string::npos);
  EXPECT_EQ(body_tag(document).find("data-tips=\"0\""), std::string::npos);
  // Beside a plan without any: a chart for each, which says so.
  const std::string both =
      drawn({test::picture_at_home(), chain_picture(test::chain_paging(), 100)}, "", kEveryTooltip);
  expect_drawn(both, 11, "time");
  EXPECT_NE(both.find("Every parameter is in RAM from step to step."), std::string::npos);
}

TEST_F(HtmlPageInBrowser, DrawsStepNumbersAndAPart) {
  expect_drawn(drawn({chain_picture(test::chain_paging(), 100)}, "#axis=step&zoom=20-60", kEveryTooltip), 5,
               "step");
}

// The page's amounts are printed by its own script.
TEST_F(HtmlPageInBrowser, AmountsReadAsElsewhere) {
  std::string expected;
  std::string numbers;
  for (const double number :
       {0.0, 1.0, 999.0, 9999.0, 10000.0, 99995.0, 123456.0, 999950.0, 999960.0, 1e6, 2645283.0, 1048576.0,
        9.9995e8, 1e9, 5e12, 15625.0, 435000.0, 10405.0, 10415.0}) {
    const Bytes bytes(static_cast<std::int64_t>(number));
    numbers += fmt::format("{},", number);
    expected += format_bytes(bytes) + ";" + format_count(bytes.value()) + ";";
    for (const double scale : {1e-12, 1e-9, 3.7e-7, 1e-3, 1.0}) {
      expected += format_joules(Joules(number * scale)) + ";" + format_seconds(Seconds(number * scale)) +
                  ";" + format_percent(number * scale) + ";";
    }
  }
  const std::string script = R"(
    const { bytes, count, joules, percent, seconds } = modules["amounts.js"];
    let text = "";
    for (const n of [)" + numbers +
                             R"(]) {
      text += bytes(n) + ";" + count(n) + ";";
      for (const scale of [1e-12, 1e-9, 3.7e-7, 1e-3, 1])
        text += joules(n * scale) + ";" + seconds(n * scale) + ";" + percent(n * scale) + ";";
    }
    document.body.append(Object.assign(document.createElement('pre'), { id: 'amounts', textContent: text }));)";
  const std::string document = drawn({chain_picture(test::chain_recomputing(), 30)}, "", script);
  const std::size_t from = document.find("<pre id=\"amounts\">") + 18;
  std::string text = document.substr(from, document.find("</pre>", from) - from);
  for (std::size_t at = 0; (at = text.find("&lt;")) != std::string::npos;) text.replace(at, 4, "<");
  EXPECT_EQ(text, expected);
}

// Zooming one chart zooms all, and a moment is at the same place in each.
TEST_F(HtmlPageInBrowser, ChartsShareTheirAxis) {
  const std::string script = R"(
    board.drawn.find(({ chart }) => chart.getOption().dataZoom.some(({ id }) => id === 'x-slider'))
        .chart.dispatchAction({ type: 'dataZoom', dataZoomId: 'x-slider', start: 20, end: 60 });
    setTimeout(() => {
      const places = board.drawn.filter((one) => one.linked)
          .map(({ chart }) => [1, 2, 3].map((x) => chart.convertToPixel({ xAxisIndex: 0 }, x).toFixed(1)).join(' '));
      document.body.dataset.places = new Set(places).size;
      document.body.dataset.shown = document.getElementById('shown').textContent;
    }, 500);)";
  const std::string body = body_tag(drawn({chain_picture(test::chain_recomputing(), 30)}, "", script));
  EXPECT_NE(body.find("data-places=\"1\""), std::string::npos) << body;
  EXPECT_NE(body.find("data-shown=\"shown: 1 s to 3 s\""), std::string::npos) << body;
}

TEST_F(HtmlPageInBrowser, SeveralPlansAndWhatIsInvalid) {
  const std::string document =
      drawn({chain_picture(test::chain_recomputing(), 30), chain_picture(test::chain_paging(), 30)});
  expect_drawn(document, 9, "time");
  EXPECT_NE(document.find("<strong>✓ Valid. </strong>"), std::string::npos);
  EXPECT_NE(document.find("<strong>✗ Over the limits. </strong>"), std::string::npos);
  EXPECT_NE(document.find("role=\"alert\""), std::string::npos);
}

TEST_F(HtmlPageInBrowser, PlansWithNothingToDraw) {
  expect_drawn(
      drawn({test::picture_of_plan(test::chain(), Plan(), test::ram(30), "no steps")}, "", kEveryTooltip), 4,
      "time");
}

// Nothing that a name says is carried out, neither at once nor in a tooltip.
TEST_F(HtmlPageInBrowser, NamesStayText) {
  const std::string hostile = "</script><img src=x onerror=\"document.body.dataset.obeyed=1\">";
  Graph graph;
  const ValueId a = test::add_node(graph, hostile, {}, 10);
  test::add_node(graph, "b" + hostile, {a}, 20);
  Plan plan;
  plan.steps = {{StepKind::compute, OpId(0), ValueId()}, {StepKind::compute, OpId(1), ValueId()}};
  const std::string document =
      drawn({test::picture_of_plan(test::instance_of(std::move(graph)), plan, test::ram(30), hostile)}, "",
            kEveryTooltip);
  expect_drawn(document, 5, "time");
  EXPECT_EQ(body_tag(document).find("data-obeyed"), std::string::npos);
}

TEST_F(HtmlPageInBrowser, AThousandOps) {
  test::RandomTrainingGraphOptions options;
  options.ops = 1000;
  const Instance instance = test::random_training_graph(1, options);
  Limits limits;
  limits.ram_budget = replay_keep_all(instance, Semantics::device).peak_ram;
  expect_drawn(
      drawn({test::picture_of_schedule(instance, keep_all_schedule(instance.graph), limits, "1,000 ops")}), 5,
      "time");
}

}  // namespace
}  // namespace poet
