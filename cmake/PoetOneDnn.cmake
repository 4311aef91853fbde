# Finds oneDNN 2 and OpenMP and sets POET_HAS_ONEDNN; the target poet_onednn::onednn is both. Used by the build and, after
# installation, by whoever links the static libraries. oneDNN's own package file would ask for OpenCL as well.
find_path(POET_ONEDNN_INCLUDE dnnl.hpp)
find_library(POET_ONEDNN_LIBRARY dnnl)
mark_as_advanced(POET_ONEDNN_INCLUDE POET_ONEDNN_LIBRARY)
find_package(OpenMP QUIET COMPONENTS CXX)

set(POET_HAS_ONEDNN OFF)
if(POET_ONEDNN_INCLUDE AND POET_ONEDNN_LIBRARY AND OpenMP_CXX_FOUND)
  # Version 3 describes operations otherwise.
  file(STRINGS ${POET_ONEDNN_INCLUDE}/oneapi/dnnl/dnnl_version.h version REGEX "define DNNL_VERSION_MAJOR 2$")
  if(version)
    set(POET_HAS_ONEDNN ON)
  endif()
endif()

if(POET_HAS_ONEDNN AND NOT TARGET poet_onednn::onednn)
  add_library(poet_onednn::onednn INTERFACE IMPORTED GLOBAL)
  target_include_directories(poet_onednn::onednn INTERFACE ${POET_ONEDNN_INCLUDE})
  target_link_libraries(poet_onednn::onednn INTERFACE ${POET_ONEDNN_LIBRARY} $<LINK_ONLY:OpenMP::OpenMP_CXX>)
endif()
