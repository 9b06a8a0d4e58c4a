"""Each rule fires on a small bad repository and is silent on a good one."""
import os
import pathlib
import sys
import tempfile
import unittest

import headers
import tidy
from tree import Tree

CXX, CC = os.environ.get("CXX", "c++"), os.environ.get("CC", "cc")

GOOD = {
    "README.md": "# Good\n\n[a page](docs/page.md#a-heading) ![x](docs/x.png) <https://example.org> `[no](link)`\n",
    "docs/page.md": "# Page\n\n## A heading\n\n```\n[not](a-link.md)\n```\n[up](../README.md) [folder](../src)\n",
    "docs/x.png": "not text: \t \n",
    "include/weir/data.hpp": "// Data.\n#pragma once\n\n#include <vector>\n#include <weir/error.hpp>\n\nusing numbers = std::vector<weir_error>;\n",
    "include/weir/error.hpp": "// Errors.\n#pragma once\n\nstruct weir_error {};\n",
    "src/base/base.hpp": "// Base.\n#pragma once\n\n#include \"base/bits.hpp\"\n",
    "src/base/bits.hpp": "// Bits.\n#pragma once\n",
    "src/base/README.md": "# base\n",
    "src/os/os.hpp": "// The system.\n#pragma once\n\n#include <hwloc.h>\n#include \"base/base.hpp\"\n\nusing t = hwloc_topology_t;\n",
    "src/os/README.md": "# os\n",
    "src/base/model/model.hpp": "// The model checker.\n#pragma once\n",
    "src/os/futex_model.cpp": "// A model.\n#include \"base/model/model.hpp\"\n",
    "tools/weir/topo.cpp": "// Prints.\n#include <weir/data.hpp>\n",
    "machines/two.toml": "# A machine.\nsource = \"data sheet\"\n",
    "dev": "#!/bin/bash\n# A script.\necho\n",
}

# rule: files that break it (None: the file is taken away; a name ending in / is an empty folder), where it is
# reported, and words of the message.
BAD = {
    "include-order": [
        ({"src/base/low.cpp": "// Low.\n#include \"os/os.hpp\"\n"}, "src/base/low.cpp:2", "src/base may not include src/os"),
        ({"include/weir/x.hpp": "// X.\n#pragma once\n#include \"../../src/base/base.hpp\"\n"}, "include/weir/x.hpp:3", "it may include: only itself"),
        ({"tools/weir/topo.cpp": "// Prints.\n#include \"os/os.hpp\"\n"}, "tools/weir/topo.cpp:2", "tools may not include src/os"),
        ({"src/odd/odd.hpp": "// Odd.\n#pragma once\n", "src/odd/README.md": "# odd\n"}, "src/odd/odd.hpp:1", "not in the table"),
    ],
    "umbrella": [
        ({"src/os/x.cpp": "// X.\n#include \"base/bits.hpp\"\n"}, "src/os/x.cpp:2", "include base/base.hpp instead of base/bits.hpp"),
        ({"src/os/x.cpp": "// X.\n#include \"base/model/model.hpp\"\n"}, "src/os/x.cpp:2", "instead of base/model/model.hpp"),
        ({"src/os/os.hpp": None, "src/os/futex_model.cpp": None, "src/os/other.hpp": "// Other.\n#pragma once\n"}, "src/os:1", "add src/os/os.hpp"),
    ],
    "hermetic": [
        ({"include/weir/x.hpp": "// X.\n#pragma once\n#include <string>\n#include <hwloc.h>\n"}, "include/weir/x.hpp:4", "not hwloc.h"),
        ({"include/weir/x.hpp": "// X.\n#pragma once\n#include <unistd.h>\n"}, "include/weir/x.hpp:3", "not unistd.h"),
    ],
    "file-length": [({"src/base/long.cpp": "// Long.\n" + "int x;\n" * 600}, "src/base/long.cpp:601", "601 lines")],
    "whitespace": [
        ({"src/base/x.cpp": "// X.\nint\tx;\n"}, "src/base/x.cpp:2", "tab"),
        ({"docs/page.md": "# Page\n\n## A heading \n"}, "docs/page.md:3", "space at the end"),
        ({"dev": "#!/bin/bash\n# A script.\necho"}, "dev:3", "exactly one line end"),
        ({"dev": "#!/bin/bash\n# A script.\necho\n\n"}, "dev:5", "exactly one line end"),
    ],
    "pragma-once": [({"src/base/x.hpp": "// X.\n"}, "src/base/x.hpp:1", "#pragma once")],
    "opening-comment": [
        ({"src/base/x.cpp": "int x;\n"}, "src/base/x.cpp:1", "says what it is"),
        ({"dev": "#!/bin/bash\necho\n"}, "dev:1", "says what it is"),
        ({"src/base/x.cpp": ""}, "src/base/x.cpp:1", "says what it is"),
    ],
    "unfinished": [({"src/base/x.cpp": "// X.\nint x;  // TO" "DO: y\n"}, "src/base/x.cpp:2", "no TO" "DO marks")],
    "local-path": [
        ({"docs/page.md": "# Page\n\n## A heading\n\nrun /ho" "me/me/x\n"}, "docs/page.md:5", "one machine only"),
        ({"dev": "#!/bin/bash\n# A script.\ncd \"/wo" "rk/here\"\n"}, "dev:3", "one machine only"),
    ],
    "folder-readme": [({"src/base/README.md": None}, "src/base:1", "add README.md")],
    "empty-folder": [({"docs/none/": None}, "docs/none:1", "remove the folder")],
    "machine-source": [({"machines/two.toml": "# A machine.\nnodes = 2\n"}, "machines/two.toml:1", "where the numbers come from")],
    "dead-link": [
        ({"README.md": "# Good\n\n[a](docs/none.md)\n"}, "README.md:3", "there is no docs/none.md"),
        ({"README.md": "# Good\n\n[a](docs/page.md#none)\n"}, "README.md:3", "has no heading '#none'"),
        ({"README.md": "# Good\n\n[a]: none.md\n"}, "README.md:3", "there is no none.md"),
        ({"README.md": "# Good\n\n<img src=\"none.png\">\n"}, "README.md:3", "there is no none.png"),
        ({"README.md": "# Good\n\n[a](/docs/page.md)\n"}, "README.md:3", "relative"),
        ({"README.md": "# Good\n\n[a](../outside.md)\n"}, "README.md:3", "there is no ../outside.md"),
    ],
    "header-alone": [
        ({"src/base/bits.hpp": "// Bits.\n#pragma once\nstd::string name();\n"}, "src/base/bits.hpp:3", "std"),
        ({"include/weir/c.h": "// For C.\n#pragma once\nnamespace x {}\n"}, "include/weir/c.h:3", "unknown type name"),
    ],
}


