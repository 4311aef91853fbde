// poet reproduce: the paper's evaluation, from its published instances and from corrected ones.

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/reproduce/curve_data.h"
#include "apps/cli/reproduce/deadline_points.h"
#include "apps/cli/reproduce/html.h"
#include "apps/cli/reproduce/section.h"
#include "apps/cli/reproduce/studies.h"
#include "apps/cli/sweep/sweep_run.h"
#include "apps/shared/output.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/this_poet.h"
#include "poet/base/write_file.h"
#include "poet/report/gnuplot.h"
#include "poet/report/minute.h"
#include "poet/report/table.h"
#include "poet/study/csv.h"

namespace poet::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMethod =
    "Each point is a method's plan on one instance and RAM budget; "
    "the verifier, which shares nothing with the methods, replayed every plan step by step, "
    "and all figures are its own. Points within the limits only are drawn. "
    "results.csv has every point with its gap, results.sqlite the same; "
    "the sweeps are data/reproduction/*.json, and poet sweep runs each of them alone.";

/// How many points there are, and what is proven of POET's.
std::string points_text(const std::vector<SweepResult>& results) {
  std::size_t held = 0;
  std::size_t poets = 0;
  std::size_t proven = 0;
  for (const SweepResult& result : results) {
    if (!holds(result)) continue;
    ++held;
    if (result.method != "poet") continue;
    ++poets;
    proven += result.gap && *result.gap <= result.gap_wanted ? 1 : 0;
  }
  const auto number = [](std::size_t count) { return format_count(static_cast<std::int64_t>(count)); };
  return fmt::format(
      "{} points: {} plans within their limits, {} of them POET's, "
      "of which {} are proven to be within the gap that was asked for.",
      number(results.size()), number(held), number(poets), number(proven));
}

class Reproduce final : public Command {
 public:
  explicit Reproduce(CommandLine& program)
      : Command(program.command("reproduce", "reproduce the paper's evaluation, next to its numbers")) {
    parser_.option("-o,--output", folder_, "folder for report, figures and results; created if missing",
                   "DIR");
    parser_.flag("--quick", quick_, "only a few points of each figure (about 3 minutes)");
    parser_.option("--jobs", jobs_, "worker processes (default: one per core; with mpirun the ranks work)",
                   "N");
    parser_.flag("--retry", retry_, "rerun failed points");
    parser_.flag("--quiet", quiet_, "no progress on stderr");
    parser_.footer(
        "Writes DIR/report.html, the figures as CSV, SVG and PNG (with gnuplot), results.csv, "
        "results.sqlite.\n"
        "Ctrl-C loses no finished point: the same command goes on where it stopped.\n"
        "\nExit code: 0 done, 1 interrupted, 2 bad input, 3 internal error.");
  }

  int run() override {
    if (!folder_) throw InputError("-o", "is needed: the folder for the report");
    const fs::path folder = *folder_;
    make_folder(folder);
    std::vector<Study> studies = read_studies(quick_);
    const SweepSettings settings{(folder / "results.sqlite").string(), jobs_, retry_, quiet_, {}};
    std::optional<SweepOutcome> outcome = run_sweep(settings, [&] { return points_of(studies); });
    if (!outcome) return kAnswer;
    if (points_left(*outcome) > 0) return interrupted(*outcome);
    std::vector<SweepResult> results = results_of(*outcome);
    distribute(results, studies);
    // What Table 3 asks POET for is known only now.
    Study in_time{kTable3InTime, {}, {}};
    for (const Study& study : studies)
      if (study.name == kTable3) in_time.points = deadline_points(study.points, study.results);
    SweepSettings more = settings;
    more.here = true;
    outcome = run_sweep(more, [&] { return in_time.points; });
    if (points_left(*outcome) > 0) return interrupted(*outcome);
    in_time.results = results_of(*outcome);
    results.insert(results.end(), in_time.results.begin(), in_time.results.end());
    studies.push_back(std::move(in_time));
    write_file(folder / "results.csv", csv_text(results, pareto_flags(results)));
    const std::vector<Section> report = sections(studies, quick_ ? Budgets::few : Budgets::all);
    if (has_gnuplot()) draw(report, folder);
    write_data(report, folder);
    const std::string title =
        quick_ ? "POET's evaluation, reproduced (quick)" : "POET's evaluation, reproduced";
    const std::string made = fmt::format("Made by {} on {}: poet reproduce{}.", this_poet(),
                                         minute_text(std::time(nullptr)), quick_ ? " --quick" : "");
    write_file(folder / "report.html",
               report_html({title, made, points_text(results), kMethod}, report, folder));
    print_text(summary(report, results, folder));
    return kAnswer;
  }

 private:
  static void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder))
      throw InputError("-o", fmt::format("\"{}\" is not a folder and cannot be created", folder.string()));
  }

  static int interrupted(const SweepOutcome& outcome) {
    print_answer(fmt::format("Interrupted; rerun the same command to continue ({} points left).\n",
                             points_left(outcome)));
    return kNoAnswer;
  }

  static void draw(const std::vector<Section>& report, const fs::path& folder) {
    for (const Section& section : report)
      for (const NamedFigure& figure : section.figures)
        for (const char* extension : {".svg", ".png"})
          write_curves(figure.panels, folder / (figure.file + extension));
  }

  static void write_data(const std::vector<Section>& report, const fs::path& folder) {
    for (const Section& section : report)
      for (const NamedFigure& figure : section.figures)
        write_file(folder / (figure.file + ".csv"), curves_csv(figure.panels));
  }

  [[nodiscard]] static std::string summary(const std::vector<Section>& report,
                                           const std::vector<SweepResult>& results, const fs::path& folder) {
    std::string text;
    ClaimCounts counts;
    for (const Section& section : report) {
      if (section.claims.empty()) continue;
      text += section.title + "\n";
      Table table({{"", Align::left}, {"paper", Align::left}, {"here", Align::left}});
      for (const Claim& claim : section.claims) {
        count_claim(claim, counts);
        table.add({claim.what, claim.paper, finding_words(finding_of(claim))});
        for (const Trial& trial : claim.trials) table.add({"  " + trial.where, "", trial.here});
      }
      text += table.text(2, 110) + "\n";
    }
    text += "Claims        " + counts_text(counts) + "\n";
    std::size_t failed = 0;
    for (const SweepResult& result : results) failed += result.verdict == kFailed ? 1 : 0;
    text += fmt::format("Points        {}{}\n", format_count(static_cast<std::int64_t>(results.size())),
                        failed > 0 ? fmt::format(", {} failed (results.csv says why; --retry)", failed) : "");
    if (!has_gnuplot())
      text += "Figures       none: gnuplot is not installed (apt-get install gnuplot-nox)\n";
    text += fmt::format("Report        {}\n", (folder / "report.html").string());
    return text;
  }

  std::optional<std::string> folder_, jobs_;
  bool quick_ = false;
  bool retry_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_reproduce(CommandLine& program) { return std::make_unique<Reproduce>(program); }

}  // namespace poet::cli
