# How tests are registered with ctest. All of them, with their names, labels and what they run: `ctest --show-only` in the
# build folder.

set(reports ${PROJECT_BINARY_DIR}/test-reports)  # ./test counts the cases in here
set(hangs_after 3600)  # seconds; a test that takes longer hangs, even on a busy machine that is several times slower
# Of every test: poet's time limits count processor time, so that what else the machine does changes no answer; OpenMP's threads
# leave the processor to others while they wait.
set(surroundings POET_CLOCK=processor OMP_WAIT_POLICY=passive)

function(poet_precompile_test target)
  set(is_first TRUE)
  if(TARGET poet_precompiled_tests)
    set(is_first FALSE)
  endif()
  poet_precompile(${target} FROM poet_precompiled_tests HEADERS <gmock/gmock.h> <gtest/gtest.h>
                  LIBRARIES GTest::gmock GTest::gtest Threads::Threads)
  # What takes time is in support/: -Og compiles in three quarters of the time of -O1; sanitized, -O0 in half of it.
  set(optimization $<$<CONFIG:Release>:-Og> $<$<CONFIG:RelWithDebInfo>:-O0>)
  # Undefined behaviour is looked for in the library: without it tests compile in two thirds of the time.
  if(POET_SANITIZE STREQUAL "address")
    list(APPEND optimization -fno-sanitize=undefined)
  endif()
  target_compile_options(${target} PRIVATE ${POET_WARNINGS} ${optimization})
  if(is_first)
    target_compile_options(poet_precompiled_tests PRIVATE ${optimization})
  endif()
  if(POET_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  set_target_properties(${target} poet_precompiled_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)  # alike, for GCC
endfunction()

# poet_support_of(<variable> <component>...): the libraries of support/ that serve tests of these components and of all that
# they depend on.
function(poet_support_of variable)
  set(open ${ARGN})
  set(seen)
  set(libraries)
  while(open)
    list(POP_FRONT open component)
    if(component IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${component})
    if(TARGET poet_test_${component})
      list(APPEND libraries poet_test_${component})
    endif()
    get_target_property(needs poet_${component} INTERFACE_LINK_LIBRARIES)
    list(FILTER needs INCLUDE REGEX "^poet::")
    list(TRANSFORM needs REPLACE "^poet::" "")
    list(APPEND open ${needs})
  endwhile()
  set(${variable} ${libraries} PARENT_SCOPE)
endfunction()

# poet_test_program(<target> SOURCES <source>... LIBRARIES <target>...): a GoogleTest program, its sources compiled four at a
# time; the target test_programs builds all of them, unit_programs those of unit/.
add_custom_target(test_programs)
add_custom_target(unit_programs)
function(poet_test_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE poet_test_main ${arg_LIBRARIES} rapidcheck_gtest nlohmann_json::nlohmann_json fmt::fmt
                                          Threads::Threads)
  poet_precompile_test(${target})
  poet_unite(${target} 4)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  add_dependencies(test_programs ${target})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_SOURCES})  # their suites are read by poet_suites
endfunction()

# poet_suite_tests(<target> <label> <labels> <source>...): for every <name>_test.cc a ctest test <label>_<name> that runs the
# suites of that source in a process of its own.
function(poet_suite_tests target label labels)
  foreach(source IN LISTS ARGN)
    cmake_path(GET source STEM name)
    string(REGEX REPLACE "_test$" "" name ${name})
    poet_suites(filter ${target} ${source})
    add_test(NAME ${label}_${name} COMMAND ${target} --gtest_filter=${filter} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${label}_${name} PROPERTIES LABELS "${labels}" TIMEOUT ${hangs_after} ENVIRONMENT
                         "GTEST_OUTPUT=xml:${reports}/${label}_${name}.xml;POET_STRICT_BOUNDS=1;${surroundings};POET_TEST_NEEDS=${target}")
  endforeach()
endfunction()

