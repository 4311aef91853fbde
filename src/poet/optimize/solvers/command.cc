#include "poet/optimize/solvers/command.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <utility>

#include "poet/base/error.h"
#include "poet/base/process/program.h"
#include "poet/base/temporary_folder.h"
#include "poet/base/time_shares.h"
#include "poet/optimize/solvers/mps.h"

namespace poet {
namespace {

const Field kField{"file.command"};

std::string quoted(const std::string& text) {
  std::string out;
  out += '\'';
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  out += '\'';
  return out;
}

// Replaces all occurrences. Returns whether there was one.
bool replace_all(std::string& text, const std::string& what, const std::string& by) {
  bool any = false;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
    any = true;
  }
  return any;
}

}  // namespace

std::string expand_command(const std::string& command, const std::string& mps, const std::string& solution,
                           double seconds) {
  std::string text = command;
  // {seconds} first, so that file names are not expanded.
  replace_all(text, "{seconds}", std::to_string(std::lround(std::floor(std::clamp(seconds, 1.0, 1e9)))));
  const bool has_solution = text.find("{solution}") != std::string::npos;
  const bool has_mps = text.find("{mps}") != std::string::npos;
  if (!has_mps || !has_solution)
    throw InputError(kField, "must say where the files go: {mps} and {solution}");
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, 5, "{mps}") == 0) {
      out += quoted(mps);
      at += 5;
    } else if (text.compare(at, 10, "{solution}") == 0) {
      out += quoted(solution);
      at += 10;
    } else {
      out += text[at++];
    }
  }
  return out;
}

SolutionFile ask_command(const Model& model, const ColumnNames& names,
                         const std::vector<std::string>& comments, const FileSolver& files,
                         double time_limit_seconds, const std::function<bool()>& keep_going) {
  const TemporaryFolder folder(kField.name);
  const std::string mps = files.mps.empty() ? (folder.path() / "model.mps").string() : files.mps;
  const std::string solution =
      files.solution.empty() ? (folder.path() / "model.sol").string() : files.solution;
  const double solving = kShares.external_solver * time_limit_seconds;
  const std::string command = expand_command(files.command, mps, solution, solving);
  write_mps_file(mps, model, names, comments);
  std::error_code ignored;
  std::filesystem::remove(solution, ignored);  // a stale solution must not be read
  ProgramCall shell;
  shell.arguments = {"/bin/sh", "-c", command};
  const ChildEnd end = run_program(shell, time_limit_seconds, keep_going);
  const bool stopped = end.how == ChildEnd::How::stopped;
  std::ifstream in(solution);
  if (!in) {
    if (stopped) return {};
    throw InputError(kField, "wrote no solution file; its exit code is " + std::to_string(end.exit_code));
  }
  try {
    return read_solution(in, names, solution);
  } catch (const InputError&) {
    if (stopped) return {};  // the file may be incomplete
    throw;
  }
}

MipResult solve_by_command(const Model& model, const MipOptions& options) {
  const auto keep_going = [&] { return !options.keep_going || options.keep_going(kInfinity, -kInfinity); };
  SolutionFile answer =
      ask_command(model, plain_names(model), {}, options.file, options.time_limit_seconds, keep_going);
  MipResult result;
  // Solvers accept solutions with small violations.
  constexpr double kTolerance = 1e-5;
  if (!answer.has_solution || violation(model, answer.x) > kTolerance) return result;
  result.x = std::move(answer.x);
  result.objective = model.cost_constant;
  for (std::size_t c = 0; c < result.x.size(); ++c) result.objective += model.cost[c] * result.x[c];
  result.status = MipStatus::feasible;
  return result;
}

}  // namespace poet
