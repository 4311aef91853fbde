// poet sweep: networks x devices x sizes x budgets x deadlines x methods, into a results store.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/sweep/sweep_page.h"
#include "apps/cli/sweep/sweep_run.h"
#include "apps/shared/amounts.h"
#include "apps/shared/output.h"
#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/study/csv.h"

namespace poet::cli {
namespace {

class Sweep final : public Command {
 public:
  explicit Sweep(CommandLine& program)
      : Command(program.command("sweep",
                                "run methods over networks, devices and limits, and store the results")) {
    parser_.option("SPEC.json", spec_, "sweep specification: a JSON file (docs/formats_sweep.md)", "")
        .required();
    parser_
        .option("--store", store_, "results store, created if missing; points that it has are not rerun",
                "FILE.sqlite")
        .required();
    parser_.option("--csv", csv_,
                   "write all points of the specification as CSV, with those on Pareto curves marked",
                   "FILE.csv");
    parser_.option("-o,--output", page_,
                   "write a page with the curves of every network and device, the table, and the points' "
                   "plans, which the store then keeps",
                   "FILE.html");
    parser_.flag("--plans", plans_, "keep plans in the store; points stored without a plan are rerun");
    parser_.option("--jobs", jobs_, "worker processes (default: one per core; with mpirun the ranks work)",
                   "N");
    parser_.option("--op-limit", op_limit_,
                   "points whose training step has more ops fail (default: no limit)", "N");
    parser_.flag("--retry", retry_, "rerun failed points");
    parser_.flag("--json", json_, "print one JSON object instead of text");
    parser_.flag("--quiet", quiet_, "no progress on stderr");
    parser_.option("--progress-out", progress_out_,
                   "append each finished point's result to this file, one JSON object per line", "FILE");
    parser_.footer(
        "Ctrl-C and crashes lose no finished point: the same command goes on where it stopped.\n"
        "\nExamples:\n"
        "  poet sweep spec.json --store results.sqlite --csv results.csv -o results.html\n"
        "  mpirun -n 4 poet sweep spec.json --store results.sqlite\n"
        "\nExit code: 0 every point has a result, 1 interrupted with points left, 2 bad input, 3 internal "
        "error.");
  }

  int run() override {
    SweepSettings settings{store_, jobs_, retry_, quiet_, progress_out_};
    settings.keep_plans = plans_ || page_.has_value();
    settings.need_plans = plans_;
    if (op_limit_) settings.op_limit = parse_count("--op-limit", *op_limit_);
    std::optional<SweepOutcome> outcome = run_sweep(settings, [this] {
      check_outputs();
      const SweepSpec spec = read_sweep_spec(spec_);
      check_spec(spec);
      return expand(spec);
    });
    if (!outcome) return kAnswer;
    outcome->spec = spec_;
    outcome->csv = csv_;
    outcome->page = page_;
    write_answer(*outcome);
    return points_left(*outcome) == 0 ? kAnswer : kNoAnswer;
  }

 private:
  void check_outputs() const {
    namespace fs = std::filesystem;
    if (page_) check_page("-o", *page_);
    std::vector<std::pair<std::string, fs::path>> files = {{"--store", store_}};
    if (csv_) files.emplace_back("--csv", *csv_);
    if (page_) files.emplace_back("-o", *page_);
    if (csv_) check_writable("--csv", *csv_);
    for (std::size_t i = 0; i < files.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (fs::weakly_canonical(files[i].second) == fs::weakly_canonical(files[j].second))
          throw InputError(files[i].first, "must name another file than " + files[j].first);
  }

  void write_answer(const SweepOutcome& outcome) const {
    if (csv_ || page_) {
      const std::vector<SweepResult> results = results_of(outcome);
      const std::string csv = csv_text(results, pareto_flags(results));
      if (csv_) write_file(*csv_, csv);
      if (page_) write_file(*page_, sweep_page(outcome, csv));
    }
    if (json_)
      print_answer(sweep_json(outcome));
    else
      print_text(sweep_text(outcome));
  }

  std::string spec_;
  std::string store_;
  std::optional<std::string> csv_, page_, jobs_, progress_out_, op_limit_;
  bool plans_ = false;
  bool retry_ = false;
  bool json_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sweep(CommandLine& program) { return std::make_unique<Sweep>(program); }

}  // namespace poet::cli
