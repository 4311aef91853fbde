#include "apps/shared/network.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

#include "apps/cli/choose.h"
#include "apps/shared/amounts.h"
#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/frontend/zoo.h"

namespace poet::cli {
namespace {

/// The parameters' names match, or the user is told what there is to match.
void check_trainable(const Graph& forward, const std::string& patterns) {
  std::vector<std::string> names;
  for (const Value& value : forward.values) {
    if (value.persistence != Persistence::parameter) continue;
    if (matches(patterns, value.name)) return;
    names.push_back(value.name);
  }
  const std::size_t parameters = names.size();
  names.resize(std::min<std::size_t>(parameters, 3));
  throw InputError("--trainable", fmt::format("\"{}\" matches none of the {} parameters of {} ({}...)",
                                              patterns, parameters, forward.name, listed(names)));
}

TrainingNetwork builtin_network(const NetworkOptions& options) {
  ZooOptions size;
  if (options.batch_size) size.batch_size = parse_count("--batch-size", *options.batch_size);
  if (options.sequence_length)
    size.sequence_length = parse_count("--sequence-length", *options.sequence_length);
  TrainingNetwork network;
  network.training = build_network(*options.model, size);
  network.batch_size = size.batch_size;
  network.origin = "built-in network";
  network.source = "built-in network " + *options.model;
  return network;
}

TrainingNetwork onnx_network(const NetworkOptions& options) {
  ImportedModel imported = read_onnx(options);
  TrainingNetwork network;
  network.training = std::move(imported.forward);
  network.batch_size = imported.batch_size;
  network.origin = network.source = "ONNX file " + *options.onnx;
  network.notices = std::move(imported.notices);
  return network;
}

/// NAME=1x3x224x224.
std::pair<std::string, Shape> read_shape(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError("--input-shape", fmt::format("\"{}\" is not NAME=1x3x224x224", text));
  Shape shape;
  std::istringstream list(text.substr(equals + 1));
  for (std::string size; std::getline(list, size, 'x');) shape.push_back(parse_count("--input-shape", size));
  if (shape.empty()) throw InputError("--input-shape", fmt::format("\"{}\" gives no sizes", text));
  return {text.substr(0, equals), shape};
}

}  // namespace

void add_network_options(CLI::App& app, NetworkOptions& options, const std::string& group) {
  const auto add = [&](const std::string& name, std::optional<std::string>& value, const std::string& help,
                       const std::string& type) {
    app.add_option(name, value, help)->group(group)->type_name(type);
  };
  add("--model", options.model, "a built-in network (poet models lists them)", "NAME");
  add("--onnx", options.onnx,
      "or a network from an ONNX file, with weights or without (poet import inspects it)", "FILE");
  add_onnx_options(app, options, group);
  add("--batch-size", options.batch_size,
      "samples per training step (default 1; of an ONNX file, what it says)", "N");
  add("--sequence-length", options.sequence_length,
      "tokens per sample, for bert, bert_tiny and transformer (default 512)", "N");
  add("--optimizer", options.optimizer, "sgd (default), momentum or adam", "NAME");
  add("--trainable", options.trainable,
      "train these parameters only: names with * and ?, separated by commas, as in \"layer4.*,fc.*\" "
      "(default: all)",
      "PATTERN");
}

void add_onnx_options(CLI::App& app, NetworkOptions& options, const std::string& group) {
  app.add_option("--input-shape", options.input_shapes,
                 "of an ONNX file: the shape of an input, instead of the file's; may be repeated")
      ->group(group)
      ->type_name("NAME=1x3x224x224");
  app.add_option("--loss", options.loss, "of an ONNX file: cross-entropy (default) or mse")
      ->group(group)
      ->type_name("NAME");
  app.add_flag(
         "--allow-opaque", options.allow_opaque,
         "of an ONNX file: plan around operators that poet does not know: never recompute them, keep all "
         "that they read and write")
      ->group(group);
}

void check_onnx_options(const NetworkOptions& options) {
  if (!options.onnx && !options.input_shapes.empty())
    throw InputError("--input-shape", "is for the inputs of --onnx FILE");
  if (!options.onnx && options.loss)
    throw InputError("--loss", "is for --onnx FILE; built-in networks have cross-entropy");
  if (!options.onnx && options.allow_opaque)
    throw InputError("--allow-opaque", "is for operators of --onnx FILE");
}

bool matches(const std::string& patterns, const std::string& name) {
  std::istringstream list(patterns);
  std::string pattern;
  while (std::getline(list, pattern, ',')) {
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
  }
  return false;
}

ImportedModel read_onnx(const NetworkOptions& options) {
  ImportOptions wishes;
  if (options.batch_size) wishes.batch_size = parse_count("--batch-size", *options.batch_size);
  for (const std::string& text : options.input_shapes) {
    const std::pair<std::string, Shape> shape = read_shape(text);
    if (!wishes.input_shapes.insert(shape).second)
      throw InputError("--input-shape", fmt::format("two shapes for \"{}\"", shape.first));
  }
  if (options.loss) {
    wishes.loss = choose<Loss>("--loss", *options.loss,
                               {{"cross-entropy", Loss::cross_entropy}, {"mse", Loss::mean_squared_error}});
  }
  wishes.allow_opaque = options.allow_opaque;
  return import_onnx(*options.onnx, wishes);
}

TrainingNetwork load_network(const NetworkOptions& options) {
  check_onnx_options(options);
  if (options.model.has_value() == options.onnx.has_value())
    throw InputError(options.model ? "--model and --onnx exclude each other: each names a network"
                                   : "no network: name one (--model) or a file (--onnx, --instance)");
  TrainingOptions training;
  if (options.optimizer) {
    training.optimizer = choose<Optimizer>(
        "--optimizer", *options.optimizer,
        {{"sgd", Optimizer::sgd}, {"momentum", Optimizer::momentum}, {"adam", Optimizer::adam}});
  }
  TrainingNetwork network = options.onnx ? onnx_network(options) : builtin_network(options);
  network.model = network.training.name;
  if (options.trainable) {
    check_trainable(network.training, *options.trainable);
    training.trainable = [patterns = *options.trainable](const std::string& name) {
      return matches(patterns, name);
    };
  }
  network.training = differentiate(network.training, training);
  return network;
}

}  // namespace poet::cli
