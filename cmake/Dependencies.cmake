# Everything that comes from the system, gathered in the target sluice_third_party. The linker drops what a program does
# not use (--as-needed), so one list serves all.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED CONFIG)
find_package(spdlog REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(BZip2 REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(CURL REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(pugixml REQUIRED)
find_package(GTest REQUIRED)

add_library(sluice_third_party INTERFACE)
target_link_libraries(sluice_third_party INTERFACE
  SluiceArrow::parquet SluiceArrow::compute SluiceArrow::arrow
  fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json ZLIB::ZLIB BZip2::BZip2 LibLZMA::LibLZMA OpenSSL::SSL OpenSSL::Crypto pugixml::pugixml Threads::Threads)

# Debian ships no CMake package for these.
foreach(_pair rdkafka:librdkafka/rdkafka.h pcre2-8:pcre2.h cctz:cctz/time_zone.h zstd:zstd.h isal:isa-l/crc.h)
  string(REPLACE ":" ";" _pair ${_pair})
  list(GET _pair 0 _name)
  list(GET _pair 1 _header)
  find_library(SLUICE_LIBRARY_${_name} ${_name} REQUIRED)
  find_path(SLUICE_HEADER_${_name} ${_header} REQUIRED)
  if(NOT _name STREQUAL "rdkafka")
    target_link_libraries(sluice_third_party INTERFACE ${SLUICE_LIBRARY_${_name}})
  endif()
endforeach()

# Libraries that a program loads when it first calls them (tools/lazy_library.py): without libcurl, librdkafka and the thirty
# that they bring, a statement that needs none of them starts faster and in less memory.
function(_sluice_lazy_library name file prefix)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    target_link_libraries(sluice_third_party INTERFACE ${file})
    return()
  endif()
  set(_source ${CMAKE_BINARY_DIR}/lazy/${name}.cc)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lazy)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/lazy_library.py ${file} ${prefix} ${_source} COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/lazy_library.py ${file})
  add_library(sluice_lazy_${name} STATIC ${_source})
  target_link_libraries(sluice_third_party INTERFACE sluice_lazy_${name} ${CMAKE_DL_LIBS})
endfunction()
find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
_sluice_lazy_library(rdkafka ${SLUICE_LIBRARY_rdkafka} rd_kafka_)
find_library(SLUICE_LIBRARY_curl curl REQUIRED)
_sluice_lazy_library(curl ${SLUICE_LIBRARY_curl} curl_)
target_include_directories(sluice_third_party INTERFACE ${CURL_INCLUDE_DIRS})
find_path(SLUICE_HEADER_cli11 CLI/CLI.hpp REQUIRED)

target_compile_definitions(sluice_third_party INTERFACE PCRE2_CODE_UNIT_WIDTH=8 SPDLOG_FMT_EXTERNAL)
