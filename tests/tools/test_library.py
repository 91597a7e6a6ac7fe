#!/usr/bin/env python3
"""What the built libraries show to the world: only wn_ symbols, no state of their own, nothing forbidden inside."""
import os
import re
import subprocess
import unittest

import tap

BUILD = os.environ.get("BUILD_DIR", os.path.join(tap.ROOT, "build"))


def lines(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def is_sanitized():
    return any("__asan_" in line or "__tsan_" in line for line in lines("nm", os.path.join(BUILD, "libwinnow.a")))


class Library(unittest.TestCase):
    maxDiff = None

    def test_exports_exactly_what_the_header_declares(self):
        exported = {line.split()[-1] for line in lines("nm", "-D", "--defined-only", os.path.join(BUILD, "libwinnow.so"))}
        with open(os.path.join(tap.ROOT, "include", "winnow.h"), encoding="utf-8") as file:
            header = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        declared = set(re.findall(r"\bWN_API\b[^;]*?\b(wn_\w+)\(", header))
        exported = {name for name in exported if not name.startswith("__")}     # what sanitizers add
        self.assertEqual(exported, declared)

    def test_soname_carries_the_abi_version(self):
        dynamic = "\n".join(lines("readelf", "-d", os.path.join(BUILD, "libwinnow.so")))
        self.assertIn("[libwinnow.so.0]", dynamic)

    def test_has_no_writable_globals(self):
        if is_sanitized():
            self.skipTest("sanitizers add data of their own")
        writable = []
        for line in lines("objdump", "-t", os.path.join(BUILD, "libwinnow.a")):
            match = re.search(r" O (\.data|\.bss|\.tdata|\.tbss)(\.(?!rel\.ro)\S*)?\s+\S+\s+(.*)$", line)
            if match:
                writable.append(match[3])
        self.assertEqual(writable, [])

    def test_neither_prints_nor_exits(self):
        called = set()
        for line in lines("nm", "-u", os.path.join(BUILD, "libwinnow.a")):
            called.add(line.split()[-1] if line.strip() else "")
        self.assertEqual(called & {"printf", "puts", "putchar", "vprintf", "perror", "exit", "_exit", "stdout",
                                   "__printf_chk", "__vprintf_chk", "rand", "srand", "random", "time"}, set())

    def test_program_needs_no_library_of_ours_at_run_time(self):
        program = os.path.join(BUILD, "winnow")
        self.assertNotIn("libwinnow", "\n".join(lines("readelf", "-d", program)))


if __name__ == "__main__":
    tap.main()
