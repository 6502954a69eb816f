# Declares the targets that tools/source_tree.py finds. ./dev build runs the script first; CMake configures again when the
# list it wrote has changed, that is after a new folder, file or #include of a module.

find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
set(_list ${CMAKE_BINARY_DIR}/source_tree.cmake)
execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/source_tree.py ${CMAKE_SOURCE_DIR} ${_list} COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_list} ${CMAKE_SOURCE_DIR}/tools/source_tree.py)
include(${_list})
