# Language level, warnings (ours only), sanitizers, ccache and precompiled headers for every target of
# the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # What it asks for where there are precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  ${CCACHE})
endif()

# GCC collects garbage less often: that is a tenth of the time to build.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(--param=ggc-min-expand=400 --param=ggc-min-heapsize=1000000)
endif()

# Highway asks for the instructions of cryptography in what it compiles for NEON, and code compiled without
# them cannot inline it.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64" AND NOT APPLE AND NOT CMAKE_CXX_FLAGS MATCHES "-m(arch|cpu)=")
  add_compile_options(-march=armv8-a+crypto)
endif()

if(SUPPLE_SANITIZE)
  add_compile_options(-fsanitize=${SUPPLE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SUPPLE_SANITIZE})
  if(SUPPLE_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

# supple_warnings(TARGET): the warnings every target of ours is held to.
function(supple_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${SUPPLE_WERROR}>:-Werror>)
endfunction()

# supple_quick_to_build(TARGET): for code that is not hot (tests, the command line), where optimising
# costs more time in the compiler than it saves.
function(supple_quick_to_build target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
endfunction()

# supple_precompiled(TARGET [HEADER...]): precompiles the headers of others that are read most, and
# those given, which saves about a fifth of the time to build. Headers of our own are left out, as they
# change.
function(supple_precompiled target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <charconv> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits> <map>
    <memory> <numbers> <numeric> <optional> <random> <set> <span> <string> <string_view> <tuple>
    <unordered_map> <utility> <variant> <vector>
    <Eigen/Core> <Eigen/Eigenvalues> <Eigen/Geometry> <Eigen/LU> <fmt/format.h> <nlohmann/json.hpp>
    ${ARGN})
endfunction()

# supple_joined(TARGET [FILE...]): compiles files of a folder in units of SUPPLE_JOINED, in the order of
# their names, as what templates they use is then made once. Those given are compiled alone: the ones that
# have a name in their unnamed namespace which another file of the folder has too. So are kernels, which
# include themselves per instruction set.
function(supple_joined target)
  if(SUPPLE_JOINED LESS 2)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(IS_PREFIX CMAKE_CURRENT_SOURCE_DIR ${source} ours)
    cmake_path(RELATIVE_PATH source OUTPUT_VARIABLE name)
    if(NOT ours OR name IN_LIST ARGN)
      continue()
    endif()
    file(STRINGS ${source} kernels REGEX "define SUPPLE_KERNEL_FILE" LIMIT_COUNT 1)
    if(NOT kernels)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(GET folder FILENAME folder)
      if(NOT DEFINED count_${folder})
        set(count_${folder} 0)
      endif()
      math(EXPR unit "${count_${folder}} / ${SUPPLE_JOINED}")
      math(EXPR count_${folder} "${count_${folder}} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${unit})
    endif()
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Within a unit, files look like headers to it.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
