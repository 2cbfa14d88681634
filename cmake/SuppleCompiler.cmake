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
