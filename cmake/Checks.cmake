# Checks and scripts that run as tests.

function(sluice_check name)
  add_test(NAME check_${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(check_${name} PROPERTIES LABELS check TIMEOUT 600 SKIP_RETURN_CODE 77)
endfunction()

sluice_check(layers ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/check_layers)
sluice_check(tools ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/check_layers_test.py)
sluice_check(pitfalls ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/check_pitfalls)
sluice_check(format ${CMAKE_SOURCE_DIR}/tools/check_format)
sluice_check(headers ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/check_headers ${CMAKE_BINARY_DIR})
sluice_check(symbols ${CMAKE_SOURCE_DIR}/tools/check_symbols ${CMAKE_BINARY_DIR}/sluice)
if(SLUICE_SANITIZE)
  # The sanitizers' own symbols and flags are not what is checked.
  set_tests_properties(check_symbols check_headers check_format PROPERTIES DISABLED TRUE)
endif()

# Any executable tests/**/run_*.sh or run_*.py is a test named after its path (tests/sql/run_sql.py is sql_run_sql), with its
# folder as label. It gets SLUICE_BINARY, SLUICE_BUILD_DIR and SLUICE_PYTHON. A line such as `# ctest: timeout=1200 serial`
# sets its limit in seconds (600) and that nothing runs beside it; `manual` leaves it to its ./dev command.
file(GLOB_RECURSE _scripts CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/tests
     ${CMAKE_SOURCE_DIR}/tests/run_*.sh ${CMAKE_SOURCE_DIR}/tests/run_*.py)
foreach(_script ${_scripts})
  set(_path ${CMAKE_SOURCE_DIR}/tests/${_script})
  file(STRINGS ${_path} _settings REGEX "^# ctest:")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_path})
  if(_settings MATCHES "manual")
    continue()
  endif()
  set(_timeout 600)
  if(_settings MATCHES "timeout=([0-9]+)")
    set(_timeout ${CMAKE_MATCH_1})
  endif()
  string(REGEX REPLACE "\\.(sh|py)$" "" _name ${_script})
  string(REPLACE "/" "_" _name ${_name})
  get_filename_component(_label ${_script} DIRECTORY)
  if(_script MATCHES "\\.py$")
    add_test(NAME ${_name} COMMAND ${SLUICE_PYTHON} ${_path} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  else()
    add_test(NAME ${_name} COMMAND ${_path} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endif()
  set_tests_properties(${_name} PROPERTIES TIMEOUT ${_timeout} LABELS "script;${_label}" SKIP_RETURN_CODE 77
    ENVIRONMENT "SLUICE_BINARY=${CMAKE_BINARY_DIR}/sluice;SLUICE_BUILD_DIR=${CMAKE_BINARY_DIR};SLUICE_PYTHON=${SLUICE_PYTHON}")
  if(_settings MATCHES "serial")
    set_tests_properties(${_name} PROPERTIES RUN_SERIAL TRUE)
  endif()
endforeach()
