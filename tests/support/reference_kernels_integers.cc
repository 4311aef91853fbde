// Reference kernels of comparisons, logic, conversions, choice, gathering and stretching. Integers and truth
// values are doubles that are whole.

#include <cmath>
#include <cstddef>

#include "tests/support/reference_call.h"

namespace poet::reference {
namespace {

using Binary = double (*)(double, double);

Kernel combined(Binary f) {
  return [f](Call& c) {
    Array& y = c.out[0];
    for (Index i = 0; i < count(y); ++i) {
      at(y.data, i) =
          f(at(c.in[0], met(c.in[0].shape, y.shape, i)), at(c.in[1], met(c.in[1].shape, y.shape, i)));
    }
  };
}

double truth(bool x) { return x ? 1.0 : 0.0; }

void cast(Call& c) {
  const std::string& to = std::get<std::string>(c.op.attributes.at("to"));
  for (Index i = 0; i < count(c.in[0]); ++i) {
    const double x = at(c.in[0], i);
    at(c.out[0].data, i) = to == "float32" ? x : to == "int32" ? std::trunc(x) : truth(x != 0.0);
  }
}

void where(Call& c) {
  Array& y = c.out[0];
  for (Index i = 0; i < count(y); ++i) {
    const bool first = at(c.in[0], met(c.in[0].shape, y.shape, i)) != 0.0;
    const Array& from = c.in[first ? 1 : 2];
    at(y.data, i) = at(from, met(from.shape, y.shape, i));
  }
}

/// dy where the condition is `of_first`, summed to the operand's shape.
Kernel where_backward(bool of_first) {
  return [of_first](Call& c) {
    const Array& dy = c.in[0];
    for (Index i = 0; i < count(dy); ++i) {
      const bool first = at(c.in[1], met(c.in[1].shape, dy.shape, i)) != 0.0;
      if (first == of_first) at(c.out[0].data, met(c.out[0].shape, dy.shape, i)) += at(dy, i);
    }
  };
}

void expand(Call& c) {
  Array& y = c.out[0];
  for (Index i = 0; i < count(y); ++i) at(y.data, i) = at(c.in[0], met(c.in[0].shape, y.shape, i));
}

/// Calls f(element of the result, element of x) for a gather of `indices` along `axis` of x.
template <class F>
void gathered(const Call& c, const Shape& x, const Array& indices, const F& f) {
  const auto axis = static_cast<std::size_t>(c.integer("axis"));
  Index inner = 1;
  for (std::size_t i = axis + 1; i < x.size(); ++i) inner *= x[i];
  Index outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= x[i];
  Index to = 0;
  for (Index o = 0; o < outer; ++o) {
    for (Index i = 0; i < count(indices); ++i) {
      const Index position = static_cast<Index>(at(indices, i));
      const Index from_front = position < 0 ? position + x[axis] : position;
      for (Index k = 0; k < inner; ++k) f(to++, (o * x[axis] + from_front) * inner + k);
    }
  }
}

/// The same for gather_elements.
template <class F>
void picked(const Call& c, const Shape& x, const Array& indices, const F& f) {
  const auto axis = static_cast<std::size_t>(c.integer("axis"));
  for (Index i = 0; i < count(indices); ++i) {
    const Index chosen = static_cast<Index>(at(indices, i));
    Index rest = i;
    Index from = 0;
    Index stride = 1;
    for (std::size_t a = x.size(); a-- > 0;) {
      const Index own = rest % indices.shape[a];
      rest /= indices.shape[a];
      from += (a != axis ? own : chosen < 0 ? chosen + x[a] : chosen) * stride;
      stride *= x[a];
    }
    f(i, from);
  }
}

/// Runs along the axis: calls f(first element, distance between elements, elements).
template <class F>
void along(const Call& c, const Array& x, const F& f) {
  const auto axis = static_cast<std::size_t>(c.integer("axis"));
  Index inner = 1;
  for (std::size_t i = axis + 1; i < x.shape.size(); ++i) inner *= x.shape[i];
  const Index length = x.shape[axis];
  for (Index o = 0; o < count(x) / (inner * length); ++o) {
    for (Index k = 0; k < inner; ++k) f(o * length * inner + k, inner, length);
  }
}

/// Each element is the sum of those up to it; `back` from the end.
void running_sum(Call& c, bool back) {
  const bool exclusive = c.integer("exclusive") != 0;
  const Array& x = c.in[0];
  along(c, x, [&](Index first, Index step, Index length) {
    double sum = 0.0;
    for (Index k = 0; k < length; ++k) {
      const Index i = first + (back ? length - 1 - k : k) * step;
      at(c.out[0].data, i) = exclusive ? sum : sum + at(x, i);
      sum += at(x, i);
    }
  });
}

void argmax(Call& c) {
  const bool last = c.integer("last") != 0;
  Index next = 0;
  along(c, c.in[0], [&](Index first, Index step, Index length) {
    Index best = 0;
    for (Index k = 1; k < length; ++k) {
      const double x = at(c.in[0], first + k * step);
      const double most = at(c.in[0], first + best * step);
      if (x > most || (last && x == most)) best = k;
    }
    at(c.out[0].data, next++) = static_cast<double>(best);
  });
}

}  // namespace

void add_integer_kernels(std::map<std::string, Kernel>& table) {
  table["equal"] = combined([](double a, double b) { return truth(a == b); });
  table["less"] = combined([](double a, double b) { return truth(a < b); });
  table["less_or_equal"] = combined([](double a, double b) { return truth(a <= b); });
  table["greater"] = combined([](double a, double b) { return truth(a > b); });
  table["greater_or_equal"] = combined([](double a, double b) { return truth(a >= b); });
  table["logical_and"] = combined([](double a, double b) { return truth(a != 0.0 && b != 0.0); });
  table["logical_or"] = combined([](double a, double b) { return truth(a != 0.0 || b != 0.0); });
  table["logical_xor"] = combined([](double a, double b) { return truth((a != 0.0) != (b != 0.0)); });
  table["logical_not"] = [](Call& c) {
    for (Index i = 0; i < count(c.in[0]); ++i) at(c.out[0].data, i) = truth(at(c.in[0], i) == 0.0);
  };
  table["int_div"] = combined([](double a, double b) { return std::trunc(a / b); });
  table["mod"] = combined([](double a, double b) { return a - b * std::floor(a / b); });
  table["cast"] = cast;
  table["where"] = where;
  table["where_backward_a"] = where_backward(true);
  table["where_backward_b"] = where_backward(false);
  table["expand"] = expand;
  table["gather"] = [](Call& c) {
    gathered(c, c.in[0].shape, c.in[1],
             [&c](Index to, Index from) { at(c.out[0].data, to) = at(c.in[0], from); });
  };
  table["gather_backward"] = [](Call& c) {
    gathered(c, c.out[0].shape, c.in[1],
             [&c](Index to, Index from) { at(c.out[0].data, from) += at(c.in[0], to); });
  };
  table["gather_elements"] = [](Call& c) {
    picked(c, c.in[0].shape, c.in[1],
           [&c](Index to, Index from) { at(c.out[0].data, to) = at(c.in[0], from); });
  };
  table["gather_elements_backward"] = [](Call& c) {
    picked(c, c.out[0].shape, c.in[1],
           [&c](Index to, Index from) { at(c.out[0].data, from) += at(c.in[0], to); });
  };
  table["cumsum"] = [](Call& c) { running_sum(c, c.integer("reverse") != 0); };
  table["cumsum_backward"] = [](Call& c) { running_sum(c, c.integer("reverse") == 0); };
  table["argmax"] = argmax;
}

}  // namespace poet::reference
