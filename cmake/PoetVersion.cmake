# The one place that says which version this is: of the library, its package and the programs.
set(POET_VERSION 0.2.0)
