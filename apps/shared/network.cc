#include "apps/shared/network.h"

#include <utility>

#include "apps/shared/amounts.h"
#include "apps/shared/number.h"
#include "apps/shared/parser.h"
#include "poet/base/error.h"
#include "poet/pipeline/names.h"
#include "poet/pipeline/network.h"

namespace poet::cli {

void add_network_options(const Parser& parser, NetworkOptions& options) {
  parser.option("--model", options.model, "built-in network (poet models lists them)", "NETWORK");
  parser.option(
      "--onnx", options.onnx,
      "ONNX file of the network, with or without weights (poet import inspects it); instead of --model",
      "FILE");
  add_onnx_options(parser, options);
  parser.option("--batch-size", options.batch_size,
                "samples per training step (default: 1, or the ONNX file's batch size)", "N");
  parser.option("--sequence-length", options.sequence_length,
                "tokens per sample, for bert, bert_tiny and transformer (default 512)", "N");
  parser.option("--optimizer", options.optimizer, "optimizer: sgd (default), momentum, adam or adamw",
                "sgd|momentum|adam|adamw");
  parser.option("--accumulate", options.accumulate,
                "gradient accumulation: update every N steps with the mean of their gradients, whose sums "
                "take RAM (default 1)",
                "N");
  parser.option("--clip-norm", options.clip_norm, "clip gradients to this global norm (default: no clipping)",
                "NUMBER");
  parser.option("--label-smoothing", options.label_smoothing,
                "cross-entropy only: fraction of each target that is spread over all classes (default 0)",
                "NUMBER");
  parser.option("--precision", options.precision,
                "fp32 (default), or bf16-mixed: activations and their gradients are stored as bfloat16, in "
                "half the bytes; parameters and arithmetic stay float32",
                "fp32|bf16-mixed");
  parser.option("--trainable", options.trainable,
                "train only parameters whose names match: patterns with * and ?, separated by commas, as in "
                "\"layer4.*,fc.*\" (default: all); a constant of an ONNX file that is no setting trains "
                "where its whole name is given",
                "PATTERN");
}

void add_onnx_options(const Parser& parser, NetworkOptions& options) {
  parser.option("--input-shape", options.input_shapes,
                "ONNX only: shape of an input, overriding the file's; may be repeated", "NAME=1x3x224x224");
  parser.option("--input-value", options.input_values,
                "ONNX only: make an input a constant with this number everywhere, as a sampling rate or the "
                "first state of a recurrent layer; may be repeated",
                "NAME=NUMBER");
  parser.option(
      "--loss", options.loss,
      "ONNX only: training loss: cross-entropy (default), mse, l1, huber, bce (on probabilities), "
      "bce-with-logits, or none: the network computes its own, and the sum of the outputs that --loss-output "
      "names is trained",
      "cross-entropy|mse|l1|huber|bce|bce-with-logits|none");
  parser.option("--huber-delta", options.huber_delta, "--loss huber only: delta (default 1)", "NUMBER");
  parser.option(
      "--loss-output", options.loss_output,
      "ONNX only: output that feeds the loss (default: the first); with --loss none the losses, separated by "
      "commas",
      "NAME");
  parser.flag("--allow-opaque", options.allow_opaque,
              "ONNX only: accept operators that poet does not know; they are never recomputed, and their "
              "inputs and outputs are kept");
}

void check_onnx_options(const NetworkOptions& options) {
  if (!options.onnx && !options.input_shapes.empty())
    throw InputError("--input-shape", "is for the inputs of --onnx FILE");
  if (!options.onnx && !options.input_values.empty())
    throw InputError("--input-value", "is for the inputs of --onnx FILE");
  if (!options.onnx && options.loss)
    throw InputError("--loss", "is for --onnx FILE; built-in networks have cross-entropy");
  if (!options.onnx && options.huber_delta) throw InputError("--huber-delta", "is for --onnx FILE");
  if (!options.onnx && options.loss_output) throw InputError("--loss-output", "is for --onnx FILE");
  if (!options.onnx && options.allow_opaque)
    throw InputError("--allow-opaque", "is for operators of --onnx FILE");
}

NetworkSpec network_spec(const NetworkOptions& options) {
  check_onnx_options(options);
  if (options.model.has_value() == options.onnx.has_value())
    throw options.model ? InputError("--onnx", "cannot be combined with --model: each names a network")
                        : InputError("--model", "is missing, or --onnx or --instance with a file");
  NetworkSpec spec;
  if (options.onnx) {
    if (options.sequence_length)
      throw InputError("--sequence-length",
                       "is for built-in networks; --input-shape sets the inputs of --onnx");
    OnnxFile onnx;
    onnx.file = *options.onnx;
    onnx.reading.input_shapes = input_shapes_of("--input-shape", options.input_shapes);
    onnx.reading.input_values = input_values_of("--input-value", options.input_values);
    if (options.loss) onnx.reading.loss = loss_named("--loss", *options.loss);
    onnx.reading.huber_delta = parse_real("--huber-delta", options.huber_delta);
    onnx.reading.loss_output = options.loss_output;
    onnx.reading.allow_opaque = options.allow_opaque;
    spec.source = std::move(onnx);
  } else {
    BuiltInNetwork built_in{*options.model, std::nullopt};
    if (options.sequence_length)
      built_in.sequence_length = parse_count("--sequence-length", *options.sequence_length);
    spec.source = std::move(built_in);
  }
  if (options.batch_size) spec.batch_size = parse_count("--batch-size", *options.batch_size);
  if (options.optimizer) spec.optimizer = optimizer_named("--optimizer", *options.optimizer);
  if (options.accumulate) spec.accumulate = parse_count("--accumulate", *options.accumulate);
  spec.clip_norm = parse_real("--clip-norm", options.clip_norm);
  spec.label_smoothing = parse_real("--label-smoothing", options.label_smoothing);
  if (options.precision) spec.precision = precision_named("--precision", *options.precision);
  spec.trainable = options.trainable;
  return spec;
}

ImportedModel read_onnx(const NetworkOptions& options) { return import_network(network_spec(options)); }

}  // namespace poet::cli
