#include "tests/support/onnx_seeds.h"

#include <fmt/format.h>
#include <onnx/defs/parser.h>

#include <array>

#include "poet/base/error.h"
#include "poet/frontend/zoo.h"
#include "tests/support/onnx_node_cases.h"
#include "tests/support/to_onnx.h"

namespace poet::test {
namespace {

struct Text {
  const char* name;
  int opset;
  const char* graph;  // inputs whose names begin with "w_" are weights
};

constexpr std::array kTexts = {
    Text{"perceptron", 13,
         R"(g (float[N, 8] x, float[4, 8] w_1, float[4] w_b, float[4, 3] w_2) => (float[N, 3] y) {
      a = Gemm <transB = 1> (x, w_1, w_b)
      b = Relu(a)
      c = Dropout(b)
      d = MatMul(c, w_2)
      y = Softmax <axis = -1> (d)
    })"},
    Text{"convolutions", 13,
         R"(g (float[N, 3, 8, 8] x, float[4, 3, 3, 3] w_c, float[4] w_b, float[4] w_s, float[4] w_t,
          float[4] w_m, float[4] w_v, float[5, 4] w_f, float[5] w_g) => (float[N, 5] y) {
      a = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], dilations = [1, 1], group = 1> (x, w_c, w_b)
      b = BatchNormalization <epsilon = 0.00001, momentum = 0.9> (a, w_s, w_t, w_m, w_v)
      c = Relu(b)
      d = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2], ceil_mode = 0> (c)
      e = AveragePool <kernel_shape = [2, 2], strides = [1, 1], auto_pad = "SAME_UPPER", count_include_pad = 1> (d)
      f = LRN <size = 3, alpha = 0.0001, beta = 0.75, bias = 1.0> (e)
      g = GlobalAveragePool(f)
      h = Flatten <axis = 1> (g)
      y = Gemm <alpha = 1.0, beta = 1.0, transB = 1> (h, w_f, w_g)
    })"},
    Text{
        "depthwise", 14,
        R"(g (float[N, 4, 6, 6] x, float[4, 1, 3, 3] w_d, float[2, 4, 1, 1] w_r, float[4, 2, 1, 1] w_e) => (float[N, 4, 6, 6] y) {
      a = Conv <kernel_shape = [3, 3], pads = [2, 2, 2, 2], dilations = [2, 2], group = 4> (x, w_d)
      lo = Constant <value = float {0.0}> ()
      hi = Constant <value = float {6.0}> ()
      b = Clip(a, lo, hi)
      s = GlobalAveragePool(b)
      r = Conv(s, w_r)
      q = Relu(r)
      e = Conv(q, w_e)
      f = HardSigmoid <alpha = 0.16666667, beta = 0.5> (e)
      m = Mul(b, f)
      h = HardSwish(m)
      y = Add(h, x)
    })"},
    Text{
        "fire", 12,
        R"(g (float[1, 4, 5, 5] x, float[2, 4, 1, 1] w_s, float[3, 2, 1, 1] w_1, float[3, 2, 3, 3] w_3, float[6] w_i, float[6] w_j) => (float[1, 6, 5, 5] y) {
      s = Conv(x, w_s)
      t = Relu(s)
      a = Conv(t, w_1)
      b = Conv <pads = [1, 1, 1, 1]> (t, w_3)
      c = Concat <axis = 1> (a, b)
      d = LeakyRelu <alpha = 0.1> (c)
      e = Elu <alpha = 1.0> (d)
      y = InstanceNormalization <epsilon = 0.00001> (e, w_i, w_j)
    })"},
    Text{"shapes", 14, R"(g (float[N, 6, 4] x, float[24, 3] w_1) => (float[N, 3] y) {
      s = Shape(x)
      zero = Constant <value = int64 {0}> ()
      n = Gather <axis = 0> (s, zero)
      ax = Constant <value = int64[1] {0}> ()
      n1 = Unsqueeze(n, ax)
      rest = Constant <value = int64[1] {-1}> ()
      target = Concat <axis = 0> (n1, rest)
      flat = Reshape(x, target)
      one = Constant <value = int64[1] {1}> ()
      big = Constant <value = int64[1] {9223372036854775807}> ()
      cut = Slice(s, one, big, ax)
      count = ReduceProd <keepdims = 1> (cut)
      again = Concat <axis = 0> (n1, count)
      flat2 = Reshape(flat, again)
      fill = ConstantOfShape <value = int64[1] {-1}> (one)
      same = Equal(fill, rest)
      chosen = Where(same, n1, rest)
      both = Concat <axis = 0> (chosen, count)
      flat3 = Reshape <allowzero = 0> (flat2, both)
      y = MatMul(flat3, w_1)
    })"},
    Text{
        "attention", 13,
        R"(g (float[2, 4, 6] x, float[6, 6] w_q, float[6, 6] w_k, float[6, 6] w_v, float[6] w_b, float[6, 6] w_o) => (float[2, 4, 6] y) {
      shape = Constant <value = int64[4] {0, 0, 2, 3}> ()
      flat = Constant <value = int64[3] {0, 0, 6}> ()
      root = Constant <value = float {1.7320508}> ()
      q0 = MatMul(x, w_q)
      q1 = Add(w_b, q0)
      q2 = Reshape(q1, shape)
      q = Transpose <perm = [0, 2, 1, 3]> (q2)
      k0 = MatMul(x, w_k)
      k1 = Reshape(k0, shape)
      k = Transpose <perm = [0, 2, 3, 1]> (k1)
      v0 = MatMul(x, w_v)
      v1 = Reshape(v0, shape)
      v = Transpose <perm = [0, 2, 1, 3]> (v1)
      s0 = MatMul(q, k)
      s1 = Div(s0, root)
      p = Softmax <axis = 3> (s1)
      c0 = MatMul(p, v)
      c1 = Transpose <perm = [0, 2, 1, 3]> (c0)
      c = Reshape(c1, flat)
      o = MatMul(c, w_o)
      y = Add(x, o)
    })"},
    Text{"spelt_out", 13, R"(g (float[2, 5, 8] x, float[8] w_s, float[8] w_b) => (float[2, 5, 8] y) {
      two = Constant <value = float {2.0}> ()
      eps = Constant <value = float {0.00001}> ()
      m = ReduceMean <axes = [-1]> (x)
      d = Sub(x, m)
      p = Pow(d, two)
      v = ReduceMean <axes = [-1]> (p)
      a = Add(v, eps)
      r = Sqrt(a)
      n = Div(d, r)
      t = Mul(n, w_s)
      l = Add(t, w_b)
      root = Constant <value = float {1.4142135}> ()
      one = Constant <value = float {1.0}> ()
      half = Constant <value = float {0.5}> ()
      g0 = Div(l, root)
      g1 = Erf(g0)
      g2 = Add(g1, one)
      g3 = Mul(l, g2)
      y = Mul(g3, half)
    })"},
    Text{
        "norms", 17,
        R"(g (float[2, 4, 3, 3] x, float[3] w_s, float[3] w_t, float[4] w_i, float[4] w_j) => (float[2, 4, 3, 3] y) {
      a = LayerNormalization <axis = -1, epsilon = 0.00001> (x, w_s, w_t)
      b = InstanceNormalization <epsilon = 0.00001> (a, w_i, w_j)
      c = Tanh(b)
      d = Sigmoid(c)
      y = Softmax <axis = 1> (d)
    })"},
    Text{"embedding", 13,
         R"(g (int64[N, 5] ids, float[11, 6] w_e, float[5, 6] w_p, float[6, 2] w_o) => (float[N, 2] y) {
      e = Gather(w_e, ids)
      p = Add(e, w_p)
      first = Constant <value = int64 {0}> ()
      t = Gather <axis = 1> (p, first)
      y = MatMul(t, w_o)
    })"},
    Text{"arithmetic", 15,
         R"(g (float[2, 3, 4] x, float[3, 1] w_a, float[1, 4] w_b, float[2, 3, 4] w_c) => (float[2, 3, 4] y) {
      a = Add(x, w_a)
      b = Mul(a, w_b)
      c = Sub(b, w_c)
      d = Abs(c)
      one = Constant <value = float {1.0}> ()
      e = Add(d, one)
      f = Log(e)
      g = Div(f, e)
      h = Exp(g)
      three = Constant <value = float {3.0}> ()
      i = Pow(h, three)
      j = Reciprocal(i)
      k = Neg(j)
      l = Max(k, one)
      m = Min(l, h)
      n = Sum(m, x, w_a)
      y = Sqrt(n)
    })"},
    Text{"reductions", 13, R"(g (float[2, 3, 4] x, float[4] w_a) => (float[2] y) {
      z = Mul(x, w_a)
      ax = Constant <value = int64[1] {1}> ()
      a = ReduceSum <keepdims = 0> (z, ax)
      b = ReduceMean <axes = [0], keepdims = 1> (a)
      c = ReduceMax <axes = [1], keepdims = 1> (a)
      d = ReduceL2 <axes = [1], keepdims = 1> (a)
      e = Add(b, c)
      f = Mul(e, d)
      y = ReduceMean <axes = [1], keepdims = 0> (f)
    })"},
    Text{"pieces", 13, R"(g (float[2, 6, 4] x, float[1, 1, 4] w_t) => (float[2, 7, 8] y) {
      sizes = Constant <value = int64[3] {1, 2, 3}> ()
      a, b, c = Split <axis = 1> (x, sizes)
      st = Constant <value = int64[2] {0, 0}> ()
      en = Constant <value = int64[2] {9223372036854775807, 2}> ()
      axes = Constant <value = int64[2] {0, 1}> ()
      steps = Constant <value = int64[2] {1, 2}> ()
      d = Slice(c, st, en, axes, steps)
      shape = Constant <value = int64[3] {2, 3, 4}> ()
      t = Expand(w_t, shape)
      e = Concat <axis = 1> (a, d, b, t)
      pads = Constant <value = int64[6] {0, 0, 1, 0, 0, 3}> ()
      v = Constant <value = float {0.5}> ()
      y = Pad <mode = "constant"> (e, pads, v)
    })"},
    Text{"views", 13, R"(g (float[1, 4, 1, 3] x, float[3, 4] w_1) => (float[1, 3, 3] y) {
      ax = Constant <value = int64[1] {2}> ()
      a = Squeeze(x, ax)
      b = Transpose <perm = [0, 2, 1]> (a)
      c = Transpose(w_1)
      d = Identity(b)
      e = Cast <to = 1> (d)
      f = MatMul(e, c)
      g = Unsqueeze(f, ax)
      y = Squeeze(g, ax)
    })"},
    Text{"masks", 13, R"(g (float[2, 4, 4] x, int64[2, 4] m, float[4, 4] w_1) => (float[2, 4, 4] y) {
      a = MatMul(x, w_1)
      zero = Constant <value = int64 {0}> ()
      ax = Constant <value = int64[1] {1}> ()
      b = Equal(m, zero)
      c = Unsqueeze(b, ax)
      low = Constant <value = float {-10000.0}> ()
      d = Where(c, low, a)
      e = Cast <to = 1> (m)
      f = Unsqueeze(e, ax)
      g = Mul(d, f)
      n = Not(c)
      h = Cast <to = 1> (n)
      i = Add(g, h)
      y = Softmax(i)
    })"},
    Text{
        "lstm", 14,
        R"(g (float[5, 2, 3] x, float[1, 16, 3] w_w, float[1, 16, 4] w_r, float[1, 32] w_b, float[4, 2] w_o) => (float[5, 2, 2] y) {
      a, h, c = LSTM <hidden_size = 4, direction = "forward"> (x, w_w, w_r, w_b)
      ax = Constant <value = int64[1] {1}> ()
      b = Squeeze(a, ax)
      y = MatMul(b, w_o)
    })"},
    Text{
        "gru", 14,
        R"(g (float[5, 2, 3] x, float[2, 12, 3] w_w, float[2, 12, 4] w_r, float[2, 24] w_b, int32[2] l, float[2, 2, 4] w_h) => (float[2, 2, 4] h) {
      a, h = GRU <hidden_size = 4, direction = "bidirectional", linear_before_reset = 1> (x, w_w, w_r, w_b, l, w_h)
    })"},
    Text{"rnn", 13, R"(g (float[5, 2, 3] x, float[1, 4, 3] w_w, float[1, 4, 4] w_r) => (float[1, 2, 4] h) {
      a, h = RNN <hidden_size = 4, activations = ["Relu"], direction = "reverse"> (x, w_w, w_r)
    })"},
    Text{
        "unet", 13,
        R"(g (float[1, 2, 4, 4] x, float[2, 3, 2, 2] w_t, float[3] w_b, float[3, 5, 3, 3] w_c, float[3, 1, 1] w_p) => (float[1, 3, 8, 8] y) {
      a = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
      scales = Constant <value = float[4] {1.0, 1.0, 4.0, 4.0}> ()
      b = Resize <mode = "linear", coordinate_transformation_mode = "half_pixel"> (a, , scales)
      c = ConvTranspose <kernel_shape = [2, 2], strides = [2, 2], output_padding = [0, 0]> (x, w_t, w_b)
      d = Concat <axis = 1> (b, c)
      e = Conv <pads = [1, 1, 1, 1]> (d, w_c)
      f = PRelu(e, w_p)
      y = Softplus(f)
    })"},
    Text{"lines_and_volumes", 13,
         R"(g (float[2, 3, 10] x, float[4, 3, 3] w_1, float[2, 1, 3, 3, 3] w_3) => (float[2, 2, 3, 3, 3] y) {
      a = Conv <kernel_shape = [3], strides = [1], pads = [1, 1], dilations = [1]> (x, w_1)
      b = MaxPool <kernel_shape = [2], strides = [2]> (a)
      s = Constant <value = int64[5] {2, 1, 5, 2, 2}> ()
      c = Reshape(b, s)
      d = Conv <kernel_shape = [3, 3, 3], pads = [1, 1, 1, 1, 1, 1]> (c, w_3)
      e = AveragePool <kernel_shape = [3, 2, 2], pads = [0, 1, 1, 0, 1, 1]> (d)
      y = Relu(e)
    })"},
    Text{"branches", 13, R"(g (float[2, 3] x, float[3, 3] w_1, bool c) => (float[2, 3] y) {
      a = MatMul(x, w_1)
      y = If (c) <then_branch = t () => (float[2, 3] u) { u = Relu(a) }, else_branch = e () => (float[2, 3] v) { v = Neg(a) }>
    })"},
    Text{"tiles", 13, R"(g (float[2, 3] x, float[3, 3] w_1) => (float[4, 9] y) {
      a = MatMul(x, w_1)
      r = Constant <value = int64[2] {2, 3}> ()
      b = Tile(a, r)
      k = Constant <value = int64[1] {2}> ()
      v, i = TopK <axis = 1> (b, k)
      ex = Constant <value = int64 {0}> ()
      c = CumSum(b, ex)
      d = Einsum <equation = "ij,ij->ij"> (b, c)
      y = Erf(d)
    })"},
    Text{"decoder", 24,
         R"(g (float[2, 3, 8] x, float[8] w_n, float[8, 16] w_q, float[8, 8] w_k, float[5, 2] c,
          float[5, 2] s, int64[2, 3] ids, bool[3, 3] m, float[8] w_g, float[8, 4] w_o) => (float[2, 3, 4] y) {
      n = RMSNormalization <axis = -1, epsilon = 0.00001> (x, w_n)
      q = MatMul(n, w_q)
      k = MatMul(n, w_k)
      qr = RotaryEmbedding <num_heads = 4, interleaved = 0> (q, c, s, ids)
      kr = RotaryEmbedding <num_heads = 2, rotary_embedding_dim = 4, interleaved = 1> (k, c, s, ids)
      a = Attention <q_num_heads = 4, kv_num_heads = 2, is_causal = 1, scale = 0.5> (qr, kr, k, m)
      axis = Constant <value = int64 {8}> ()
      parts = SplitToSequence <axis = 2, keepdims = 1> (a, axis)
      one = Constant <value = int64 {1}> ()
      h = SequenceAt(parts, one)
      list = SequenceConstruct(h, n)
      stacked = ConcatFromSequence <axis = 0, new_axis = 1> (list)
      l = Trilu <upper = 0> (stacked, one)
      u = Mean(l, stacked, w_g)
      v, w = Split <axis = 0, num_outputs = 2> (u)
      t = Gelu <approximate = "tanh"> (v)
      z = Swish <alpha = 1.5> (t)
      like = CastLike(one, z)
      zz = Mul(z, like)
      first = Constant <value = int64[1] {0}> ()
      zs = Squeeze(zz, first)
      y = MatMul(zs, w_o)
    })"},
    Text{"groups", 18,
         R"(g (float[N, 4, 4, 4] x, float[2] w_s, float[2] w_t, float[3, 4, 1, 1] w_c) => (float[N, 3] y) {
      a = GroupNormalization <num_groups = 2, epsilon = 0.00001> (x, w_s, w_t)
      b = Mish(a)
      axes = Constant <value = int64[2] {2, 3}> ()
      c = ReduceMean <keepdims = 1, noop_with_empty_axes = 0> (b, axes)
      d = Conv(c, w_c)
      y = Squeeze(d, axes)
    })"},
};

