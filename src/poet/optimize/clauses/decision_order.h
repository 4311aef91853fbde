#pragma once

// Which variable is decided next: that of the greatest activity, which decays (VSIDS; Moskewicz and others,
// DAC 2001).

#include <utility>
#include <vector>

#include "poet/base/numbers.h"

namespace poet {

class DecisionOrder {
 public:
  void add_variable(double activity) {
    activity_.push_back(activity);
    place_.push_back(-1);
    insert(static_cast<int>(activity_.size()) - 1);
  }

  /// Does nothing if it is there.
  void insert(int variable) {
    if (place_[at(variable)] >= 0) return;
    place_[at(variable)] = static_cast<int>(heap_.size());
    heap_.push_back(variable);
    rise(heap_.size() - 1);
  }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  /// Removes and returns the first.
  int pop() {
    const int first = heap_.front();
    place_[at(first)] = -1;
    const int last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) {
      heap_.front() = last;
      place_[at(last)] = 0;
      sink(0);
    }
    return first;
  }

  void bump(int variable) {
    constexpr double kMost = 1e100;
    activity_[at(variable)] += increment_;
    if (activity_[at(variable)] > kMost) {
      for (double& activity : activity_) activity /= kMost;
      increment_ /= kMost;
    }
    if (place_[at(variable)] >= 0) rise(at(place_[at(variable)]));
  }
  void decay() { increment_ /= 0.95; }

 private:
  [[nodiscard]] bool before(int a, int b) const { return activity_[at(a)] > activity_[at(b)]; }
  void put(std::size_t place, int variable) {
    heap_[place] = variable;
    place_[at(variable)] = static_cast<int>(place);
  }
  void rise(std::size_t place) {
    const int variable = heap_[place];
    for (; place > 0 && before(variable, heap_[(place - 1) / 2]); place = (place - 1) / 2)
      put(place, heap_[(place - 1) / 2]);
    put(place, variable);
  }
  void sink(std::size_t place) {
    const int variable = heap_[place];
    for (std::size_t child = 2 * place + 1; child < heap_.size(); child = 2 * place + 1) {
      if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], variable)) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, variable);
  }

  std::vector<double> activity_;
  std::vector<int> place_;  // in the heap, or -1
  std::vector<int> heap_;
  double increment_ = 1;
};

}  // namespace poet
