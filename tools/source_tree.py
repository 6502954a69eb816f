#!/usr/bin/env python3
"""Finds the modules of the source tree and what each of them includes.

A module is a folder under src/ (src/formats/csv is the module formats/csv). Files named all_*.cc and all_*.h form a
module of their own (formats/all): they name every format, and a test of one format must not need the others to build.
What a test has to be linked with follows from the #include lines, so nobody keeps lists by hand.

Usage: source_tree.py ROOT OUTPUT.cmake   writes the targets for CMake, leaving an up-to-date file untouched.
"""

import os
import re
import sys

# Lowest first. A folder may include itself and the folders before it in this list.
LAYERS = ["common", "types", "expr", "fs", "formats", "runtime", "connectors", "catalog", "sql", "engine", "server", "cli"]

SOURCE_ENDINGS = (".cc", ".h", ".inc")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)


def project_files(root, top):
    """Returns the C++ files below root/top as paths relative to root, sorted."""
    found = []
    for folder, folders, names in os.walk(os.path.join(root, top)):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names if n.endswith(SOURCE_ENDINGS)]
    return sorted(found)


def includes(root, path):
    """Returns the names included by a file, as written. A file that vanishes meanwhile includes nothing."""
    try:
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            return _INCLUDE.findall(file.read())
    except OSError:
        return []


def module_of(path):
    """Returns the module of a file given relative to src/, such as formats/csv, or None for a file of no module."""
    folder, name = os.path.split(path)
    if not folder:
        return None
    return folder + "/all" if name.startswith("all_") else folder


def target_of(module):
    return "sluice_" + module.replace("/", "_")


class SourceTree:
    """The modules with their files and the modules they include. Rebuilt on each run: reading all files takes milliseconds."""

    def __init__(self, root):
        self.root = root
        self.sources = {}  # module -> its .cc files without tests and main()
        self.tests = {}  # module -> its *_test.cc files
        self.mains = []
        self.needs = {}  # module -> modules its library includes
        for path in project_files(root, "src"):
            self._add(path)

    def _add(self, path):
        inner = os.path.relpath(path, "src")
        module = module_of(inner)
        if module is None:
            return
        self.sources.setdefault(module, [])
        self.needs.setdefault(module, set())
        if path.endswith("_test.cc"):
            self.tests.setdefault(module, []).append(path)
            return
        if os.path.basename(path) == "main.cc":
            self.mains.append(path)
            return
        if path.endswith(".cc"):
            self.sources[module].append(path)
        self.needs[module] |= self.included_modules(path) - {module}

    def included_modules(self, path):
        """Returns the modules whose headers a file includes."""
        found = set()
        for name in includes(self.root, path):
            if name.startswith("sluice/"):  # The embeddable API is implemented by the engine.
                found.add("engine")
            elif os.path.isfile(os.path.join(self.root, "src", name)):
                found.add(module_of(name))
            elif os.path.isfile(os.path.join(self.root, os.path.dirname(path), name)):
                beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
                if beside.startswith("src/"):
                    found.add(module_of(os.path.relpath(beside, "src")))
        found.discard(None)
        return found

    def closure(self, modules):
        """Returns the given modules and all they need, directly or not, sorted."""
        seen, waiting = set(), list(modules)
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting += self.needs.get(module, ())
        return sorted(seen)

    def libraries(self, modules):
        """Returns the library targets of the closure; a folder of headers has none."""
        return [target_of(module) for module in self.closure(modules) if self.sources.get(module)]

    def libraries_for_files(self, paths, own_modules=()):
        needed = set(own_modules)
        for path in paths:
            needed |= self.included_modules(path)
        return self.libraries(needed)


def _call(function, name, **lists):
    lines = [f"{function}({name}"]
    for key, values in lists.items():
        lines.append("  " + " ".join([key.upper(), *values]))
    return "\n".join(lines) + ")"


def _program_folders(root, top):
    folders = {}
    for path in project_files(root, top):
        if path.endswith(".cc"):
            folders.setdefault(os.path.dirname(path), []).append(path)
    return folders


def cmake_text(root):
    """Returns the CMake calls that declare every target."""
    tree = SourceTree(root)
    calls = []
    for module in sorted(tree.sources):
        calls.append(_call("sluice_module", target_of(module), sources=tree.sources[module]))
    for module, paths in sorted(tree.tests.items()):
        libraries = tree.libraries_for_files(paths, [module])
        calls.append(_call("sluice_test", target_of(module) + "_test", sources=paths, libraries=libraries))
    # A program has every format and connector, also where only their lists are asked for.
    lists = [module for module in tree.sources if module.endswith("/all")]
    for path in tree.mains:
        folder = os.path.basename(os.path.dirname(path))
        name = "sluice" if folder == "cli" else "sluice_" + folder + "_main"
        calls.append(_call("sluice_program", name, sources=[path], libraries=tree.libraries_for_files([path], lists)))
    for folder, paths in sorted(_program_folders(root, "tests").items()):
        function = "sluice_program" if any(os.path.basename(p) == "main.cc" for p in paths) else "sluice_test"
        name = folder.replace("/", "_") + ("_test" if function == "sluice_test" else "")
        calls.append(_call(function, name, sources=paths, libraries=tree.libraries_for_files(paths)))
    for top, ending, function in (("bench", "_bench.cc", "sluice_benchmark"), ("fuzz", "_fuzz.cc", "sluice_fuzzer")):
        for path in project_files(root, top):
            if path.endswith(ending):
                name = os.path.basename(path)[:-3]
                calls.append(_call(function, name, sources=[path], libraries=tree.libraries_for_files([path])))
    # What the benchmarks need beside the engine: a program for each file of bench/limits/, one of all of bench/generate/.
    for path in project_files(root, "bench"):
        if path.startswith("bench/limits/") and path.endswith(".cc"):
            calls.append(_call("sluice_bench_program", "limit_" + os.path.basename(path)[:-3], sources=[path]))
    generator = [path for path in project_files(root, "bench") if path.startswith("bench/generate/") and path.endswith(".cc")]
    if generator:
        calls.append(_call("sluice_bench_program", "bench_generate", sources=generator))
    return "# Written by tools/source_tree.py from the folders and #include lines; do not edit.\n" + "\n".join(calls) + "\n"


def main():
    root, output = sys.argv[1:]
    text = cmake_text(root)
    try:
        with open(output, encoding="utf-8") as file:
            if file.read() == text:
                return
    except OSError:
        pass
    os.makedirs(os.path.dirname(output) or ".", exist_ok=True)
    with open(output + ".tmp", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(output + ".tmp", output)


if __name__ == "__main__":
    main()