/// Weights have no contents: what libonnx would refuse for their sake, the import is to find out.
::onnx::ModelProto parsed(const Text& text) {
  ::onnx::ModelProto model;
  const std::string whole =
      fmt::format("<ir_version: 8, opset_import: [\"\" : {}]>\n{}", text.opset, text.graph);
  const ::onnx::Common::Status status = ::onnx::OnnxParser::Parse(model, whole.c_str());
  if (!status.IsOK()) throw InternalError(fmt::format("seed {}: {}", text.name, status.ErrorMessage()));
  ::onnx::GraphProto& graph = *model.mutable_graph();
  google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto> inputs;
  for (const ::onnx::ValueInfoProto& input : graph.input()) {
    if (!input.name().starts_with("w_")) {
      *inputs.Add() = input;
      continue;
    }
    ::onnx::TensorProto& weight = *graph.add_initializer();
    weight.set_name(input.name());
    weight.set_data_type(::onnx::TensorProto::FLOAT);
    std::size_t bytes = sizeof(float);
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      weight.add_dims(dim.dim_value());
      bytes *= static_cast<std::size_t>(dim.dim_value());
    }
    weight.set_raw_data(std::string(bytes, '\0'));
  }
  graph.mutable_input()->Swap(&inputs);
  return model;
}

