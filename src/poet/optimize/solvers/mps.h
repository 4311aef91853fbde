#pragma once

// Models as MPS files, and the solutions that solvers write to files.

#include <iosfwd>
#include <string>
#include <vector>

#include "poet/optimize/milp/model.h"

namespace poet {

using ColumnNames = std::vector<std::string>;

/// x0, x1, ...
[[nodiscard]] ColumnNames plain_names(const Model& model);

/// Free MPS (said in its NAME line, as Coin-OR wants it), minimisation: objective row "obj", whose right-hand
/// side is the negative of the cost constant, as CPLEX, Gurobi, HiGHS, SCIP, GLPK and CBC read it; rows r0,
/// r1, ...; a row with two different finite sides is a range where that keeps both to the last bit, else two
/// rows (r5, r5b). Every number is written in full double precision; every column occurs, with explicit
/// bounds unless they are 0 and infinity on a continuous column. `comments` go on top, a line each. Names
/// must be unique, without blanks.
void write_mps(std::ostream& out, const Model& model, const ColumnNames& names,
               const std::vector<std::string>& comments = {});

/// To a file, replaced if it exists. Throws InputError.
void write_mps_file(const std::string& file, const Model& model, const ColumnNames& names,
                    const std::vector<std::string>& comments = {});

struct SolutionFile {
  bool has_solution =
      false;              // some value, or a claim to be optimal: a solution of zeros may be an empty list
  std::string claim;      // the solver's word on it, as "Optimal - objective value 12"; for messages
  std::vector<double> x;  // columns that the file leaves out are 0
};

/// Reads what Gurobi (.sol), SCIP, CBC (`solution`), HiGHS (solution_file, raw) and `glpsol --write` write,
/// and bare lines "name value". Columns are found by name, in glpsol's by number. Lines that begin with # or
/// are empty are skipped; row values and duals are not read. Throws InputError, with place and line, for
/// names that are no column, values that are no finite numbers, and columns given twice. O(file).
[[nodiscard]] SolutionFile read_solution(std::istream& in, const ColumnNames& names,
                                         const std::string& place);

}  // namespace poet
