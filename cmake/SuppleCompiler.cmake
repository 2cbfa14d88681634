# Language level, warnings (ours only), sanitizers and ccache for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
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
