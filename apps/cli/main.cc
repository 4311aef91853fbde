// The program `poet`: the command line around the library.

#include "apps/cli/program.h"

int main(int argc, char** argv) { return poet::cli::run_program(argc, argv); }
