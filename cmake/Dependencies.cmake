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
  fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json ZLIB::ZLIB BZip2::BZip2 LibLZMA::LibLZMA CURL::libcurl OpenSSL::SSL OpenSSL::Crypto pugixml::pugixml Threads::Threads)

# Debian ships no CMake package for these.
foreach(_pair rdkafka:librdkafka/rdkafka.h pcre2-8:pcre2.h cctz:cctz/time_zone.h zstd:zstd.h)
  string(REPLACE ":" ";" _pair ${_pair})
  list(GET _pair 0 _name)
  list(GET _pair 1 _header)
  find_library(SLUICE_LIBRARY_${_name} ${_name} REQUIRED)
  find_path(SLUICE_HEADER_${_name} ${_header} REQUIRED)
  target_link_libraries(sluice_third_party INTERFACE ${SLUICE_LIBRARY_${_name}})
endforeach()
find_path(SLUICE_HEADER_cli11 CLI/CLI.hpp REQUIRED)

target_compile_definitions(sluice_third_party INTERFACE PCRE2_CODE_UNIT_WIDTH=8 SPDLOG_FMT_EXTERNAL)
