# Checks and scripts that run as tests.

# Any executable tests/**/run_*.sh or run_*.py is a test; it gets the program's path in SLUICE_BINARY.
file(GLOB_RECURSE _scripts CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/run_*.sh ${CMAKE_SOURCE_DIR}/tests/run_*.py)
