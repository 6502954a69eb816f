#!/usr/bin/env python3
"""Tests check_layers and source_tree on small trees."""

import os
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, TOOLS)
import source_tree  # noqa: E402


def write_tree(root, files):
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)


class CheckLayersTest(unittest.TestCase):
    def run_check(self, files):
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, files)
            return subprocess.run([sys.executable, os.path.join(TOOLS, "check_layers"), root], capture_output=True, text=True)

    def test_accepts_own_and_lower_layers(self):
        result = self.run_check({
            "src/common/status.h": "#include <string>\n",
            "src/fs/file.h": '#include "common/status.h"\n#include "fs/path.h"\n',
            "src/fs/path.h": "",
            "src/server/gateway.cc": '#include "sluice/session.h"\n',
        })
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_reports_an_upward_include(self):
        result = self.run_check({"src/common/status.cc": '\n  #  include "sql/parser.h"\n', "src/sql/parser.h": ""})
        self.assertEqual(result.returncode, 1)
        self.assertIn('src/common/status.cc: common/ may not include "sql/parser.h": sql/ is a higher layer.', result.stdout)

    def test_reports_the_embeddable_api_below_the_engine(self):
        self.assertEqual(self.run_check({"src/runtime/task.h": '#include "sluice/session.h"\n'}).returncode, 1)

    def test_reports_an_include_that_climbs(self):
        self.assertEqual(self.run_check({"src/fs/file.h": '#include "../sql/parser.h"\n'}).returncode, 1)

    def test_reports_a_folder_without_a_layer(self):
        self.assertEqual(self.run_check({"src/misc/thing.h": ""}).returncode, 1)


class SourceTreeTest(unittest.TestCase):
    def libraries(self, files, test):
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, files)
            tree = source_tree.SourceTree(root)
            return tree.libraries_for_files([test], [source_tree.module_of(os.path.relpath(test, "src"))])

    def test_a_test_links_what_it_includes_and_no_more(self):
        libraries = self.libraries({
            "src/common/text.h": "",
            "src/common/text.cc": "",
            "src/formats/format.h": '#include "common/text.h"\n',
            "src/formats/all_formats.cc": '#include "formats/csv/csv.h"\n#include "formats/json/json.h"\n',
            "src/formats/csv/csv.h": '#include "formats/format.h"\n',
            "src/formats/csv/csv.cc": '#include "formats/csv/csv.h"\n',
            "src/formats/csv/csv_test.cc": '#include "formats/csv/csv.h"\n',
            "src/formats/json/json.cc": "",
            "src/formats/json/json.h": "",
        }, "src/formats/csv/csv_test.cc")
        self.assertEqual(libraries, ["sluice_common", "sluice_formats_csv"])


if __name__ == "__main__":
    unittest.main()
