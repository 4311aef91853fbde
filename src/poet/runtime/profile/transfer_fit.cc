#include "poet/runtime/profile/transfer_fit.h"

#include <cmath>
#include <map>

#include "poet/base/error.h"
#include "poet/base/median.h"
#include "poet/base/quantile.h"
#include "poet/cost/variation.h"

namespace poet::runtime {
namespace {

struct Line {
  double latency = 0;
  double seconds_per_byte = 0;
};

/// Minimises the sum over sizes of ((latency + slope * bytes) / time - 1)^2, which with u = 1 / time and
/// v = bytes / time is a linear problem in two unknowns.
Line fit_line(const std::map<double, double>& time_of_bytes) {
  double uu = 0;
  double uv = 0;
  double vv = 0;
  double u_sum = 0;
  double v_sum = 0;
  for (const auto& [bytes, time] : time_of_bytes) {
    const double u = 1 / time;
    const double v = bytes / time;
    uu += u * u;
    uv += u * v;
    vv += v * v;
    u_sum += u;
    v_sum += v;
  }
  const double determinant = uu * vv - uv * uv;
  const double latency = (u_sum * vv - v_sum * uv) / determinant;
  const double slope = (v_sum * uu - u_sum * uv) / determinant;
  // On the border the best of the other parameter: the problem is convex.
  if (latency < 0) return {0, v_sum / vv};
  if (slope <= 0) return {u_sum / uu, 0};
  return {latency, slope};
}

}  // namespace

TransferFit fit_transfers(const std::vector<TransferSample>& samples) {
  std::map<double, std::vector<double>> times;
  for (const TransferSample& sample : samples) {
    ensure(sample.bytes.value() > 0 && sample.time.value() > 0, "a transfer has bytes and takes time");
    times[static_cast<double>(sample.bytes.value())].push_back(sample.time.value());
  }
  ensure(times.size() >= 2, "a line goes through two points");
  std::map<double, double> medians;
  std::vector<double> factors;
  for (const auto& [bytes, of_size] : times) {
    medians[bytes] = median(of_size);
    factors.push_back(quantile(of_size, kHighQuantile) / medians[bytes]);
  }

  const Line line = fit_line(medians);
  std::vector<double> errors;
  for (const TransferSample& sample : samples) {
    const double modelled = line.latency + line.seconds_per_byte * static_cast<double>(sample.bytes.value());
    errors.push_back(std::abs(sample.time.value() - modelled) / modelled);
  }
  const auto& largest = *medians.rbegin();
  const double rate = line.seconds_per_byte > 0 ? 1 / line.seconds_per_byte : largest.first / largest.second;
  return {Seconds(line.latency), rate, median(std::move(errors)), median(std::move(factors))};
}

}  // namespace poet::runtime
