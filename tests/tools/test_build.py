#!/usr/bin/env python3
"""The scripts around the build: finding sources, configuring again, measuring, uninstalling."""
import json
import os

import tap


class ListSources(tap.TreeTest):
    def test_sorted_names_of_c_files_only(self):
        script = self.copy_tool("list-sources")
        for name in ("src/num/b.c", "src/num/a.c", "src/base/z.c", "src/num/a.h", "src/num/t.def", "cli/m.c"):
            self.write(name)
        self.assertEqual(self.run_tool(script, "src").stdout, "src/base/z.c\nsrc/num/a.c\nsrc/num/b.c\n")
        result = self.run_tool(script, "cli", "nowhere")
        self.assertEqual((result.returncode, result.stdout), (0, "cli/m.c\n"))


class Configure(tap.TreeTest):
    """tools/configure with a stand-in for Meson that notes how it was called."""

    def setUp(self):
        super().setUp()
        self.script = self.copy_tool("configure")
        self.copy_tool("list-sources")
        self.write("src/base/a.c")
        self.write("meson.build")
        self.write("meson_options.txt")
        self.program("meson", f'echo "$*" >>"{self.tree}/calls"; mkdir -p build; touch build/build.ninja')
        self.program("pkg-config", "echo 1.0")

    def configure(self, *options):
        """How often Meson has been called once this is done."""
        result = self.run_tool(self.script, "build", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.read("calls").count("\n")

    def test_sets_up_once(self):
        self.assertEqual([self.configure("-Dx=1"), self.configure("-Dx=1")], [1, 1])
        self.assertNotIn("--reconfigure", self.read("calls"))
        self.assertIn("src/base/a.c", self.read("build/.sources"))

    def test_again_when_a_file_comes_or_goes(self):
        self.configure()
        for path in ("src/base/b.c", "tests/unit/test_b.c", "tests/cli/help.sh", "cli/commands.def"):
            with self.subTest(path):
                before = self.configure()
                self.write(path)
                self.assertEqual(self.configure(), before + 1)
                os.remove(os.path.join(self.tree, path))
                self.assertEqual(self.configure(), before + 2)
        self.assertIn("--reconfigure", self.read("calls").splitlines()[-1])

    def test_not_again_when_a_file_changes(self):
        self.configure()
        self.write("src/base/a.c", "int x;\n")
        self.assertEqual(self.configure(), 1)

    def test_again_when_an_option_a_library_or_the_build_changes(self):
        self.configure("-Dx=1")
        self.assertEqual(self.configure("-Dx=2"), 2)
        self.program("pkg-config", "echo 2.0")
        self.assertEqual(self.configure("-Dx=2"), 3)
        self.write("meson.build", "project('x')\n")
        self.assertEqual(self.configure("-Dx=2"), 4)

    def test_failure_is_shown_and_tried_again(self):
        self.program("meson", "echo it went wrong; exit 1")
        for _ in range(2):
            result = self.run_tool(self.script, "build")
            self.assertEqual(result.returncode, 1)
            self.assertIn("it went wrong", result.stderr)


class Measure(tap.TreeTest):
    SOURCE = """/* A comment
 * of two lines. */
#include <stdio.h>

static const int table[] = {
    1,
};

/* why */
static int one(int x)
{
    return x; /* here */
}

int two(int x,
        int y)
{
    const char *s = "/* no comment";

    if (x) {
        return y;
    }
    return s[0];
}
"""

    def test_lines_and_functions(self):
        self.write("src/base/a.c", self.SOURCE)
        self.write("tests/unit/test_a.c", "int a;\nint b;\n\n/* c */\n")
        self.write("tests/cli/a.sh", "#!/bin/sh\n# comment\necho 1..0\n")
        text = self.run_tool(tap.tool("measure"), self.tree).stdout
        self.assertRegex(text, r"code lines +17 +of 24 lines")
        self.assertRegex(text, r"test lines +3 +0\.18 for each")
        self.assertRegex(text, r"functions +2 .*longest 10")
        self.assertRegex(text, r"(?m)^ +10  two \(src/base/a\.c\)\n +4  one \(")

    def test_empty_tree(self):
        self.assertEqual(self.run_tool(tap.tool("measure"), self.tree).returncode, 0)


class Uninstall(tap.TreeTest):
    def test_removes_what_was_installed_and_nothing_else(self):
        prefix = os.path.join(self.tree, "stage/opt")
        for name in ("bin/winnow", "bin/other", "share/winnow/data/t/x.csv", "lib/libwinnow.so.0.1.0"):
            self.write("stage/opt/" + name)
        os.symlink("libwinnow.so.0.1.0", os.path.join(prefix, "lib/libwinnow.so"))
        self.write("build/meson-info/intro-installed.json", json.dumps({
            "1": "/opt/bin/winnow", "2": "/opt/share/winnow/data", "3": "/opt/lib/libwinnow.so.0.1.0",
            "4": "/opt/lib/libwinnow.so", "5": "/opt/include/winnow.h"}))
        result = self.run_tool(tap.tool("uninstall"), "build", DESTDIR=os.path.join(self.tree, "stage"))
        self.assertEqual(result.returncode, 0, result.stderr)
        left = sorted(os.path.relpath(os.path.join(path, name), prefix)
                      for path, folders, names in os.walk(prefix) for name in folders + names)
        self.assertEqual(left, ["bin", "bin/other", "lib", "share"])


if __name__ == "__main__":
    tap.main()
