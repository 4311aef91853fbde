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

/// Writes free MPS (marked in its NAME line, as Coin-OR requires), minimisation: objective row "obj", whose
/// right-hand side is the negative of the cost constant, as CPLEX, Gurobi, HiGHS, SCIP, GLPK and CBC read it;
/// rows r0, r1, ...; a row with two different finite sides is a range where that keeps both to the last bit,
/// else two rows (r5, r5b). Every number is written in full double precision; every column occurs, with
/// explicit bounds unless they are 0 and infinity on a continuous column. `comments` go on top, a line each.
/// Names must be unique, without blanks.
void write_mps(std::ostream& out, const Model& model, const ColumnNames& names,
               const std::vector<std::string>& comments = {});

/// Writes to a file, replacing it. Throws InputError.
void write_mps_file(const std::string& file, const Model& model, const ColumnNames& names,
                    const std::vector<std::string>& comments = {});

struct SolutionFile {
  bool has_solution = false;  // has values, or claims to be optimal: a solution of zeros may be an empty list
  std::string claim;          // the solver's status text, as "Optimal - objective value 12"; for messages
  std::vector<double> x;      // 0 for columns that are not in the file
};

/// Reads the formats of Gurobi (.sol), SCIP, CBC (`solution`), HiGHS (solution_file, raw) and `glpsol
/// --write`, and plain lines "name value". Columns are found by name, in glpsol's format by number. Skips
/// empty lines and lines that begin with #; does not read row values and duals. Throws InputError, with place
/// and line, for unknown columns, values that are not finite numbers, and repeated columns. O(file).
[[nodiscard]] SolutionFile read_solution(std::istream& in, const ColumnNames& names,
                                         const std::string& place);

}  // namespace poet
