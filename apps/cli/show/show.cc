// poet show: pictures of a plan or a schedule, as the verifier saw it: a page, a figure, or text.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/command.h"
#include "apps/shared/activity.h"
#include "apps/shared/amounts.h"
#include "apps/shared/option_names.h"
#include "apps/shared/output.h"
#include "apps/shared/terminal.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/cost/json_reader.h"
#include "poet/report/figure.h"
#include "poet/report/history.h"
#include "poet/report/html.h"
#include "poet/report/loaded_plan.h"
#include "poet/report/picture.h"
#include "poet/report/picture_json.h"
#include "poet/report/text.h"

namespace poet::cli {
namespace {

namespace fs = std::filesystem;

bool has_unicode_terminal() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string locale(value);
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

/// As wide as the terminal, within what the text allows and what can be taken in.
int text_width() { return std::min(terminal_width(stdout).value_or(100), 200); }

class Show final : public Command {
 public:
  explicit Show(CommandLine& program)
      : Command(program.command("show", "draw a plan: compute, transfers and RAM over time")) {
    parser_
        .option("FILE", files_,
                "plan or schedule file (poet solve writes both); several files go on one page", "")
        .required();
    parser_.option("-o", output_,
                   "output file: a page (.html), a figure (.svg, .png, .pdf), its gnuplot script (.gp) or "
                   "the page's data (.json) (default: text on stdout)",
                   "FILE");
    parser_.option("--ram-budget", ram_,
                   "of a file with several plans, use the largest within this budget (default: all plans)",
                   "BYTES");
    parser_.flag("--text", text_, "also print text");
    parser_
        .option("--axis", axis_,
                "horizontal axis of figures and text: time, or step, where all ops are equally wide",
                "time|step")
        .one_of({"time", "step"});
    parser_
        .option("--semantics", semantics_, "check a schedule by these rules instead of its own",
                "published|staged|device")
        .one_of({"published", "staged", "device"});
    parser_.flag("--all", all_, "in text, list every deviation from keeping all values");
    parser_.footer(
        "Exit code: 0 valid, 1 invalid (drawn as far as it goes), 2 unreadable or bad option, 3 internal "
        "error.");
  }

  int run() override {
    check_options();
    const std::optional<Bytes> ram = ram_ ? std::optional(parse_bytes("--ram-budget", *ram_)) : std::nullopt;
    std::vector<Picture> pictures;
    std::vector<std::string> names;
    for (const std::string& file : files_) {
      const Activity activity("reading and replaying " + file);
      for (LoadedPlan& plan : load_plans(file, semantics(), ram)) {
        if (names.empty()) set_byte_units(plan.units);
        names.push_back(std::move(plan.name));
        pictures.push_back(std::move(plan.picture));
      }
    }
    if (output_ && pictures.size() > 1 && is_figure(*output_))
      throw InputError("-o", fmt::format("a figure shows one plan, not {}; .html shows several, --ram-budget "
                                         "chooses one of a file",
                                         pictures.size()));
    if (output_) {
      const Activity activity("drawing " + *output_);
      draw(pictures);
    }
    std::string answer;
    bool invalid = false;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const std::string wrong = breach_of(pictures[i]);
      invalid = invalid || !wrong.empty();
      if (text_ || !output_) {
        answer += (i > 0 ? "\n" : "") + with_option_names(picture_text(pictures[i], text_options()));
      } else if (!wrong.empty()) {
        answer += fmt::format("{}: invalid, drawn as far as it goes: {}\n", names[i], wrong);
      }
    }
    if (output_) answer += (text_ ? "\n" : "") + fmt::format("{:<14}{}\n", what_is_drawn(), *output_);
    print_answer(answer);
    return invalid ? kNoAnswer : kAnswer;
  }

 private:
  void check_options() const {
    if (!output_) return;
    const fs::path path(*output_);
    if (path.extension() != ".html" && path.extension() != ".json" && !is_figure(path)) {
      throw InputError("-o",
                       fmt::format("\"{}\" must end in .html, .svg, .png, .pdf, .gp or .json", *output_));
    }
    if (files_.size() > 1 && is_figure(path)) {
      throw InputError("-o",
                       fmt::format("a figure shows one plan, not {}; .html shows several", files_.size()));
    }
    check_writable("-o", *output_);
  }

  void draw(const std::vector<Picture>& pictures) const {
    if (is_figure(*output_)) {
      write_figure(pictures.front(), axis(), *output_);
    } else if (fs::path(*output_).extension() == ".json") {
      nlohmann::ordered_json list = nlohmann::ordered_json::array();
      for (const Picture& picture : pictures) list.push_back(picture_json(picture));
      write_file(*output_, json_text(list) + "\n");
    } else {
      write_file(*output_, html_page(pictures));
    }
  }

  [[nodiscard]] const char* what_is_drawn() const {
    if (is_figure(*output_)) return "Figure";
    return fs::path(*output_).extension() == ".json" ? "Data" : "Page";
  }

  [[nodiscard]] Axis axis() const { return axis_ == "step" ? Axis::step : Axis::time; }

  [[nodiscard]] std::optional<Semantics> semantics() const {
    for (const Semantics one : kAllSemantics) {
      if (semantics_ == to_string(one)) return one;
    }
    return std::nullopt;
  }

  [[nodiscard]] TextOptions text_options() const {
    return {text_width(), has_unicode_terminal(), all_, axis()};
  }

  std::vector<std::string> files_;
  std::optional<std::string> output_, ram_;
  std::string axis_ = "time";
  std::string semantics_;
  bool text_ = false;
  bool all_ = false;
};

}  // namespace

std::unique_ptr<Command> make_show(CommandLine& program) { return std::make_unique<Show>(program); }

}  // namespace poet::cli