def lay_out(root, files):
    for name, content in files.items():
        path = pathlib.Path(root) / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        elif content is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)


class TidyTest(unittest.TestCase):
    def violations(self, changes, only=None, cache=None):
        with tempfile.TemporaryDirectory() as root:
            lay_out(root, GOOD)
            lay_out(root, changes)
            tree = Tree(root)
            compiler = headers.Compiler(CXX, CC, cache) if only in (None, "header-alone") else None
            return [str(v) for v in tidy.check(tree, only, compiler)]

    def test_a_good_repository_has_no_violation(self):
        self.assertEqual(self.violations({}), [])

    def test_every_rule_has_a_bad_repository(self):
        self.assertEqual(sorted(BAD), sorted(tidy.RULES))

    def test_every_rule_fires_where_it_is_broken(self):
        for rule, cases in BAD.items():
            for files, where, words in cases:
                with self.subTest(rule=rule, where=where, words=words):
                    found = self.violations(files, only=rule)
                    self.assertTrue(any(v.startswith(f"{where}: {rule}: ") and words in v for v in found), found)

    def test_a_header_is_compiled_again_when_what_it_includes_changes(self):
        with tempfile.TemporaryDirectory() as cache:
            self.assertEqual(self.violations({}, "header-alone", cache), [])
            broken = self.violations({"src/base/bits.hpp": "// Bits.\n#pragma once\nint x\n"}, "header-alone", cache)
            self.assertEqual([v.split(":")[0] for v in broken], ["src/base/base.hpp", "src/base/bits.hpp", "src/os/os.hpp"])
            self.assertEqual(self.violations({}, "header-alone", cache), [])

    def test_what_another_header_begins_with_is_not_compiled_again(self):
        with tempfile.TemporaryDirectory() as root:
            lay_out(root, {**GOOD, "src/base/more.hpp": "// More.\n#pragma once\n\n#include \"base/base.hpp\"\n",
                           "src/base/late.hpp": "// Late.\n#pragma once\nint x;\n#include \"os/os.hpp\"\n"})
            compiler, compiled = headers.Compiler(CXX, CC), []
            compiler.errors = lambda tree, header: compiled.append(header) or ""
            tidy.check(Tree(root), "header-alone", compiler)
            self.assertEqual(sorted(compiled), ["include/weir/data.hpp", "include/weir/error.hpp", "src/base/late.hpp", "src/base/model/model.hpp", "src/base/more.hpp", "src/os/os.hpp"])

    def test_headers_in_a_circle_are_compiled(self):
        circle = {"src/base/base.hpp": "// Base.\n#pragma once\n#include \"base/bits.hpp\"\n", "src/base/bits.hpp": "// Bits.\n#pragma once\n#include \"base/base.hpp\"\nint x\n"}
        self.assertIn("src/base/bits.hpp", [v.split(":")[0] for v in self.violations(circle, "header-alone")])

    def test_what_is_known_to_compile_is_not_compiled_again(self):
        with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as cache:
            lay_out(root, GOOD)
            self.assertEqual(tidy.check(Tree(root), "header-alone", headers.Compiler(CXX, CC, cache)), [])
            rerun = headers.Compiler(CXX, CC, cache)
            rerun.errors = lambda tree, header: self.fail(f"{header} was compiled again")
            self.assertEqual(tidy.check(Tree(root), "header-alone", rerun), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
