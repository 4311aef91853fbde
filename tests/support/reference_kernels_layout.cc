// Reference kernels of concat, split, slice, pad, transpose, group_norm and lrn.

#include <cmath>
#include <cstddef>
#include <utility>

#include "tests/support/reference_call.h"

namespace poet::reference {
namespace {

using Position = std::vector<Index>;

Position position_of(const Shape& shape, Index element) {
  Position position(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return position;
}

Index element_at(const Shape& shape, const Position& position) {
  Index element = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) element = element * shape[axis] + position[axis];
  return element;
}

/// Copies element by element of the smaller tensor: `place` says where an element of `part` is in `whole`.
template <class Place>
void gather(const Array& whole, Array& part, const Place& place) {
  for (Index i = 0; i < count(part); ++i) {
    at(part.data, i) = at(whole, element_at(whole.shape, place(position_of(part.shape, i))));
  }
}
template <class Place>
void scatter(const Array& part, Array& whole, const Place& place) {
  for (Index i = 0; i < count(part); ++i) {
    at(whole.data, element_at(whole.shape, place(position_of(part.shape, i)))) = at(part, i);
  }
}

/// The place of an element of input `input` in the result of a concat.
auto concat_place(const Call& c, Index input) {
  const auto axis = static_cast<std::size_t>(c.integer("axis"));
  Index offset = 0;
  for (Index i = 0; i < input; ++i) offset += c.list("sizes").at(static_cast<std::size_t>(i));
  return [axis, offset](Position position) {
    position[axis] += offset;
    return position;
  };
}

void concat(Call& c) {
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    scatter(c.in[i], c.out[0], concat_place(c, static_cast<Index>(i)));
  }
}

void concat_backward(Call& c) { gather(c.in[0], c.out[0], concat_place(c, c.list("gradients").at(0))); }

void split(Call& c) {
  for (std::size_t i = 0; i < c.out.size(); ++i) {
    gather(c.in[0], c.out[i], concat_place(c, static_cast<Index>(i)));
  }
}

/// Reads the gradients of the parts that have one.
void split_backward(Call& c) {
  const auto some = c.op.attributes.find("output_gradients");
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    const Index part =
        some == c.op.attributes.end() ? static_cast<Index>(i) : c.list("output_gradients").at(i);
    scatter(c.in[i], c.out[0], concat_place(c, part));
  }
}

/// The place of an element of a slice in what is sliced.
auto slice_place(const Call& c) {
  return [&starts = c.list("starts"), &steps = c.list("steps")](Position position) {
    for (std::size_t axis = 0; axis < position.size(); ++axis) {
      position[axis] = starts[axis] + position[axis] * steps[axis];
    }
    return position;
  };
}

/// The place of an element of the image in the padded image.
auto pad_place(const Call& c) {
  return [&before = c.list("before")](Position position) {
    for (std::size_t axis = 0; axis < position.size(); ++axis) position[axis] += before[axis];
    return position;
  };
}

void pad(Call& c) {
  std::fill(c.out[0].data.begin(), c.out[0].data.end(), c.real("value"));
  scatter(c.in[0], c.out[0], pad_place(c));
}

/// The place of an element of a transpose in what is transposed.
auto transpose_place(const Call& c) {
  return [&axes = c.list("axes")](const Position& position) {
    Position from(position.size());
    for (std::size_t axis = 0; axis < position.size(); ++axis) {
      from[static_cast<std::size_t>(axes[axis])] = position[axis];
    }
    return from;
  };
}

/// Element i of x (N, C, ...): its group among those of all images, and its channel.
struct GroupPlace {
  Index group;
  Index channel;
};
GroupPlace group_place(const Array& x, Index groups, Index i) {
  const Index inner = count(x) / (dim(x, 0) * dim(x, 1));
  const Index channel = i / inner % dim(x, 1);
  const Index image = i / (inner * dim(x, 1));
  return {image * groups + channel / (dim(x, 1) / groups), channel};
}

void group_norm(Call& c) {
  const Array& x = c.in[0];
  const Index groups = c.integer("groups");
  Array& mean = c.out[1];
  Array& rstd = c.out[2];
  const double size = static_cast<double>(count(x)) / static_cast<double>(count(mean));
  for (Index i = 0; i < count(x); ++i) at(mean.data, group_place(x, groups, i).group) += at(x, i) / size;
  for (Index i = 0; i < count(x); ++i) {
    const Index group = group_place(x, groups, i).group;
    at(rstd.data, group) += std::pow(at(x, i) - at(mean, group), 2) / size;
  }
  for (double& variance : rstd.data) variance = 1.0 / std::sqrt(variance + c.real("eps"));
  for (Index i = 0; i < count(x); ++i) {
    const GroupPlace place = group_place(x, groups, i);
    const double standard = (at(x, i) - at(mean, place.group)) * at(rstd, place.group);
    at(c.out[0].data, i) = standard * at(c.in[1], place.channel) + at(c.in[2], place.channel);
  }
}

