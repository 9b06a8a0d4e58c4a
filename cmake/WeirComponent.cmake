# weir_component(NAME SOURCES ... TESTS ... LINK ...)
#
# One folder of src/ is one component: an object library weir_NAME that becomes part of libweir, and, where
# tests are built, one test program weir_NAME_test from the *_test.cpp files that stand beside the code.
function(weir_component name)
  cmake_parse_arguments(arg "" "" "SOURCES;TESTS;LINK" ${ARGN})
  add_library(weir_${name} OBJECT ${arg_SOURCES})
  weir_compile_options(weir_${name})
  target_include_directories(weir_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(weir_${name} PUBLIC Threads::Threads ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY WEIR_COMPONENTS weir_${name})
  if(name STREQUAL base)
    weir_precompile(weir_base)
  else()
    weir_precompile(weir_${name} REUSE_FROM weir_base)
  endif()
  if(WEIR_BUILD_TESTS AND arg_TESTS)
    weir_test(${name}_test SOURCES ${arg_TESTS})
  endif()
endfunction()

# weir_precompile(TARGET HEADER...) or weir_precompile(TARGET REUSE_FROM OTHER): the standard library's headers and
# those named, compiled once for all of a target, or for all of another one with the same flags.
function(weir_precompile target)
  if(NOT WEIR_PRECOMPILE)
    return()
  endif()
  # GCC 12 sees overflows in std::string operations that are not there, and says so where the header is precompiled.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  list(FIND ARGN REUSE_FROM reuses)
  if(reuses EQUAL -1)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <atomic> <chrono> <deque> <fstream> <functional> <map> <memory> <mutex> <numeric> <optional>
      <ranges> <span> <sstream> <stdexcept> <string> <thread> <unordered_map> <vector> ${ARGN})
  else()
    target_precompile_headers(${target} ${ARGN})
  endif()
endfunction()

# weir_fuzz_test(NAME FILTER): the tests of a program that damage inputs at random, a hundred times as long as usual; under
# the label long as NAME-fuzz.
function(weir_fuzz_test name filter)
  add_test(NAME ${name}-fuzz COMMAND weir_${name} --gtest_filter=${filter})
  set_tests_properties(${name}-fuzz PROPERTIES TIMEOUT 3600 LABELS long ENVIRONMENT WEIR_TEST_EFFORT=100)
endfunction()

# -Wrestrict: GCC 12 sees overlaps in std::string operations that are not there.
function(weir_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> -Werror=return-type)
  if(WEIR_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${WEIR_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${WEIR_SANITIZE})
  endif()
  if(WEIR_DELAYS)
    target_compile_definitions(${target} PUBLIC WEIR_DELAYS)
  endif()
endfunction()

# Tests only call what must be fast: compiled with less effort, they build in two thirds of the time.
function(weir_test_options target)
  weir_compile_options(${target})
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# The headers that every test includes, compiled once, with the flags of an executable.
if(WEIR_BUILD_TESTS)
  add_library(weir_test_headers OBJECT ${PROJECT_SOURCE_DIR}/tests/support/headers.cpp)
  set_target_properties(weir_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(weir_test_headers PRIVATE -fPIE)
  weir_test_options(weir_test_headers)
  target_include_directories(weir_test_headers PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(weir_test_headers PRIVATE GTest::gtest)
  target_precompile_headers(weir_test_headers PRIVATE <gtest/gtest.h> <weir/weir.hpp>
    <algorithm> <array> <filesystem> <fstream> <numeric> <random> <thread>)
endif()

# weir_test(NAME SOURCES ... LINK ... LABELS ...): a GoogleTest program linked with the whole library and allowed
# to include src/ headers; runs under ctest as NAME.
function(weir_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(weir_${name} ${arg_SOURCES})
  weir_test_options(weir_${name})
  target_include_directories(weir_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(weir_${name} PRIVATE weir GTest::gtest_main ${arg_LINK})
  target_precompile_headers(weir_${name} REUSE_FROM weir_test_headers)
  add_test(NAME ${name} COMMAND weir_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "${arg_LABELS}")
endfunction()
