#include "apps/server/jobs/fields.h"

#include <algorithm>

#include "poet/base/text.h"

namespace poet::server {

const std::vector<Field>& fields() {
  static constexpr const char* kAll = "solve explain compare import";
  static constexpr const char* kPlanned = "solve explain compare";
  static constexpr const char* kSolved = "solve explain";
  static const std::vector<Field> all = {
      {"model", FieldKind::model, "--model", kPlanned, "a built-in network, see /api/v1/models"},
      {"onnx", FieldKind::upload, "--onnx", kAll, "or the id of an uploaded ONNX file"},
      {"instance", FieldKind::upload, "--instance", kPlanned,
       "or the id of an uploaded instance file, a graph with its costs"},
      {"device", FieldKind::device, "--platform", kPlanned,
       "a device's name, see /api/v1/devices, or a profile; not with `instance`"},
      {"ram_budget", FieldKind::bytes, "--ram-budget", kPlanned,
       "RAM for everything that a step needs, in bytes or as \"300KiB\""},
      {"runtime_budget", FieldKind::factor, "--runtime-budget", kPlanned,
       "deadline as a multiple of the time of the step without limits"},
      {"deadline", FieldKind::seconds, "--deadline", kPlanned,
       "or the deadline of a step, in seconds or as \"50ms\""},
      {"max_bytes_written", FieldKind::bytes, "--max-bytes-written", kPlanned, "to storage, per step"},
      {"batch_size", FieldKind::count, "--batch-size", kAll, "samples per step"},
      {"sequence_length", FieldKind::count, "--sequence-length", kPlanned,
       "tokens per sample, of networks that have them"},
      {"optimizer",
       FieldKind::choice,
       "--optimizer",
       kPlanned,
       "what updates the parameters",
       {"sgd", "momentum", "adam", "adamw"}},
      {"accumulate", FieldKind::count, "--accumulate", kPlanned,
       "steps whose gradients' mean updates the parameters once"},
      {"clip_norm", FieldKind::factor, "--clip-norm", kPlanned,
       "the most that the norm of all gradients together may be"},
      {"label_smoothing", FieldKind::fraction, "--label-smoothing", kPlanned,
       "of a cross-entropy: the part of each target that is spread over all classes"},
      {"precision",
       FieldKind::choice,
       "--precision",
       kPlanned,
       "of activations and their gradients, in RAM and on storage",
       {"fp32", "bf16-mixed"}},
      {"trainable", FieldKind::patterns, "--trainable", kPlanned,
       "which parameters are trained: names with * and ?, separated by commas"},
      {"input_shapes", FieldKind::shapes, "--input-shape", kAll,
       "of an ONNX file: shapes of its inputs by name"},
      {"input_values", FieldKind::values, "--input-value", kAll,
       "of an ONNX file: numbers by the names of inputs that become constants"},
      {"loss",
       FieldKind::choice,
       "--loss",
       kAll,
       "of an ONNX file",
       {"cross-entropy", "mse", "l1", "huber", "bce", "bce-with-logits", "none"}},
      {"huber_delta", FieldKind::factor, "--huber-delta", kAll, "of the loss huber: from where it is linear"},
      {"loss_output", FieldKind::patterns, "--loss-output", kAll,
       "of an ONNX file: the output that feeds the loss; with loss none the losses, separated by commas"},
      {"allow_opaque", FieldKind::flag, "--allow-opaque", kAll,
       "of an ONNX file: plan around operators that poet does not know"},
      {"persistent",
       FieldKind::choice,
       "--persistent",
       kPlanned,
       "where parameters and optimizer state live",
       {"auto", "resident", "excluded"}},
      {"split", FieldKind::split, "--split", kPlanned, "operators in parts: \"auto\", \"off\" or bytes"},
      {"semantics",
       FieldKind::choice,
       "--semantics",
       kPlanned,
       "whose rules hold",
       {"device", "staged", "published"}},
      {"paging", FieldKind::allowed, "--no-paging", kSolved, "whether a plan may page"},
      {"remat", FieldKind::allowed, "--no-remat", kSolved, "whether a plan may recompute"},
      {"order", FieldKind::choice, "--order", kSolved, "of the ops", {"given", "best"}},
      {"on_time", FieldKind::fraction, "--on-time", kSolved,
       "the share of steps that is to meet the deadline"},
      {"gap", FieldKind::fraction, "--gap", kPlanned,
       "proven to be at most this part of the overhead, the search ends"},
      {"time_limit", FieldKind::seconds, "--time-limit", kPlanned,
       "of the search, in seconds or as \"1min\""},
      {"threads", FieldKind::count, "--threads", kPlanned, "of the search"},
      {"solver", FieldKind::choice, "--solver", kSolved, "who searches", {"cbc", "highs"}},
      {"formulation", FieldKind::choice, "--formulation", kSolved, "of the program", {"tight", "published"}},
      {"schedule", FieldKind::request, "", "solve",
       "whether to look for the best schedule in stages (Checkmate form), too"},
      {"methods", FieldKind::names, "--methods", "compare",
       "published methods, see /api/v1/methods; all without"},
  };
  return all;
}

const Field* field_of_option(std::string_view option) {
  const auto found = std::find_if(fields().begin(), fields().end(), [&](const Field& each) {
    return !option.empty() && each.option == option;
  });
  return found == fields().end() ? nullptr : &*found;
}

std::string in_fields(const std::string& message) {
  constexpr const char* kOfOptions = "-abcdefghijklmnopqrstuvwxyz0123456789";
  std::string out;
  std::size_t at = 0;
  for (std::size_t begin = 0; (begin = message.find("--", at)) != std::string::npos;) {
    const std::size_t end = std::min(message.find_first_not_of(kOfOptions, begin), message.size());
    out += message.substr(at, begin - at);
    at = end;
    const Field* field = field_of_option(std::string_view(message).substr(begin, end - begin));
    if (field == nullptr) {
      out += message.substr(begin, end - begin);
      continue;
    }
    out += field->name;
    if (field->kind == FieldKind::flag) out += ": true";
    if (field->kind == FieldKind::allowed) out += ": false";
    if (message.compare(end, 5, " FILE") == 0) at += 5;
  }
  return out + message.substr(at);
}

bool belongs_to(const Field& field, const std::string& kind) {
  const std::vector<std::string> kinds = words_of(field.kinds);
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace poet::server
