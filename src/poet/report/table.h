#pragma once

// Text in aligned columns, for terminals.

#include <string>
#include <utility>
#include <vector>

namespace poet {

enum class Align { left, right };

/// Rows of cells under a heading; columns are as wide as their widest cell. Widths are in UTF-8 characters.
/// The last column is not padded, so that no line ends in spaces.
class Table {
 public:
  struct Column {
    std::string heading;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many cells as columns.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Every line ends in a newline and starts with `indent` spaces. Without any heading there is no heading
  /// line. The last column breaks at spaces where a line would be longer than `width`, but is never narrower
  /// than 30.
  [[nodiscard]] std::string text(int indent = 0, int width = 120) const;
  /// The same for a terminal of `width` columns, which no line exceeds unless a single column does: texts on
  /// the left are shortened, down to 16 characters, where that is enough; else columns that do not fit come
  /// in a table below, beside the first one again.
  [[nodiscard]] std::string fitted(int width, int indent = 0) const;

 private:
  using Widths = std::vector<std::size_t>;
  [[nodiscard]] Widths natural_widths() const;
  /// Of the columns `shown`, in that order; a last one of words is at least `narrowest` wide.
  [[nodiscard]] std::string block(const std::vector<std::size_t>& shown, const Widths& widths, int indent,
                                  int width, int narrowest) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns of a terminal that `text` takes: characters, not the bytes that continue one, nor the sequences
/// that change colours.
[[nodiscard]] std::size_t columns_of(const std::string& text);

/// The end of `text` in at most `width` characters, after an ellipsis where that is not all: of layers' names
/// the end tells one from the other.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t width);

/// `text` in lines of at most `width` columns, broken at spaces but not between a number and its unit; lines
/// after the first start with `indent` spaces.
[[nodiscard]] std::string wrapped(const std::string& text, int width, int indent);

}  // namespace poet
