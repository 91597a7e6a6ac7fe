#!/usr/bin/env python3
"""The checkers find what they are there to find, and stay quiet otherwise."""
import os

import tap


class Layers(tap.TreeTest):
    """tools/check-layers on a small tree: base < num < search, and bench on top."""

    def setUp(self):
        super().setUp()
        self.write("tools/layers.txt", "# comment\nbase:\nnum: base\nsearch: num base\nbench: search base\n")
        for folder in ("src/base", "src/num", "src/search", "bench"):
            self.write(f"{folder}/README.md", "what it is for\n")
        self.write("src/base/buf.h", "#include <stddef.h>\n")
        self.write("src/num/rng.c", '#include "num/rng.h"\n#include "base/buf.h"\n#include <winnow.h>\n')
        self.write("bench/run.c", '#include "search/search.h"\n')

    def check(self):
        return self.run_tool(tap.tool("check-layers"), self.tree)

    def expect(self, complaint):
        result = self.check()
        self.assertIn(complaint, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertEqual(result.returncode, 1)

    def test_allowed_edges_give_one_line(self):
        result = self.check()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("\n"), 1)

    def test_edge_that_points_up(self):
        self.write("src/num/stats.c", '#include "num/rng.h"\n\n#include "search/search.h"\n')
        self.expect("src/num/stats.c:3: 'num' may not include \"search/search.h\"")

    def test_edge_from_a_header_and_from_a_table(self):
        self.write("src/base/err.h", '#  include "num/rng.h"\n')
        self.expect("src/base/err.h:1: 'base' may not include \"num/rng.h\"")
        os.remove(os.path.join(self.tree, "src/base/err.h"))
        self.write("src/base/errors.def", '#include "num/rng.h"\n')
        self.expect("src/base/errors.def:1: 'base' may not include")

    def test_edge_that_is_allowed_only_through_another_layer(self):
        self.write("bench/stat.c", '#include "num/rng.h"\n')  # search may, bench may not
        self.expect("bench/stat.c:1: 'bench' may not include \"num/rng.h\"")

    def test_private_header_of_another_directory(self):
        self.write("src/num/rng_int.h")
        self.write("src/num/dist.c", '#include "num/rng_int.h"\n')
        self.assertEqual(self.check().returncode, 0, "its own directory may")
        self.write("src/search/tpe.c", '#include "num/rng_int.h"\n')
        self.expect("src/search/tpe.c:1: 'search' includes \"num/rng_int.h\", which is private to 'num'")

    def test_way_around_with_dots(self):
        self.write("src/num/stats.c", '#include "../search/search.h"\n')
        self.expect("src/num/stats.c:1:")

    def test_directory_nobody_knows(self):
        self.write("src/extra/README.md")
        self.write("src/extra/x.c", '#include "base/buf.h"\n')
        result = self.check()
        self.assertIn("src/extra: has no line in tools/layers.txt", result.stderr)
        self.assertEqual(result.returncode, 1)

    def test_directory_without_readme(self):
        os.remove(os.path.join(self.tree, "src/num/README.md"))
        self.expect("src/num: has no README.md")

    def test_list_that_allows_a_cycle(self):
        self.write("tools/layers.txt", "base: num\nnum: base\nsearch: num base\nbench: search\n")
        self.expect("tools/layers.txt:1: 'base' lists 'num'")

    def test_our_own_list_covers_what_the_design_names(self):
        with open(tap.tool("layers.txt"), encoding="utf-8") as file:
            names = {line.split(":")[0] for line in file if ":" in line and not line.startswith("#")}
        designed = {"base", "num", "core", "surrogate", "search", "sched", "backend", "store", "tuner", "method", "api"}
        self.assertEqual(designed - names, set())


class Headers(tap.TreeTest):
    def check(self):
        return self.run_tool(self.copy_tool("check-headers"))

    def test_header_that_stands_alone(self):
        self.write("include/winnow.h", "#ifndef W\n#define W\ntypedef int wn;\n#endif\n")
        self.write("src/base/a.h", "#ifndef A\n#define A\n#include <winnow.h>\nwn wni_a(void);\n#endif\n")
        result = self.check()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, "headers: 2 compile alone\n")

    def test_header_that_needs_another_first(self):
        self.write("src/base/a.h", "size_t wni_a(void);\n")
        result = self.check()
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("src/base/a.h: does not compile alone", result.stderr)

    def test_header_without_a_guard(self):
        self.write("cli/a.h", "struct a { int x; };\n")
        self.assertIn("cli/a.h: does not compile alone", self.check().stderr)


class Check(tap.TreeTest):
    """tools/check with stand-ins for the programs it runs."""

    def setUp(self):
        super().setUp()
        self.copy_tool("check")
        self.copy_tool("list-sources")
        self.write("src/base/a.c", "int wni_a;\n")
        self.write(".clang-tidy")
        self.program("clang-format", "exit 0")
        self.program("clang-tidy", f'echo "$@" >>"{self.tree}/tidied"; exit 0')
        self.program("cppcheck", "exit 0")
        self.write("tools/check-layers", "#!/bin/sh\necho layers fine\n", executable=True)
        self.write("tools/check-headers", "#!/bin/sh\necho headers fine\n", executable=True)

    def check(self, *arguments):
        return self.run_tool("tools/check", *(arguments or ("build",)))

    def test_one_line_for_each_step_that_is_fine(self):
        result = self.check()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual([line.split()[0].strip(":") for line in result.stdout.splitlines()],
                         ["format", "tidy", "cppcheck", "layers", "headers"])

    def test_a_failing_step_fails_the_whole_and_the_others_still_run(self):
        for program in ("clang-tidy", "cppcheck"):
            with self.subTest(program):
                self.program(program, "echo a finding >&2; exit 1")
                result = self.check()
                self.program(program, "exit 0")
                self.assertEqual(result.returncode, 1)
                self.assertIn("a finding", result.stderr)
                self.assertIn("headers fine", result.stdout)

    def test_file_in_another_style_is_named(self):
        self.program("clang-format", "echo 'src/base/a.c:1:2: error: code should be clang-formatted' >&2; exit 1")
        result = self.check("build", "format")
        self.assertEqual(result.returncode, 1)
        self.assertIn("not in our style; run make format:\n    src/base/a.c\n", result.stderr)

    def test_tidy_skips_a_file_it_found_clean_until_a_header_changes(self):
        self.write("src/base/a.h", "#define A 1\n")
        self.write("src/base/a.c", '#include "base/a.h"\nint wni_a = A;\n')
        for _ in range(2):
            self.assertEqual(self.check("build", "tidy").returncode, 0)
        self.assertEqual(self.read("tidied").count("a.c"), 1)
        self.write("src/base/a.h", "#define A 2\n")
        self.check("build", "tidy")
        self.assertEqual(self.read("tidied").count("a.c"), 2)

    def test_tidy_forgets_no_finding(self):
        self.program("clang-tidy", "[ \"$1\" = --version ] || { echo bad >&2; exit 1; }")
        for _ in range(2):
            self.assertEqual(self.check("build", "tidy").returncode, 1)

    def test_wrong_usage(self):
        self.assertEqual(self.run_tool("tools/check").returncode, 2)


if __name__ == "__main__":
    tap.main()
