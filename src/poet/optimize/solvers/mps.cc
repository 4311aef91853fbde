#include "poet/optimize/solvers/mps.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <ostream>
#include <sstream>

#include "poet/base/error.h"
#include "poet/base/write_file.h"

namespace poet {
namespace {

// How a row is written. Split: as two rows, the lower side separately.
enum class Form { at_most, at_least, equal, range, split, none };

Form form_of(double low, double high) {
  if (low == -kInfinity) return high == kInfinity ? Form::none : Form::at_most;
  if (high == kInfinity) return Form::at_least;
  if (low == high) return Form::equal;
  // Readers compute the lower side of a row "at most high" as high - range.
  return high - (high - low) == low ? Form::range : Form::split;
}

std::string row_name(std::size_t row) { return fmt::format("r{}", row); }

struct Entry {
  std::size_t row;
  double value;
};

void write_columns(std::ostream& out, const Model& model, const ColumnNames& names,
                   const std::vector<Form>& forms) {
  std::vector<std::vector<Entry>> columns(names.size());
  for (std::size_t r = 0; r < forms.size(); ++r)
    if (forms[r] != Form::none)
      for (std::size_t k = model.row_start[r]; k < model.row_start[r + 1]; ++k)
        columns[static_cast<std::size_t>(model.entry_column[k])].push_back({r, model.entry_value[k]});
  out << "COLUMNS\n";
  bool in_integers = false;
  int markers = 0;
  const auto mark = [&](bool integers) {
    if (integers == in_integers) return;
    fmt::print(out, " marker{} 'MARKER' '{}'\n", markers++, integers ? "INTORG" : "INTEND");
    in_integers = integers;
  };
  for (std::size_t c = 0; c < names.size(); ++c) {
    mark(model.integer[c] != 0);
    if (model.cost[c] != 0 || columns[c].empty()) fmt::print(out, " {} obj {}\n", names[c], model.cost[c]);
    for (const Entry& entry : columns[c]) {
      fmt::print(out, " {} {} {}\n", names[c], row_name(entry.row), entry.value);
      if (forms[entry.row] == Form::split)
        fmt::print(out, " {} {}b {}\n", names[c], row_name(entry.row), entry.value);
    }
  }
  mark(false);
}

void write_bounds(std::ostream& out, const Model& model, const ColumnNames& names) {
  out << "BOUNDS\n";
  for (std::size_t c = 0; c < names.size(); ++c) {
    const double low = model.lower[c];
    const double high = model.upper[c];
    const auto bound = [&](const char* kind, double value) {
      fmt::print(out, " {} bnd {} {}\n", kind, names[c], value);
    };
    const auto bare = [&](const char* kind) { fmt::print(out, " {} bnd {}\n", kind, names[c]); };
    if (low == high) {
      bound("FX", low);
    } else if (low == -kInfinity && high == kInfinity) {
      bare("FR");
    } else {
      if (low == -kInfinity)
        bare("MI");
      else if (low != 0 || model.integer[c] || high < 0)
        bound("LO", low);
      if (high < kInfinity)
        bound("UP", high);
      else if (model.integer[c])  // some readers assume binaries without an upper bound
        bare("PL");
    }
  }
}

}  // namespace

ColumnNames plain_names(const Model& model) {
  ColumnNames names;
  for (int c = 0; c < model.columns(); ++c) names.push_back(fmt::format("x{}", c));
  return names;
}

void write_mps(std::ostream& out, const Model& model, const ColumnNames& names,
               const std::vector<std::string>& comments) {
  ensure(names.size() == model.lower.size(), "write_mps: a name for each column");
  std::vector<Form> forms;
  for (std::size_t r = 0; r < model.row_lower.size(); ++r)
    forms.push_back(form_of(model.row_lower[r], model.row_upper[r]));
  for (const std::string& comment : comments) fmt::print(out, "* {}\n", comment);
  out << "NAME poet FREE\nROWS\n N obj\n";
  for (std::size_t r = 0; r < forms.size(); ++r) {
    if (forms[r] == Form::none) continue;
    const char kind = forms[r] == Form::equal ? 'E' : forms[r] == Form::at_least ? 'G' : 'L';
    fmt::print(out, " {} {}\n", kind, row_name(r));
    if (forms[r] == Form::split) fmt::print(out, " G {}b\n", row_name(r));
  }
  write_columns(out, model, names, forms);
  out << "RHS\n";
  if (model.cost_constant != 0) fmt::print(out, " rhs obj {}\n", -model.cost_constant);
  for (std::size_t r = 0; r < forms.size(); ++r) {
    if (forms[r] == Form::none) continue;
    const double side = forms[r] == Form::at_least ? model.row_lower[r] : model.row_upper[r];
    if (side != 0) fmt::print(out, " rhs {} {}\n", row_name(r), side);
    if (forms[r] == Form::split) fmt::print(out, " rhs {}b {}\n", row_name(r), model.row_lower[r]);
  }
  bool any_range = false;
  for (std::size_t r = 0; r < forms.size(); ++r) {
    if (forms[r] != Form::range) continue;
    if (!any_range) out << "RANGES\n";
    any_range = true;
    fmt::print(out, " rng {} {}\n", row_name(r), model.row_upper[r] - model.row_lower[r]);
  }
  write_bounds(out, model, names);
  out << "ENDATA\n";
}

void write_mps_file(const std::string& file, const Model& model, const ColumnNames& names,
                    const std::vector<std::string>& comments) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // as where there is no memory
  write_mps(out, model, names, comments);
  write_file(file, out.str());
}

}  // namespace poet
