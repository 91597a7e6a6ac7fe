#!/usr/bin/env python3
"""`make install` as a user meets it: the files are where they belong, and a program builds with pkg-config alone."""
import os
import subprocess
import tempfile
import unittest

import tap

BUILD = os.environ.get("BUILD_DIR", os.path.join(tap.ROOT, "build"))
PROGRAM = """
#include <stdio.h>
#include <winnow.h>

int main(void)
{
    printf("%d.%d.%d %s\\n", WN_VERSION_MAJOR, WN_VERSION_MINOR, WN_VERSION_PATCH, wn_version());
    return 0;
}
"""


def run(*command, **environment):
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True).stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        symbols = run("nm", os.path.join(BUILD, "libwinnow.a"))
        if "__asan_" in symbols or "__tsan_" in symbols:
            raise unittest.SkipTest("sanitized libraries are not for installing")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.folder.name)
        cls.pc_dir = None
        for path, _, names in os.walk(cls.folder.name):
            if "winnow.pc" in names:
                cls.pc_dir = path
        cls.prefix = os.path.dirname(os.path.dirname(cls.pc_dir))

    def assert_installed(self, *names):
        missing = [name for name in names if not os.path.exists(os.path.join(self.prefix, name))]
        self.assertEqual(missing, [])

    def compile(self, *options):
        """Builds PROGRAM with what pkg-config says; returns the path of the result."""
        source = os.path.join(self.folder.name, "program.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        flags = run("pkg-config", "--define-variable=prefix=" + self.prefix, "--cflags", "--libs", *options, "winnow",
                    PKG_CONFIG_PATH=self.pc_dir).split()
        program = os.path.join(self.folder.name, "program")
        run("cc", "-o", program, source, *flags)
        return program

    def test_libraries_header_and_links(self):
        self.assert_installed("include/winnow.h", "lib/libwinnow.a", "lib/libwinnow.so", "lib/libwinnow.so.0")
        self.assertEqual(os.readlink(os.path.join(self.prefix, "lib/libwinnow.so")), "libwinnow.so.0")

    def test_only_one_header(self):
        self.assertEqual(os.listdir(os.path.join(self.prefix, "include")), ["winnow.h"])

    def test_program_with_the_shared_library(self):
        program = self.compile()
        output = run(program, LD_LIBRARY_PATH=os.path.join(self.prefix, "lib")).split()
        self.assertEqual(output[0], output[1], "header and library disagree about the version")

    def test_program_with_the_static_library(self):
        os.rename(os.path.join(self.prefix, "lib/libwinnow.so"), os.path.join(self.prefix, "lib/hidden"))
        self.addCleanup(os.rename, os.path.join(self.prefix, "lib/hidden"), os.path.join(self.prefix, "lib/libwinnow.so"))
        output = run(self.compile("--static")).split()
        self.assertEqual(output[0], output[1])

    def test_program_manual_and_completion(self):
        with open(os.path.join(tap.ROOT, "cli", "commands.def"), encoding="utf-8") as file:
            commands = [line.split("(")[1].split(")")[0].split(",")[0] for line in file if line.startswith("COMMAND(")]
        self.assertGreater(len(commands), 0)
        self.assert_installed("bin/winnow", "share/man/man1/winnow.1", "share/bash-completion/completions/winnow.bash",
                              "share/zsh/site-functions/_winnow",
                              *(f"share/man/man1/winnow-{name}.1" for name in commands))

    def test_benchmark_table(self):
        self.assertEqual(sorted(os.listdir(os.path.join(self.prefix, "share/winnow/data"))),
                         sorted(os.listdir(os.path.join(tap.ROOT, "data"))))


if __name__ == "__main__":
    tap.main()
