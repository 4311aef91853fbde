#include "apps/shared/training/outputs.h"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>

#include "apps/shared/command.h"
#include "apps/shared/output.h"
#include "apps/shared/training/loss_file.h"
#include "apps/shared/training/report.h"
#include "apps/shared/training/session_json.h"
#include "poet/base/error.h"

namespace poet::cli {
namespace {

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  return std::filesystem::absolute(a).lexically_normal() == std::filesystem::absolute(b).lexically_normal();
}

/// What is read, or paged to, is not to be written over; but what was trained may take the place of what it
/// was trained from.
bool may_replace(const std::string& written, const std::string& read) {
  return (written == "--checkpoint" && (read == "--resume" || read == "--weights")) ||
         (written == "--best" && (read == "--resume" || read == "--weights")) ||
         (written == "--onnx-out" && (read == "--onnx" || read == "--weights"));
}

}  // namespace

void check_outputs(const RunChoice& training, std::vector<NamedFile> written,
                   const std::vector<NamedFile>& read) {
  if (training.checkpoint) written.emplace_back("--checkpoint", *training.checkpoint);
  if (training.best) written.emplace_back("--best", *training.best);
  if (training.loss_out) written.emplace_back("--loss-out", *training.loss_out);
  for (const auto& [option, file] : written) check_writable(option, file.string());
  std::vector<NamedFile> others = written;
  others.insert(others.end(), read.begin(), read.end());
  const runtime::TrainerOptions& trainer = training.trainer;
  if (trainer.data) others.emplace_back("--data", *trainer.data);
  if (trainer.validation) others.emplace_back("--validate", *trainer.validation);
  if (trainer.resume) others.emplace_back("--resume", *trainer.resume);
  if (training.weights) others.emplace_back("--weights", *training.weights);
  if (training.watch.control) others.emplace_back("--control", *training.watch.control);
  if (!trainer.storage.where.empty()) others.emplace_back("--storage", trainer.storage.where);
  for (std::size_t i = 0; i < written.size(); ++i)
    for (std::size_t k = i + 1; k < others.size(); ++k)
      if (same_file(written[i].second, others[k].second) && !may_replace(written[i].first, others[k].first))
        throw InputError(written[i].first, "must name another file than " + others[k].first);
}

int conclude(const Session& session, const RunChoice& training, const RunOutput& output,
             nlohmann::ordered_json json, const std::vector<NamedFile>& written) {
  if (output.json) {
    json.update(session_json(session));
    print_answer(json);
  } else {
    std::string text = session_text(session);
    if (output.report) text += "\n" + side_by_side_text(session);
    if (session.result.best_saved) text += fmt::format("{:<14}{}\n", "Best", training.best->string());
    if (session.result.saved) text += fmt::format("{:<14}{}\n", "Checkpoint", training.checkpoint->string());
    if (session.result.end != runtime::TrainEnd::not_finite && !session.unfinished)
      for (const auto& [what, file] : written) text += fmt::format("{:<14}{}\n", what, file.string());
    print_text(text);
  }
  if (training.loss_out) write_losses(session, *training.loss_out);
  if (session.unfinished) std::rethrow_exception(session.unfinished);
  const runtime::TrainEnd end = session.result.end;
  const bool is_over = end == runtime::TrainEnd::done || end == runtime::TrainEnd::no_better;
  return is_over ? kAnswer : kNoAnswer;
}

}  // namespace poet::cli