# poet_suites(<variable> <target> <source>): the filter for the suites of a source; each is in one source of a program only.
function(poet_suites variable target source)
  file(STRINGS ${source} heads REGEX "^(TEST|TEST_F|TEST_P|RC_GTEST_PROP)\\(")
  list(TRANSFORM heads REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+).*" "\\1")
  list(REMOVE_DUPLICATES heads)
  file(STRINGS ${source} others REGEX "^ *(TYPED_TEST|TYPED_TEST_P|RC_GTEST_FIXTURE_PROP|RC_GTEST_TYPED_FIXTURE_PROP)\\(|^ +TEST(_[FP])?\\(")
  if(others)
    message(FATAL_ERROR "${source}: not among the tests that are run: ${others}")
  endif()
  set(filter)
  foreach(suite IN LISTS heads)
    get_property(home GLOBAL PROPERTY POET_SUITE_${target}_${suite})
    if(home AND NOT home STREQUAL source)
      message(FATAL_ERROR "the test suite ${suite} is in ${home} and in ${source}")
    endif()
    set_property(GLOBAL PROPERTY POET_SUITE_${target}_${suite} ${source})
    string(APPEND filter "${suite}.*:*/${suite}.*:")
  endforeach()
  if(NOT filter)
    message(FATAL_ERROR "${source} has no tests")
  endif()
  set(${variable} ${filter} PARENT_SCOPE)
endfunction()

# poet_label_tests(<label>): LABEL/*_test.cc as one program tests_<label> that has everything, the command line program and its
# path included.
function(poet_label_tests label)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${label}/*_test.cc)
  if(NOT TARGET poet_server)
    list(FILTER sources EXCLUDE REGEX "/server_[a-z_]+_test[.]cc$")
  endif()
  set(target tests_${label})
  poet_test_program(${target} SOURCES ${sources}
                    LIBRARIES poet_test_all onnx onnx_proto protobuf::libprotobuf PkgConfig::POET_CBC SQLite::SQLite3)
  target_compile_definitions(${target} PRIVATE POET_TEST_PYTHON="${Python3_EXECUTABLE}")
  if(TARGET poet)
    target_compile_definitions(${target} PRIVATE POET_TEST_PROGRAM="$<TARGET_FILE:poet>")
    target_link_libraries(${target} PRIVATE poet_cli_support)
    add_dependencies(${target} poet)
  endif()
  poet_suite_tests(${target} ${label} ${label} ${sources})
endfunction()

# poet_unit_tests(<component> [WITH <component>...] [LIBRARIES <target>...]): unit/COMPONENT/*_test.cc as one program
# tests_<component>, linked with that component, what it depends on, and what makes the tests' inputs: WITH.
function(poet_unit_tests component)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "WITH;LIBRARIES")
  if(DEFINED only_components AND NOT component IN_LIST only_components)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${component}/*_test.cc)
  set(links ${arg_LIBRARIES})
  set(components ${arg_WITH})
  if(TARGET poet::${component})
    list(PREPEND components ${component})
  endif()
  foreach(each IN LISTS components)
    list(APPEND links poet::${each})
  endforeach()
  poet_support_of(support ${components})
  poet_test_program(tests_${component} SOURCES ${sources} LIBRARIES ${links} ${support} poet_test_headers)
  add_dependencies(unit_programs tests_${component})
  poet_suite_tests(tests_${component} unit "unit;${component}" ${sources})
endfunction()

# poet_script_test(<name> LABELS <label...> COMMAND <word...> [ENVIRONMENT <NAME=value...>] [NEEDS <target...>]
#                  [COST <seconds>] [CONFIGURATIONS all]): a test that is a program; exit code 77: something for it is not here.
# NEEDS: the targets to build before it, but for those whose file a word of the command or the environment is. COST: the longest
# begin first, on a machine that does not know yet how long they take. CONFIGURATIONS all: only ./test --all runs it.
function(poet_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COST;CONFIGURATIONS" "LABELS;COMMAND;ENVIRONMENT;NEEDS")
  set(configurations)
  if(arg_CONFIGURATIONS)
    set(configurations CONFIGURATIONS ${arg_CONFIGURATIONS})
  endif()
  set(needs ${arg_NEEDS})
  string(REGEX MATCHALL "TARGET_FILE:[a-z_]+|^tests_[a-z_]+" files "${arg_COMMAND};${arg_ENVIRONMENT}")
  list(TRANSFORM files REPLACE "TARGET_FILE:" "")
  list(APPEND needs ${files})
  list(JOIN needs " " needs)
  add_test(NAME ${name} COMMAND ${arg_COMMAND} ${configurations})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${hangs_after} SKIP_RETURN_CODE 77
                       ENVIRONMENT "${surroundings};POET_TEST_NEEDS=${needs};${arg_ENVIRONMENT}")
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
endfunction()
