# How a folder becomes a library, a test or a program. The calls are written by tools/source_tree.py.

# Flags and headers of all targets. One set for all, or the precompiled header could not be shared.
add_library(sluice_base INTERFACE)
target_include_directories(sluice_base INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
get_target_property(_simdjson_include sluice_simdjson INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(sluice_base SYSTEM INTERFACE ${_simdjson_include})
target_link_libraries(sluice_base INTERFACE sluice_third_party)
if(SLUICE_FUZZ)
  # Calls the driver at each branch and comparison of the code under test; the driver itself does not use sluice_base.
  target_compile_options(sluice_base INTERFACE -fsanitize-coverage=trace-pc,trace-cmp)
  add_library(sluice_no_coverage STATIC EXCLUDE_FROM_ALL fuzz/no_coverage.cc)
  target_compile_options(sluice_no_coverage PRIVATE -O2)
endif()

function(_sluice_no_coverage target)
  if(SLUICE_FUZZ)
    target_link_libraries(${target} PRIVATE sluice_no_coverage)
  endif()
endfunction()

# The one precompiled header: what most files pay for most. A target reuses it as its flags are the same.
file(WRITE ${CMAKE_BINARY_DIR}/pch/pch.cc.in "// Carries the precompiled header that all targets share.\n")
configure_file(${CMAKE_BINARY_DIR}/pch/pch.cc.in ${CMAKE_BINARY_DIR}/pch/pch.cc COPYONLY)
add_library(sluice_pch OBJECT ${CMAKE_BINARY_DIR}/pch/pch.cc)
target_link_libraries(sluice_pch PRIVATE sluice_base)
target_precompile_headers(sluice_pch PRIVATE
  <algorithm> <array> <atomic> <charconv> <chrono> <cstdint> <cstring> <deque> <functional> <map> <memory> <mutex>
  <optional> <set> <span> <sstream> <string> <string_view> <thread> <unordered_map> <unordered_set> <utility> <variant> <vector>
  <arrow/api.h> <arrow/compute/api.h>)

function(_sluice_use_base target)
  target_link_libraries(${target} PRIVATE sluice_base)
  target_precompile_headers(${target} REUSE_FROM sluice_pch)
endfunction()

function(_sluice_link target)
  if(ARGN)
    list(JOIN ARGN "," _group)
    target_link_libraries(${target} PRIVATE "$<LINK_GROUP:RESCAN,${_group}>")
  endif()
  target_link_libraries(${target} PRIVATE sluice_simdjson)
endfunction()

# The library of a folder of src/. It is compiled alone: what it needs to link is decided by the program.
function(sluice_module target)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  if(NOT ARG_SOURCES)
    add_custom_target(${target})  # Only headers: there is nothing to build.
    return()
  endif()
  add_library(${target} STATIC ${ARG_SOURCES})
  _sluice_use_base(${target})
endfunction()

function(sluice_program target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  _sluice_use_base(${target})
  _sluice_link(${target} ${ARG_LIBRARIES})
  _sluice_no_coverage(${target})
  if(NOT target STREQUAL "sluice")
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  endif()
endfunction()

function(sluice_test target)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  _sluice_use_base(${target})
  _sluice_link(${target} ${ARG_LIBRARIES})
  target_link_libraries(${target} PRIVATE GTest::gmock GTest::gtest GTest::gtest_main)
  _sluice_no_coverage(${target})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${target} COMMAND ${target} --gtest_brief=1 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${target} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()

function(sluice_benchmark target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  find_package(benchmark REQUIRED)
  add_executable(${target} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  _sluice_use_base(${target})
  _sluice_link(${target} ${ARG_LIBRARIES})
  target_link_libraries(${target} PRIVATE benchmark::benchmark benchmark::benchmark_main)
  _sluice_no_coverage(${target})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endfunction()

add_custom_target(bench_programs)

# A program of bench/ that has nothing of the engine: a generator of data, or what bounds a workload.
function(sluice_bench_program target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  _sluice_use_base(${target})
  target_link_libraries(${target} PRIVATE sluice_simdjson)
  _sluice_no_coverage(${target})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  add_dependencies(bench_programs ${target})
endfunction()

# The driver takes libFuzzer's entry point. Without the asan preset a target only replays its corpus, as a test.
if(EXISTS ${CMAKE_SOURCE_DIR}/fuzz/driver.cc)
  add_library(sluice_fuzz_driver STATIC EXCLUDE_FROM_ALL fuzz/driver.cc fuzz/mutator.cc fuzz/coverage.cc)
  # Its callbacks run at every branch of the code under test.
  target_compile_options(sluice_fuzz_driver PRIVATE -O2 -U_GLIBCXX_ASSERTIONS)
endif()

function(sluice_fuzzer target)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  _sluice_use_base(${target})
  _sluice_link(${target} ${ARG_LIBRARIES})
  target_link_libraries(${target} PRIVATE sluice_fuzz_driver)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  string(REGEX REPLACE "_fuzz$" "" _name ${target})
  add_test(NAME ${target} COMMAND ${target} --crashes ${CMAKE_BINARY_DIR}/crashes ${CMAKE_SOURCE_DIR}/fuzz/corpus/${_name})
  # A fixed number of mutations as well, the same ones in every run. ./dev fuzz goes on from there, guided by coverage.
  set(_dictionary)
  if(EXISTS ${CMAKE_SOURCE_DIR}/fuzz/${_name}.dict)
    set(_dictionary --dictionary ${CMAKE_SOURCE_DIR}/fuzz/${_name}.dict)
  endif()
  add_test(NAME ${target}_mutations COMMAND ${target} --runs 5000 --crashes ${CMAKE_BINARY_DIR}/crashes --found ${CMAKE_BINARY_DIR}/fuzz_found
    --seeds ${CMAKE_SOURCE_DIR}/fuzz/corpus/${_name} ${_dictionary})
  set_tests_properties(${target} ${target}_mutations PROPERTIES LABELS fuzz TIMEOUT 300)
endfunction()
