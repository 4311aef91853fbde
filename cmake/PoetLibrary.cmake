# How a folder of the library ("component") becomes a target, and how all of them become an installed package.

# CBC comes with pkg-config files only. PoetLibrary.cmake and poetConfig.cmake.in share this list.
set(POET_CBC_MODULES cbc osi-clp clp cgl osi coinutils)

set(POET_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
# GCC 12 warns of what is not there: copies that overlap inside std::string's operator+ (GCC bug 105651), memory of a
# std::vector that is freed and was not allocated.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND POET_WARNINGS -Wno-restrict -Wno-free-nonheap-object)
endif()

# poet_precompile(<target> [FROM <set>] [HEADERS header...] [LIBRARIES target...]): compiles the target's sources with
# headers parsed once for all targets of a set; HEADERS, which LIBRARIES bring, are added to the standard ones where the
# set is first used. Sources still include what they use: they compile without precompiled headers, too.
set(POET_PRECOMPILED
    <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <fstream> <functional> <limits> <map> <memory> <numeric>
    <optional> <set> <span> <sstream> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector>
    <fmt/format.h>)
function(poet_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM" "HEADERS;LIBRARIES")
  if(NOT arg_FROM)
    set(arg_FROM poet_precompiled)
  endif()
  if(NOT TARGET ${arg_FROM})
    file(WRITE ${PROJECT_BINARY_DIR}/${arg_FROM}.cc "")
    add_library(${arg_FROM} OBJECT ${PROJECT_BINARY_DIR}/${arg_FROM}.cc)
    target_compile_features(${arg_FROM} PRIVATE cxx_std_20)
    target_compile_options(${arg_FROM} PRIVATE ${POET_WARNINGS})  # GCC: -Wpedantic changes what is predefined
    target_link_libraries(${arg_FROM} PRIVATE fmt::fmt ${arg_LIBRARIES})
    target_precompile_headers(${arg_FROM} PRIVATE ${POET_PRECOMPILED} ${arg_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${arg_FROM})
endfunction()

# poet_unite(<target> [<sources>]): compiles its sources 24 at a time, or so many, which takes the compiler less than half the time.
# Each compiles alone as well: POET_UNITY is off in the preset dev. POET_UNITY_BATCH takes more at a time, for who compiles
# everything once. Names in anonymous namespaces differ within a library (tools/check_names.py).
option(POET_UNITY "Compile many of the library's sources at a time" ON)
set(POET_UNITY_BATCH "" CACHE STRING "How many; unless given, what suits compiling again what was changed")
function(poet_unite target)
  set(batch 24)
  if(POET_UNITY_BATCH)
    set(batch ${POET_UNITY_BATCH})
  elseif(ARGC GREATER 1)
    set(batch ${ARGV1})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${POET_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
  if(POET_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # a source that another file includes looks like a header to the compiler
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# poet_light(<target>): nothing in it takes time, so that -O1 will do, which compiles a third faster; or -Og, with sanitizers.
function(poet_light target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:RelWithDebInfo>:-Og>)
endfunction()

# poet_library(<component> [FLAT] [LIGHT] [BATCH sources] [SOURCES file...] [DEPENDS component|target...] [PRIVATE_DEPENDS component|target...])
#
# Makes the static library poet_<component>, also called poet::<component>, of the current folder, and adds it to poet::poet.
# Without SOURCES it takes every .cc in the folder and below (FLAT: in the folder only), so that a new file needs no
# edit here; without any .cc the library is its headers. LIGHT: see poet_light, BATCH: poet_unite. A name with "::" in DEPENDS is a target as it
# stands, any other is a component.
function(poet_library component)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FLAT;LIGHT" "BATCH" "SOURCES;DEPENDS;PRIVATE_DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "poet_library(${component}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(glob GLOB_RECURSE)
  if(arg_FLAT)
    set(glob GLOB)
  endif()
  if(NOT arg_SOURCES)
    file(${glob} arg_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  endif()

  set(target poet_${component})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_compile_options(${target} PRIVATE ${POET_WARNINGS})
    if(arg_LIGHT)
      poet_light(${target})
    endif()
    poet_precompile(${target})
    poet_unite(${target} ${arg_BATCH})
    if(POET_WARNINGS_AS_ERRORS)
      target_compile_options(${target} PRIVATE -Werror)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
    set(arg_PRIVATE_DEPENDS)
  endif()
  add_library(poet::${component} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${component})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${POET_INCLUDE_ROOT}>
                                                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

  list(TRANSFORM arg_DEPENDS REPLACE "^([^:]+)$" "poet::\\1")
  list(TRANSFORM arg_PRIVATE_DEPENDS REPLACE "^([^:]+)$" "poet::\\1")
  target_link_libraries(${target} ${scope} ${arg_DEPENDS})
  if(arg_PRIVATE_DEPENDS)
    target_link_libraries(${target} PRIVATE ${arg_PRIVATE_DEPENDS})
  endif()

  set_property(GLOBAL APPEND PROPERTY POET_COMPONENTS ${target})
  install(TARGETS ${target} EXPORT poetTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# What users include; these headers and all that they include are installed, the others are the library's own.
set(POET_PUBLIC_HEADERS poet/poet.h poet/plan/decoder/poet_plan.h)

# poet_group(<name> <component>...): poet::<name>, several components under one name.
function(poet_group name)
  list(TRANSFORM ARGN PREPEND "poet::" OUTPUT_VARIABLE links)
  add_library(poet_${name} INTERFACE)
  add_library(poet::${name} ALIAS poet_${name})
  set_target_properties(poet_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(poet_${name} INTERFACE ${links})
  install(TARGETS poet_${name} EXPORT poetTargets)
endfunction()

# Makes poet::poet, which is every component at once, and poet::planner, and installs what `find_package(poet)` needs.
function(poet_install_package)
  include(CMakePackageConfigHelpers)
  get_property(components GLOBAL PROPERTY POET_COMPONENTS)
  list(TRANSFORM components REPLACE "^poet_" "")
  poet_group(poet ${components})
  poet_group(planner frontend autodiff split pipeline compile)

  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/poet)
  install(CODE "set(POET_PUBLIC_HEADERS \"${POET_PUBLIC_HEADERS}\")
                set(POET_INCLUDE_ROOTS \"${POET_INCLUDE_ROOT};${POET_GENERATED_ROOT}\")
                set(POET_INCLUDE_DESTINATION \"${CMAKE_INSTALL_INCLUDEDIR}\")")
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/InstallHeaders.cmake)
  install(EXPORT poetTargets NAMESPACE poet:: DESTINATION ${package_dir})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/poetConfig.cmake.in
                                ${PROJECT_BINARY_DIR}/poetConfig.cmake INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/poetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/poetConfig.cmake ${PROJECT_BINARY_DIR}/poetConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/PoetOneDnn.cmake
          DESTINATION ${package_dir})
endfunction()