void group_norm_backward(Call& c) {
  const Array& dy = c.in[0];
  const Array& x = c.in[1];
  const Array& mean = c.in[3];
  const Array& rstd = c.in[4];
  const Index groups = c.integer("groups");
  const double size = static_cast<double>(count(x)) / static_cast<double>(count(mean));
  const auto standard = [&](Index i, Index group) { return (at(x, i) - at(mean, group)) * at(rstd, group); };
  std::vector<double> sum(mean.data.size(), 0.0);
  std::vector<double> projection(mean.data.size(), 0.0);
  for (Index i = 0; i < count(x); ++i) {
    const GroupPlace place = group_place(x, groups, i);
    const double d = at(dy, i) * at(c.in[2], place.channel);
    at(sum, place.group) += d / size;
    at(projection, place.group) += d * standard(i, place.group) / size;
  }
  Array* dx = c.gradient(0, {0, 1, 2});
  Array* dweight = c.gradient(1, {0, 1, 2});
  Array* dbias = c.gradient(2, {0, 1, 2});
  for (Index i = 0; i < count(x); ++i) {
    const auto [group, channel] = group_place(x, groups, i);
    const double normed = standard(i, group);
    if (dx != nullptr) {
      const double d = at(dy, i) * at(c.in[2], channel);
      at(dx->data, i) = at(rstd, group) * (d - at(sum, group) - normed * at(projection, group));
    }
    if (dweight != nullptr) at(dweight->data, channel) += at(dy, i) * normed;
    if (dbias != nullptr) at(dbias->data, channel) += at(dy, i);
  }
}

/// Calls f(i, j) for every element i of x (N, C, ...) and every element j in its window of channels.
template <class F>
void across_channels(const Call& c, const Array& x, const F& f) {
  const Index size = c.integer("size");
  const Index channels = dim(x, 1);
  const Index inner = count(x) / (dim(x, 0) * channels);
  for (Index i = 0; i < count(x); ++i) {
    const Index channel = i / inner % channels;
    for (Index k = 0; k < size; ++k) {
      const Index other = channel - (size - 1) / 2 + k;
      if (other >= 0 && other < channels) f(i, i + (other - channel) * inner);
    }
  }
}

Array lrn_scale(const Call& c, const Array& x) {
  Array scale{x.shape, std::vector<double>(x.data.size(), c.real("bias"))};
  const double factor = c.real("alpha") / static_cast<double>(c.integer("size"));
  across_channels(c, x, [&](Index i, Index j) { at(scale.data, i) += factor * at(x, j) * at(x, j); });
  return scale;
}

void lrn(Call& c) {
  const Array& x = c.in[0];
  const Array scale = lrn_scale(c, x);
  for (Index i = 0; i < count(x); ++i) {
    at(c.out[0].data, i) = at(x, i) * std::pow(at(scale, i), -c.real("beta"));
  }
}

void lrn_backward(Call& c) {
  const Array& dy = c.in[0];
  const Array& x = c.in[1];
  const Array scale = lrn_scale(c, x);
  const double beta = c.real("beta");
  const double factor = 2.0 * c.real("alpha") * beta / static_cast<double>(c.integer("size"));
  std::vector<double>& dx = c.out[0].data;
  for (Index i = 0; i < count(x); ++i) at(dx, i) += at(dy, i) * std::pow(at(scale, i), -beta);
  across_channels(c, x, [&](Index i, Index j) {
    at(dx, j) -= factor * at(x, j) * at(dy, i) * at(x, i) * std::pow(at(scale, i), -beta - 1.0);
  });
}

}  // namespace

void add_layout_kernels(std::map<std::string, Kernel>& table) {
  table["concat"] = concat;
  table["concat_backward"] = concat_backward;
  table["split"] = split;
  table["split_backward"] = split_backward;
  table["slice"] = [](Call& c) { gather(c.in[0], c.out[0], slice_place(c)); };
  table["slice_backward"] = [](Call& c) { scatter(c.in[0], c.out[0], slice_place(c)); };
  table["pad"] = pad;
  table["pad_backward"] = [](Call& c) { gather(c.in[0], c.out[0], pad_place(c)); };
  table["transpose"] = [](Call& c) { gather(c.in[0], c.out[0], transpose_place(c)); };
  table["transpose_backward"] = [](Call& c) { scatter(c.in[0], c.out[0], transpose_place(c)); };
  table["group_norm"] = group_norm;
  table["group_norm_backward"] = group_norm_backward;
  table["lrn"] = lrn;
  table["lrn_backward"] = lrn_backward;
}

}  // namespace poet::reference
