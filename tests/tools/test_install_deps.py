#!/usr/bin/env python3
"""tools/install-deps against a made-up Debian: what is installed, who we are and what apt says is ours to choose."""
import os
import shutil

import tap

BUILD = ["gcc", "libc6-dev", "make", "meson", "ninja-build", "pkgconf", "libyaml-dev", "libjansson-dev",
         "libsqlite3-dev", "libuv1-dev", "liblapacke-dev", "libopenblas-dev", "libnlopt-dev"]
TEST = BUILD + ["libcmocka-dev", "python3", "binutils", "gnuplot-nox", "python3-numpy", "python3-h5py"]
CHECK = TEST + ["clang", "clang-format", "clang-tidy", "cppcheck", "libclang-rt-14-dev"]


class InstallDeps(tap.TreeTest):
    def system(self, installed, root=True, sudo=False, apt_fails=False):
        """Fake programs; what apt-get is asked is written to a file."""
        self.write("installed", "\n".join(installed) + "\n")
        self.program("dpkg-query", f"""
            if [ "$3" = '${{Depends}}' ]; then
                grep -qx clang "{self.tree}/installed" && echo 'clang-14 (>= 14.0)'; exit; fi
            shift 3
            for name; do grep -qx -- "$name" "{self.tree}/installed" && echo "$name installed"; done; exit 1""")
        self.program("apt-cache", "echo clang; echo '  Depends: clang-14'; echo '  Breaks: <clang-3.2>'")
        self.program("apt-get", f"echo \"$DEBIAN_FRONTEND $*\" >>'{self.tree}/asked'; echo chatter; exit {int(apt_fails)}")
        self.program("id", f"echo {0 if root else 1000}")
        self.program("sudo", 'shift_n() { [ "$1" = -n ] && shift; "$@"; }; shift_n "$@"' if sudo else "exit 1")

    def install(self, *group):
        return self.run_tool(tap.tool("install-deps"), *group)

    def asked(self):
        return self.read("asked") if self.exists("asked") else ""

    def test_nothing_missing_asks_nobody_and_says_nothing(self):
        for group, packages in (("build", BUILD), ("test", TEST), ("check", CHECK)):
            with self.subTest(group):
                self.system(packages)
                result = self.install(group)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
                self.assertEqual(self.asked(), "")

    def test_installs_only_what_is_missing(self):
        self.system([name for name in TEST if name not in ("meson", "libcmocka-dev")])
        result = self.install("test")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "installing: meson libcmocka-dev\n")
        update, install = self.asked().splitlines()
        self.assertTrue(update.startswith("noninteractive") and update.endswith(" update"), update)
        self.assertTrue(install.endswith("install -y --no-install-recommends meson libcmocka-dev"), install)

    def test_build_group_needs_no_cmocka(self):
        self.system(BUILD)
        self.assertEqual(self.install("build").returncode, 0)
        self.assertEqual(self.asked(), "")

    def test_either_of_two_names_will_do(self):
        self.system([name if name != "pkgconf" else "pkg-config" for name in BUILD])
        self.assertEqual((self.install("build").returncode, self.asked()), (0, ""))

    def test_runtime_of_clang_goes_with_its_version(self):
        self.system([name for name in CHECK if "clang" not in name])
        self.assertEqual(self.install("check").returncode, 0)
        self.assertTrue(self.asked().endswith(" clang clang-format clang-tidy libclang-rt-14-dev\n"), self.asked())

    def test_through_sudo(self):
        self.system([], root=False, sudo=True)
        self.assertEqual(self.install("build").returncode, 0)
        self.assertIn("noninteractive", self.asked())

    def test_without_rights_prints_the_one_command(self):
        self.system([name for name in BUILD if name != "meson"], root=False)
        result = self.install("build")
        self.assertEqual(result.returncode, 1)
        self.assertIn("sudo apt-get update && sudo apt-get install -y --no-install-recommends meson\n", result.stderr)
        self.assertEqual(self.asked(), "")

    def test_failure_shows_what_apt_said(self):
        self.system([], apt_fails=True)
        result = self.install("build")
        self.assertEqual(result.returncode, 1)
        self.assertIn("chatter", result.stderr)
        self.assertIn("could not install: gcc", result.stderr)

    def test_unknown_group(self):
        self.assertEqual(self.install("everything").returncode, 2)


class OtherSystem(tap.TreeTest):
    """Without dpkg: PATH holds a few named programs and nothing else."""

    def install(self, known_libraries):
        for name in ("sh", "sed", "dirname"):
            os.makedirs(os.path.join(self.tree, "bin"), exist_ok=True)
            os.symlink(shutil.which(name), os.path.join(self.tree, "bin", name))
        for name in ("cc", "meson", "ninja", "python3"):
            self.program(name, "exit 0")
        self.program("pkg-config", f'case " {known_libraries} " in *" $2 "*) exit 0 ;; esac; exit 1')
        return self.run_tool(tap.tool("install-deps"), "test", path=os.path.join(self.tree, "bin"))

    def test_goes_on_when_the_libraries_are_there(self):
        result = self.install("yaml-0.1 jansson sqlite3 libuv lapacke openblas nlopt cmocka")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_names_what_is_missing(self):
        result = self.install("jansson sqlite3 libuv lapacke openblas")
        self.assertEqual(result.returncode, 1)
        self.assertIn("please install what is missing: yaml-0.1 nlopt cmocka\n", result.stderr)


if __name__ == "__main__":
    tap.main()
