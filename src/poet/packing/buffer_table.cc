#include "poet/packing/buffer_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/base/text.h"

namespace poet {
namespace {

enum Column : std::size_t { id, lower, upper, size, alignment, gaps, offset, bank, hint, column_count };

struct ColumnName {
  const char* name;
  Column column;
};

constexpr std::array kColumns = {ColumnName{"id", id},        ColumnName{"buffer", id},
                                 ColumnName{"buffer_id", id}, ColumnName{"lower", lower},
                                 ColumnName{"begin", lower},  ColumnName{"start", lower},
                                 ColumnName{"upper", upper},  ColumnName{"end", upper},
                                 ColumnName{"size", size},    ColumnName{"alignment", alignment},
                                 ColumnName{"gaps", gaps},    ColumnName{"offset", offset},
                                 ColumnName{"bank", bank},    ColumnName{"hint", hint}};

std::string trimmed_cell(std::string_view text) {
  constexpr const char* kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

/// The last cell may be empty.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (const std::string& cell : pieces_of(line, ',')) cells.push_back(trimmed_cell(cell));
  if (line.ends_with(',')) cells.emplace_back();
  return cells;
}

class TableReader {
 public:
  explicit TableReader(const std::string& name) : name_(name) {}

  BufferTable read(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // begins what Excel saves as "CSV UTF-8"
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    for (const std::string& line : pieces_of(text, '\n')) {
      ++line_;
      if (trimmed_cell(line).empty()) continue;
      if (line.find('"') != std::string::npos) refuse("quotes around values are not supported");
      if (table_.heading.empty())
        read_heading(line);
      else
        read_row(line);
    }
    if (table_.heading.empty())
      throw InputError(name_, "must begin with a heading such as id,lower,upper,size");
    return std::move(table_);
  }

 private:
  [[nodiscard]] std::string place() const { return fmt::format("{}:{}", name_, line_); }
  [[noreturn]] void refuse(const std::string& rule) const { throw InputError(place(), rule); }

  void read_heading(const std::string& line) {
    table_.heading = cells_of(line);
    for (std::size_t c = 0; c < table_.heading.size(); ++c) {
      const std::string& name = table_.heading[c];
      const auto known = std::find_if(kColumns.begin(), kColumns.end(),
                                      [&](const ColumnName& one) { return one.name == name; });
      if (known == kColumns.end()) {
        std::vector<std::string> names;
        for (const ColumnName& one : kColumns) names.emplace_back(one.name);
        refuse(fmt::format("the column \"{}\" is unknown{}", name, did_you_mean(name, names)));
      }
      if (at_[known->column])
        refuse(fmt::format("there are two columns for \"{}\"", first_name(known->column)));
      at_[known->column] = c + 1;
      if (name == "end") last_is_within_ = 1;
    }
    for (const Column needed : {id, lower, upper, size})
      if (!at_[needed]) refuse(fmt::format("the column \"{}\" is missing", first_name(needed)));
  }

  /// The first of its names.
  static const char* first_name(Column column) {
    return std::find_if(kColumns.begin(), kColumns.end(),
                        [&](const ColumnName& one) { return one.column == column; })
        ->name;
  }

  void read_row(const std::string& line) {
    row_ = cells_of(line);
    if (row_.size() != table_.heading.size())
      refuse(fmt::format("there are {} values for {} columns", row_.size(), table_.heading.size()));
    RequestedBuffer buffer;
    buffer.id = cell(id);
    buffer.lower = number(lower);
    buffer.upper = number(upper) + last_is_within_;
    if (last_is_within_ && buffer.upper <= buffer.lower)
      refuse(fmt::format("the end {} must not be before the start {}", buffer.upper - 1, buffer.lower));
    buffer.bytes = number(size);
    if (!cell(alignment).empty()) buffer.alignment = number(alignment);
    if (!cell(offset).empty()) buffer.offset = number(offset);
    buffer.bank = cell(bank);
    buffer.gaps = read_gaps(cell(gaps));
    buffer.place = place();
    table_.buffers.push_back(std::move(buffer));
    table_.rows.push_back(std::move(row_));
  }

  /// Empty where there is no such column.
  [[nodiscard]] std::string cell(Column column) const { return at_[column] ? row_[at_[column] - 1] : ""; }

  [[nodiscard]] std::int64_t number(Column column) const {
    return number_in(cell(column), first_name(column));
  }

  [[nodiscard]] std::int64_t number_in(const std::string& text, const char* what) const {
    std::int64_t number = 0;
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end || number > kMost || number < -kMost)
      refuse(fmt::format("{}: \"{}\" is not a whole number within 2^60", what, text));
    return number;
  }

  [[nodiscard]] std::vector<Lifetime> read_gaps(const std::string& text) const {
    std::vector<Lifetime> found;
    for (const std::string& word : words_of(text)) {
      if (word.find('@') != std::string::npos)
        refuse(fmt::format("gaps: \"{}\" keeps a part of the buffer (@), which is not supported", word));
      const std::size_t dash = word.find('-', 1);
      if (dash == std::string::npos) refuse(fmt::format("gaps: \"{}\" is not a period such as 3-5", word));
      found.push_back({number_in(word.substr(0, dash), "gaps"),
                       number_in(word.substr(dash + 1), "gaps") + last_is_within_});
    }
    return found;
  }

  const std::string name_;
  int line_ = 0;
  std::array<std::size_t, column_count> at_{};  // 0: there is none, else from 1
  std::int64_t last_is_within_ = 0;             // 1: ends are those of MiniMalloc's column `end`
  std::vector<std::string> row_;
  BufferTable table_;
};

/// The column's index; a new last one if the table lacks it.
std::size_t column_for(std::vector<std::string>& heading, const char* name) {
  const auto found = std::find(heading.begin(), heading.end(), name);
  if (found != heading.end()) return static_cast<std::size_t>(found - heading.begin());
  heading.emplace_back(name);
  return heading.size() - 1;
}

}  // namespace

BufferTable read_buffer_table(const std::string& text, const std::string& name) {
  return TableReader(name).read(text);
}

std::string buffer_table_text(const BufferTable& table, const std::vector<Bank>& banks,
                              const PackSolution& solution) {
  std::vector<std::string> heading = table.heading;
  const std::size_t offsets = column_for(heading, "offset");
  const std::size_t in = banks.empty() ? offsets : column_for(heading, "bank");
  std::string text = fmt::format("{}\n", fmt::join(heading, ","));
  for (std::size_t b = 0; b < table.rows.size(); ++b) {
    std::vector<std::string> row = table.rows[b];
    row.resize(heading.size());
    if (!banks.empty()) row[in] = banks[solution.buffers[b].bank].name;
    row[offsets] = fmt::format("{}", solution.buffers[b].offset);
    text += fmt::format("{}\n", fmt::join(row, ","));
  }
  return text;
}

}  // namespace poet
