# Builds simdjson into a static, hidden object: target sluice_simdjson.
#
# libparquet exports a simdjson of another version. A shared or a visible simdjson would be mixed with it at run time, in
# one direction or the other, so ours must appear in no dynamic symbol table (tests/checks: symbols).
# SLUICE_SIMDJSON_DIR holds simdjson.h and simdjson.cpp; ./dev fetches them (tools/fetch_simdjson).

if(NOT EXISTS "${SLUICE_SIMDJSON_DIR}/simdjson.cpp")
  message(FATAL_ERROR "SLUICE_SIMDJSON_DIR (${SLUICE_SIMDJSON_DIR}) has no simdjson.cpp. Build with ./dev build, which "
                      "fetches it, or pass the folder of simdjson's single-header files.")
endif()
add_library(sluice_simdjson STATIC ${SLUICE_SIMDJSON_DIR}/simdjson.cpp)
target_include_directories(sluice_simdjson SYSTEM PUBLIC ${SLUICE_SIMDJSON_DIR})
target_compile_options(sluice_simdjson PRIVATE -w -O2)
