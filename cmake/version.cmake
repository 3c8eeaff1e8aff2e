# Version, commit, compiler and flags are compiled into one small library, so that a new commit rebuilds one file.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type_upper)
set(PLUMBLINE_FLAGS "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type_upper}}")
if(PLUMBLINE_SANITIZE)
  string(APPEND PLUMBLINE_FLAGS " -fsanitize=${PLUMBLINE_SANITIZE}")
endif()
string(STRIP "${PLUMBLINE_FLAGS}" PLUMBLINE_FLAGS)
set(PLUMBLINE_COMPILER "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")

add_custom_target(plumbline_commit ALL
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${CMAKE_BINARY_DIR}/generated/plumbline_version.cpp
          -DVERSION=${PROJECT_VERSION} -DBUILD_TYPE=${CMAKE_BUILD_TYPE} "-DCOMPILER=${PLUMBLINE_COMPILER}" "-DFLAGS=${PLUMBLINE_FLAGS}"
          -P ${CMAKE_SOURCE_DIR}/cmake/write_version.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/plumbline_version.cpp
  COMMENT "Version" VERBATIM)
add_library(plumbline_version STATIC ${CMAKE_BINARY_DIR}/generated/plumbline_version.cpp)
target_include_directories(plumbline_version PUBLIC ${CMAKE_SOURCE_DIR}/engine)
add_dependencies(plumbline_version plumbline_commit)