void strip_weights(::onnx::ModelProto& model) {
  constexpr std::size_t kMostBytes = 4096;
  for (::onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.raw_data().size() > kMostBytes) tensor.clear_raw_data();
    if (static_cast<std::size_t>(tensor.float_data_size()) * sizeof(float) > kMostBytes)
      tensor.clear_float_data();
  }
}

}  // namespace

std::vector<OnnxSeed> handmade_seeds() {
  std::vector<OnnxSeed> seeds;
  for (const Text& text : kTexts) seeds.push_back({text.name, parsed(text)});
  return seeds;
}

std::vector<OnnxSeed> network_seeds() {
  std::vector<OnnxSeed> seeds;
  for (const ZooEntry& entry : zoo()) {
    ZooOptions options;
    options.batch_size = 2;
    if (entry.name.starts_with("bert") || entry.name == "transformer") options.sequence_length = 16;
    for (const std::int64_t opset : {13, 17}) {
      OnnxSeed seed{fmt::format("{}_opset{}", entry.name, opset), {}};
      if (!seed.model.ParseFromString(to_onnx(build_network(entry.name, options), opset)))
        throw InternalError("to_onnx() writes a model");
      strip_weights(seed.model);
      seeds.push_back(std::move(seed));
    }
  }
  return seeds;
}

std::vector<OnnxSeed> node_test_seeds() {
  std::vector<OnnxSeed> seeds;
  for (const OnnxNodeCase& one : onnx_node_cases()) {
    OnnxSeed seed{one.name, one.model};
    for (std::size_t i = 1; i < one.inputs.size(); ++i)
      *seed.model.mutable_graph()->add_initializer() = one.inputs[i];
    strip_weights(seed.model);
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

}  // namespace poet::test
