// Whole networks: convolutions, a transformer, functions of one element, losses.

#include "tests/support/gradient_nets.h"

#include "tests/support/function_rows.h"

namespace poet::test {

Graph conv_net() {
  GraphBuilder g("conv_net");
  ValueId h = g.input("image", {2, 2, 9, 9});
  h = nn::conv2d(g, "conv1", h,
                 {.out_channels = 4, .kernel = {3, 3}, .stride = {1, 2}, .padding = {1, 0}, .bias = true});
  h = nn::batch_norm(g, "bn1", h);
  h = nn::relu(g, "relu1", h);
  h = nn::max_pool2d(g, "max", h, {.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 0}});
  ValueId r =
      nn::conv2d(g, "conv2", h,
                 {.out_channels = 4, .kernel = {3, 3}, .padding = {2, 2}, .dilation = {2, 2}, .groups = 2});
  r = nn::batch_norm(g, "bn2", r);
  const ValueId skip = nn::conv2d(g, "downsample", h, {.out_channels = 4, .bias = true});
  h = nn::relu(g, "relu2", nn::add(g, "residual", r, skip));
  h = nn::avg_pool2d(g, "avg", h, {.kernel = {2, 2}, .stride = {2, 1}, .padding = {1, 1}});
  h = nn::dropout(g, "drop", h, 0.3);
  h = nn::global_avg_pool(g, "pool", h);
  h = nn::linear(g, "fc", nn::flatten(g, "flat", h), 3);
  nn::softmax_cross_entropy(g, "loss", h, g.input("targets", {2}, DType::int32));
  return g.finish();
}

Graph transformer() {
  GraphBuilder g("tiny_transformer");
  const std::int64_t batch = 2;
  const std::int64_t tokens = 3;
  const ValueId ids_in = g.input("ids", {batch, tokens}, DType::int32);
  const ValueId words = nn::embedding(g, "words", ids_in, 5, 4);
  const ValueId types = nn::embedding(g, "types", g.input("type_ids", {batch, tokens}, DType::int32), 3, 4);
  ValueId x = nn::layer_norm(g, "norm0", nn::add(g, "sum0", words, types), 1e-3);
  const ValueId q = nn::linear(g, "q", x, 4);
  const ValueId k = nn::linear(g, "k", x, 4);
  const ValueId v = nn::linear(g, "v", x, 4);
  const StridedShape split = reshaped(g.layout(q), {batch, tokens, 2, 2});
  const ValueId scores =
      nn::matmul(g, "scores", g.view("q_heads", q, permuted(split, {0, 2, 1, 3})),
                 g.view("k_heads", k, permuted(split, {0, 2, 3, 1})), {.alpha = 0.7, .storage_order = {}});
  const ValueId p = nn::dropout(g, "attention_drop", nn::softmax(g, "p", scores), 0.2);
  const ValueId context = nn::matmul(g, "context", p, g.view("v_heads", v, permuted(split, {0, 2, 1, 3})),
                                     {.alpha = 1.0, .storage_order = {0, 2, 1, 3}});
  ValueId h =
      g.view("merged", context, reshaped(permuted(g.layout(context), {0, 2, 1, 3}), {batch, tokens, 4}));
  x = nn::layer_norm(g, "norm1", nn::add(g, "sum1", nn::linear(g, "out", h, 4), x), 1e-3);
  h = nn::linear(g, "down", nn::gelu(g, "gelu", nn::linear(g, "up", x, 6)), 4);
  x = nn::layer_norm(g, "norm2", nn::add(g, "sum2", h, x), 1e-3);
  h = nn::tanh(g, "pooled", nn::linear(g, "pooler", nn::select(g, "first", x, 1), 4));
  nn::softmax_cross_entropy(g, "loss", nn::linear(g, "classifier", h, 3),
                            g.input("targets", {batch}, DType::int32));
  return g.finish();
}

Graph functions_net() {
  GraphBuilder g("functions_net");
  const ValueId x = nn::linear(g, "fc", g.input("x", {2, 3}), 4);
  const ValueId positive = nn::scale(g, "positive", nn::unary(g, "sigmoid", "of_positive", x), 1.0, 0.5);
  ValueId sum = x;
  for (const test::FunctionRow& row : test::function_rows()) {
    if (row.slope == nullptr) continue;
    const bool is_positive = row.domain == test::FunctionRow::Domain::positive;
    const ValueId y = nn::unary(g, row.kind, row.kind, is_positive ? positive : x, row.attributes);
    sum = nn::add(g, row.kind + std::string(".sum"), nn::scale(g, row.kind + std::string(".part"), y, 0.1),
                  sum);
  }
  nn::mse_loss(g, "loss", sum, g.input("targets", {2, 4}));
  return g.finish();
}

std::vector<Graph> loss_nets() {
  std::vector<Graph> nets;
  for (int loss = 0; loss < 6; ++loss) {
    GraphBuilder g("loss_net");
    const ValueId x = nn::linear(g, "fc", g.input("x", {4, 5}), 3);
    if (loss == 5) {
      nn::mean_loss(g, "loss", nn::unary(g, "pow", "squares", x, {{"exponent", 2.0}}));
      nets.push_back(g.finish());
      continue;
    }
    const ValueId targets = loss == 4 ? g.input("targets", {4}, DType::int32) : g.input("targets", {4, 3});
    if (loss == 0) nn::l1_loss(g, "loss", x, targets);
    if (loss == 1) nn::huber_loss(g, "loss", x, targets, 0.6);
    if (loss == 2) nn::bce_with_logits_loss(g, "loss", x, targets);
    if (loss == 3) nn::bce_loss(g, "loss", nn::unary(g, "sigmoid", "sigmoid", x), targets);
    if (loss == 4) nn::softmax_cross_entropy(g, "loss", x, targets);
    nets.push_back(g.finish());
    if (loss == 4)
      for (Op& op : nets.back().ops)
        if (op.kind == "softmax_cross_entropy") op.attributes["label_smoothing"] = 0.2;
  }
  return nets;
}

}  // namespace poet::test
