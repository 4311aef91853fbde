# The Python that tests' scripts run with and that the Python package is for. Debian's, for which the packages of tools/setup.sh
# are, whatever python3 comes first on the PATH (of pyenv, conda or an environment); where there is none that will do, what CMake
# finds. Another one: -DPython3_EXECUTABLE=...
if(NOT Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
  execute_process(COMMAND /usr/bin/python3 -c "import sys; sys.exit(sys.version_info < (3, 11))" RESULT_VARIABLE is_old ERROR_QUIET)
  if(NOT is_old)
    set(Python3_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "Of tests' scripts and of the Python package")
  endif()
endif()
find_package(Python3 3.9 QUIET COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)
