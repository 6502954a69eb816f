# Language, warnings, optimisation, linker and cache for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
add_compile_options(-fPIE)  # Not CMake's property: it differs between libraries and programs, and they share a precompiled header.
add_link_options(-pie)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Nothing of ours belongs into the dynamic symbol table: libparquet and libarrow_compute carry their own simdjson,
# Thrift, RE2 and Abseil, and an exported symbol of ours would replace theirs.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# -O2 without -march=native: the binary runs on any x86-64 or arm64. No debug information in release: it doubles build time.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g1 -D_GLIBCXX_ASSERTIONS")

add_compile_options(-Wall -Wextra -Werror -Wnon-virtual-dtor
  # Designated initialisers leave defaulted members out on purpose.
  -Wno-missing-field-initializers
  # g++ 12 reports these inside std::string and std::variant code that is correct; the sanitizers watch for the real thing.
  -Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)

if(SLUICE_SANITIZE)
  add_compile_options(-fsanitize=${SLUICE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SLUICE_SANITIZE})
  add_compile_options(-Wno-nonnull)  # One more of these, with sanitizers only.
endif()

find_program(SLUICE_MOLD mold)
if(SLUICE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
add_link_options(LINKER:--as-needed LINKER:--exclude-libs,ALL)

find_program(SLUICE_CCACHE ccache)
if(SLUICE_CCACHE)
  # Precompiled headers need the two sloppiness settings and -fpch-preprocess; without them nothing is ever a hit.
  # The base folder makes paths relative, so that a second checkout hits what the first compiled.
  find_program(SLUICE_ENV env REQUIRED)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SLUICE_ENV} CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${SLUICE_CCACHE})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()

set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/archive)
# $ORIGIN only: the build folder can be moved and the installed program finds its libraries.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/lib;$ORIGIN/../lib;$ORIGIN/../lib/sluice")
