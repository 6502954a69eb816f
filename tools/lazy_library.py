#!/usr/bin/env python3
"""Writes functions of the names that a shared library exports; the first call of any of them loads the library.

A program that links them instead of the library starts without it and what it needs: libcurl and librdkafka bring thirty
libraries, which most statements never use. Variadic functions work as well: the stubs jump and touch no argument.

Usage: lazy_library.py LIBRARY PREFIX OUTPUT.cc   (x86-64 only; others link the library itself)
"""
import pathlib
import re
import subprocess
import sys

TEXT = """// Written by tools/lazy_library.py from the symbols of {soname}; do not edit.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

extern "C" {{
// Addresses of the functions, null until the library is loaded.
__attribute__((visibility("hidden"))) void* sluice_lazy_{name}_table[{count}];

__attribute__((visibility("hidden"))) void* sluice_lazy_{name}_load(unsigned long index) {{
  static const char* const kNames[] = {{
{names}
  }};
  static std::once_flag once;
  static void* library = nullptr;
  std::call_once(once, [] {{ library = ::dlopen("{soname}", RTLD_NOW | RTLD_LOCAL); }});
  void* const found = library == nullptr ? nullptr : ::dlsym(library, kNames[index]);
  if (found == nullptr) {{
    const char* const reason = ::dlerror();
    std::fprintf(stderr, "sluice: Cannot load %s of {soname}: %s. Install the package that has it.\\n", kNames[index],
                 reason == nullptr ? "it could not be loaded before" : reason);
    std::_Exit(127);
  }}
  __atomic_store_n(&sluice_lazy_{name}_table[index], found, __ATOMIC_RELEASE);
  return found;
}}
}}

// Keeps every register that may hold an argument, also of a variadic function, around the look-up.
asm(R"(
  .text
  .p2align 4
sluice_lazy_{name}_resolve:
  pushq %rax
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %rcx
  pushq %r8
  pushq %r9
  subq $136, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  movq 192(%rsp), %rdi
  call sluice_lazy_{name}_load
  movq %rax, %r11
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  addq $136, %rsp
  popq %r9
  popq %r8
  popq %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  popq %rax
  addq $8, %rsp
  jmp *%r11
)");

asm(R"(
{stubs}
)");
"""

STUB = """  .globl {symbol}
  .hidden {symbol}
  .type {symbol}, @function
{symbol}:
  movq sluice_lazy_{name}_table+{offset}(%rip), %r11
  testq %r11, %r11
  je 1f
  jmp *%r11
1:
  pushq ${index}
  jmp sluice_lazy_{name}_resolve"""


def exported(library, prefix):
    """Names of the functions that begin with the prefix, sorted."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout.splitlines()
    names = {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] in ("T", "W", "i")}
    return sorted(name for name in names if name.startswith(prefix))


def main():
    library, prefix, output = sys.argv[1:]
    header = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    soname = re.search(r"SONAME.*\[(.*)\]", header).group(1)
    symbols = exported(library, prefix)
    if not symbols:
        raise SystemExit(f"{library} exports nothing that begins with {prefix}")
    name = prefix.strip("_")
    text = TEXT.format(
        soname=soname, name=name, count=len(symbols), names="\n".join(f'      "{symbol}",' for symbol in symbols),
        stubs="\n".join(STUB.format(symbol=symbol, name=name, index=index, offset=8 * index) for index, symbol in enumerate(symbols)))
    path = pathlib.Path(output)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    main()
