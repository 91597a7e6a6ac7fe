"""What the tests of our tools share: unittest with TAP output, temporary trees, and fake programs."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def tool(name):
    return os.path.join(ROOT, "tools", name)


class TreeTest(unittest.TestCase):
    """A test with an empty directory of its own, self.tree."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = folder.name

    def write(self, path, text="", executable=False):
        full = os.path.join(self.tree, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        if executable:
            os.chmod(full, 0o755)
        return full

    def read(self, path):
        with open(os.path.join(self.tree, path), encoding="utf-8") as file:
            return file.read()

    def exists(self, path):
        return os.path.lexists(os.path.join(self.tree, path))

    def program(self, name, script):
        """A fake program bin/NAME; run() puts bin before everything else in PATH."""
        self.write(f"bin/{name}", "#!/bin/sh\n" + script, executable=True)

    def copy_tool(self, name):
        """A copy of tools/NAME that believes self.tree is the repository."""
        with open(tool(name), encoding="utf-8") as file:
            return self.write(f"tools/{name}", file.read(), executable=True)

    def run_tool(self, *command, path=None, **environment):
        """Returns the finished process; its .stdout and .stderr are text."""
        search = path or os.path.join(self.tree, "bin") + ":" + os.environ["PATH"]
        return subprocess.run(command, cwd=self.tree, env={**os.environ, "PATH": search, **environment},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60,
                              check=False)


class TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.broken = None  # the test that has a failed subtest

    def line(self, verdict, test, note=""):
        self.count += 1
        name = test.id().removeprefix("__main__.")
        print(f"{verdict} {self.count} - {name}{note}", flush=True)

    def addSuccess(self, test):
        self.line("ok", test)

    def addSkip(self, test, reason):
        self.line("ok", test, f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line("not ok", test)
        self.explain(self.failures)

    def addError(self, test, err):
        super().addError(test, err)
        self.line("not ok", test)
        self.explain(self.errors)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)  # the whole test gets its line once it ends, and no addSuccess()
        if err:
            print("#", subtest)
            self.explain(self.failures if issubclass(err[0], test.failureException) else self.errors)
            self.broken = test

    def stopTest(self, test):
        super().stopTest(test)
        if self.broken is test:
            self.line("not ok", test)

    @staticmethod
    def explain(found):
        for line in found[-1][1].splitlines():
            print("#", line)


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = TapResult()
    suite.run(result)
    print(f"1..{result.count}")  # last, because a class that is skipped as a whole counts as one
    sys.exit(0 if result.wasSuccessful() else 1)
