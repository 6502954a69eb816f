# Finds Arrow C++ and defines SluiceArrow::arrow, SluiceArrow::compute and SluiceArrow::parquet.
#
# Default: the headers and libraries inside the pyarrow wheel of SLUICE_PYTHON. The wheel has neither a CMake package nor
# development links, and each release changes the SONAME, so the exact version is checked and the libraries are copied to
# <build>/lib, where the program finds them by its RUNPATH wherever the build folder is moved.
# With -DSLUICE_ARROW=package an Arrow that CMake finds by itself is used instead and stays where it is.

set(SLUICE_ARROW_VERSION 26.0.1)
set(SLUICE_ARROW wheel CACHE STRING "Where Arrow comes from: wheel or package")

if(SLUICE_ARROW STREQUAL "package")
  find_package(Arrow REQUIRED CONFIG)
  find_package(ArrowCompute REQUIRED CONFIG)
  find_package(Parquet REQUIRED CONFIG)
  add_library(SluiceArrow::arrow ALIAS Arrow::arrow_shared)
  add_library(SluiceArrow::compute ALIAS ArrowCompute::arrow_compute_shared)
  add_library(SluiceArrow::parquet ALIAS Parquet::parquet_shared)
  set(SluiceArrow_FOUND TRUE)
  return()
endif()

if(NOT SLUICE_PYTHON)
  message(FATAL_ERROR "SLUICE_PYTHON is not set: it names the Python that has pyarrow ${SLUICE_ARROW_VERSION}. "
                      "Build with ./dev build, which prepares it, or pass -DSLUICE_PYTHON=/path/to/python3.")
endif()

# Asking Python costs a quarter of a second at each configure; the answer only depends on the interpreter.
if(NOT "${SluiceArrow_ASKED}" STREQUAL "${SLUICE_PYTHON} ${SLUICE_ARROW_VERSION}")
  execute_process(
    COMMAND ${SLUICE_PYTHON} -c
            "import pyarrow as p; print(p.__version__, p.get_include(), p.get_library_dirs()[0], sep=';')"
    OUTPUT_VARIABLE _answer OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE _failed)
  if(_failed)
    message(FATAL_ERROR "${SLUICE_PYTHON} cannot import pyarrow. Install pyarrow==${SLUICE_ARROW_VERSION} there.")
  endif()
  list(GET _answer 0 _version)
  list(GET _answer 1 _include)
  list(GET _answer 2 _libraries)
  if(NOT _version STREQUAL SLUICE_ARROW_VERSION)
    message(FATAL_ERROR "pyarrow of ${SLUICE_PYTHON} is ${_version}, but Sluice is built with exactly ${SLUICE_ARROW_VERSION}: "
                        "the name of its libraries changes with each release.")
  endif()
  set(SluiceArrow_INCLUDE_DIR "${_include}" CACHE PATH "Headers of Arrow" FORCE)
  set(SluiceArrow_WHEEL_LIB_DIR "${_libraries}" CACHE PATH "Libraries of Arrow in the wheel" FORCE)
  set(SluiceArrow_ASKED "${SLUICE_PYTHON} ${SLUICE_ARROW_VERSION}" CACHE INTERNAL "")
endif()

# 26.0.1 has the SONAME suffix 2600.
string(REGEX REPLACE "^([0-9]+)\\.([0-9]+)\\..*" "\\1;\\2" _parts "${SLUICE_ARROW_VERSION}")
list(GET _parts 0 _major)
list(GET _parts 1 _minor)
math(EXPR _so "${_major} * 100 + ${_minor}")

set(SluiceArrow_LIB_DIR ${CMAKE_BINARY_DIR}/lib)
file(MAKE_DIRECTORY ${SluiceArrow_LIB_DIR})
set(SluiceArrow_FILES "")
foreach(_pair arrow:arrow compute:arrow_compute parquet:parquet)
  string(REPLACE ":" ";" _pair ${_pair})
  list(GET _pair 0 _target)
  list(GET _pair 1 _library)
  set(_file lib${_library}.so.${_so})
  if(NOT EXISTS ${SluiceArrow_WHEEL_LIB_DIR}/${_file})
    message(FATAL_ERROR "${SluiceArrow_WHEEL_LIB_DIR}/${_file} is missing: the wheel of pyarrow is not the expected one.")
  endif()
  if(NOT EXISTS ${SluiceArrow_LIB_DIR}/${_file})
    file(COPY ${SluiceArrow_WHEEL_LIB_DIR}/${_file} DESTINATION ${SluiceArrow_LIB_DIR})
  endif()
  file(CREATE_LINK ${_file} ${SluiceArrow_LIB_DIR}/lib${_library}.so SYMBOLIC)
  add_library(SluiceArrow::${_target} SHARED IMPORTED)
  set_target_properties(SluiceArrow::${_target} PROPERTIES
    IMPORTED_LOCATION ${SluiceArrow_LIB_DIR}/${_file}
    IMPORTED_SONAME ${_file}
    INTERFACE_INCLUDE_DIRECTORIES ${SluiceArrow_INCLUDE_DIR})
  list(APPEND SluiceArrow_FILES ${SluiceArrow_LIB_DIR}/${_file})
endforeach()
set_property(TARGET SluiceArrow::compute APPEND PROPERTY INTERFACE_LINK_LIBRARIES SluiceArrow::arrow)
set_property(TARGET SluiceArrow::parquet APPEND PROPERTY INTERFACE_LINK_LIBRARIES SluiceArrow::arrow)
set(SluiceArrow_FOUND TRUE)
