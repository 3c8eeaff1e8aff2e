# Each part comes from the system's packages, named in packages.txt with what else would do. All that is missing is named
# at once.
find_package(Threads REQUIRED)

set(parts_missing "")
file(STRINGS ${CMAKE_SOURCE_DIR}/packages.txt package_lines ENCODING UTF-8)

# plumbline_need(FOUND PACKAGE...): unless FOUND is true, these packages' lines are part of what is said at the end.
function(plumbline_need found)
  if(${found})
    return()
  endif()
  foreach(package IN LISTS ARGN)
    set(words "")
    foreach(line IN LISTS package_lines)
      if(line MATCHES "^${package}( [^#]*)?#(.*)$" AND NOT words)
        set(words "${CMAKE_MATCH_2}")
      endif()
    endforeach()
    string(APPEND parts_missing "  ${package}:${words}\n")
  endforeach()
  set(parts_missing "${parts_missing}" PARENT_SCOPE)
endfunction()

find_package(PkgConfig QUIET)
find_package(CLI11 QUIET)
plumbline_need(CLI11_FOUND libcli11-dev)
find_package(nlohmann_json QUIET)
plumbline_need(nlohmann_json_FOUND nlohmann-json3-dev)
find_package(fmt QUIET)
plumbline_need(fmt_FOUND libfmt-dev)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(HWLOC IMPORTED_TARGET QUIET hwloc)
  plumbline_need(HWLOC_FOUND libhwloc-dev)
else()
  plumbline_need(PKG_CONFIG_FOUND pkg-config libhwloc-dev)
endif()

if(PLUMBLINE_OPENCL)
  find_package(OpenCL QUIET)
  plumbline_need(OpenCL_FOUND ocl-icd-opencl-dev)
  find_path(OPENCL_HPP_DIR CL/opencl.hpp HINTS ${OpenCL_INCLUDE_DIRS})
  plumbline_need(OPENCL_HPP_DIR opencl-clhpp-headers)
  if(OpenCL_FOUND AND OPENCL_HPP_DIR)
    add_library(plumbline_opencl INTERFACE)
    target_link_libraries(plumbline_opencl INTERFACE OpenCL::OpenCL)
    target_include_directories(plumbline_opencl SYSTEM INTERFACE ${OPENCL_HPP_DIR})
    # 110: with 120 Debian 12's header does not compile; no call of OpenCL 2 or later is made on an older device.
    target_compile_definitions(plumbline_opencl INTERFACE CL_HPP_ENABLE_EXCEPTIONS CL_HPP_TARGET_OPENCL_VERSION=300
                               CL_HPP_MINIMUM_OPENCL_VERSION=110 CL_TARGET_OPENCL_VERSION=300)
  endif()
endif()

if(PLUMBLINE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI 3.0 QUIET COMPONENTS CXX)
  plumbline_need(MPI_CXX_FOUND libopenmpi-dev)
endif()

if(PLUMBLINE_TESTS)
  find_package(GTest QUIET)
  plumbline_need(GTest_FOUND libgtest-dev libgmock-dev)
endif()

if(parts_missing)
  message(FATAL_ERROR "Plumbline does not find what it is built from (Debian's name: what it is; what else would do)\n"
                      "${parts_missing}")
endif()
