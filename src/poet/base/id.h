#pragma once

// Typed indices: an OpId cannot index a table of values. `IdVector<Id, T>` is a std::vector addressed by such
// an id.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace poet {

template <class Tag>
struct Id {
  std::int32_t index = -1;

  constexpr Id() = default;
  constexpr explicit Id(std::int32_t i) : index(i) {}
  constexpr explicit Id(std::size_t i) : index(static_cast<std::int32_t>(i)) {}

  [[nodiscard]] constexpr bool valid() const { return index >= 0; }
  constexpr auto operator<=>(const Id&) const = default;
};

using OpId = Id<struct OpTag>;
using ValueId = Id<struct ValueTag>;

template <class IdType, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(std::size_t size, const T& initial = T{}) : items_(size, initial) {}

  T& operator[](IdType id) { return items_[static_cast<std::size_t>(id.index)]; }
  const T& operator[](IdType id) const { return items_[static_cast<std::size_t>(id.index)]; }
  [[nodiscard]] const T& at(IdType id) const { return items_.at(static_cast<std::size_t>(id.index)); }

  /// Appends and returns the id of the new item.
  IdType push_back(T item) {
    items_.push_back(std::move(item));
    return IdType(items_.size() - 1);
  }

  [[nodiscard]] bool contains(IdType id) const {
    return id.index >= 0 && static_cast<std::size_t>(id.index) < items_.size();
  }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] IdType next_id() const { return IdType(items_.size()); }

  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<T> items_;
};

/// Every id below `count`, in order: `for (OpId op : ids<OpId>(graph.ops.size()))`.
template <class IdType>
class IdRange {
 public:
  explicit IdRange(std::size_t count) : count_(static_cast<std::int32_t>(count)) {}
  struct iterator {
    std::int32_t i;
    IdType operator*() const { return IdType(i); }
    iterator& operator++() {
      ++i;
      return *this;
    }
    bool operator!=(const iterator& other) const { return i != other.i; }
  };
  [[nodiscard]] iterator begin() const { return {0}; }
  [[nodiscard]] iterator end() const { return {count_}; }

 private:
  std::int32_t count_;
};

template <class IdType>
IdRange<IdType> ids(std::size_t count) {
  return IdRange<IdType>(count);
}

}  // namespace poet

template <class Tag>
struct std::hash<poet::Id<Tag>> {
  std::size_t operator()(poet::Id<Tag> id) const noexcept { return std::hash<std::int32_t>{}(id.index); }
};
