#!/usr/bin/env python3
"""tools/run-tests is what everything else trusts, so it is fed programs that misbehave in every way we know."""
import json
import os
import signal
import subprocess
import time

import tap


class RunTests(tap.TreeTest):
    def run_programs(self, *options, protocol="tap", environment=None, **scripts):
        """Runs shell scripts as test programs; a keyword is a name, its value the script."""
        tests = [{"name": name, "cmd": ["sh", "-c", script], "protocol": protocol, "workdir": self.tree,
                  "env": environment or {}} for name, script in scripts.items()]
        return self.run_list(tests, *options)

    def run_list(self, tests, *options):
        self.write("build/meson-info/intro-tests.json", json.dumps(tests))
        return self.run_tool(tap.tool("run-tests"), "build", *options)

    def expect(self, result, last_line, status):
        self.assertEqual(result.stdout.splitlines()[-1], last_line, result.stdout + result.stderr)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)


class Counting(RunTests):
    def test_counts_single_cases_over_programs(self):
        result = self.run_programs(a="echo 1..2; echo ok 1 - x; echo ok 2 - y", b="echo 1..1; echo ok 1 - z")
        self.expect(result, "3 passed, 0 failed", 0)

    def test_failed_case_fails_the_run_and_shows_name_and_output(self):
        result = self.run_programs(
            a="echo 1..2; echo ok 1 - fine; echo not ok 2 - sum; echo '# 3 != 4'; echo why >&2; exit 1")
        self.expect(result, "1 passed, 1 failed", 1)
        self.assertIn("failed: sum", result.stdout)
        self.assertIn("# 3 != 4", result.stdout)
        self.assertIn("why", result.stdout)

    def test_failed_case_counts_although_the_program_exits_with_0(self):
        self.expect(self.run_programs(a="echo 1..1; echo not ok 1 - x"), "0 passed, 1 failed", 1)

    def test_plan_may_come_last(self):
        self.expect(self.run_programs(a="echo ok 1; echo ok 2; echo 1..2"), "2 passed, 0 failed", 0)

    def test_several_groups_each_with_a_plan(self):
        result = self.run_programs(a="echo 1..1; echo ok 1 - x; echo '# ok - group'; echo 1..2; echo ok 1; echo ok 2")
        self.expect(result, "3 passed, 0 failed", 0)

    def test_exit_status_protocol_counts_the_program_as_one_case(self):
        self.expect(self.run_programs(protocol="exitcode", a="echo not ok 1"), "1 passed, 0 failed", 0)
        self.expect(self.run_programs(protocol="exitcode", a="exit 3"), "0 passed, 1 failed", 1)

    def test_words_that_begin_like_a_result_are_none(self):
        self.expect(self.run_programs(a="echo 1..1; echo okay; echo ok: done; echo ok 1"), "1 passed, 0 failed", 0)

    def test_output_that_is_not_utf8_is_survived(self):
        self.expect(self.run_programs(a=r"echo 1..1; printf '\377\n'; echo not ok 1 - x"), "0 passed, 1 failed", 1)


class Skipping(RunTests):
    def test_skip_with_a_reason(self):
        result = self.run_programs(a="echo 1..2; echo ok 1; echo 'ok 2 - big table # SKIP no data folder'")
        self.expect(result, "1 passed, 0 failed, 1 skipped", 0)
        self.assertIn("skipped a: big table: no data folder\n", result.stdout)

    def test_skip_as_cmocka_prints_it_takes_the_reason_from_the_line_before(self):
        result = self.run_programs(
            a="echo 1..2; echo ok 1 - x; echo '# skip: no data folder'; echo 'not ok 2 # SKIP big_table'")
        self.expect(result, "1 passed, 0 failed, 1 skipped", 0)
        self.assertIn("skipped a: big_table: no data folder\n", result.stdout)

    def test_whole_program_skipped(self):
        result = self.run_programs(a="echo '1..0 # SKIP needs gnuplot'", b="echo 1..1; echo ok 1")
        self.expect(result, "1 passed, 0 failed, 1 skipped", 0)
        self.assertIn("skipped a: all: needs gnuplot\n", result.stdout)

    def test_only_skipped_is_not_a_success(self):
        self.expect(self.run_programs(a="echo '1..0 # SKIP needs gnuplot'"), "0 passed, 0 failed, 1 skipped", 1)


class Misbehaving(RunTests):
    def test_crash(self):
        result = self.run_programs(a="echo 1..2; echo ok 1; echo last words >&2; kill -SEGV $$")
        self.expect(result, "1 passed, 1 failed", 1)
        self.assertIn("killed by SIGSEGV, 1 of 2 planned cases ran", result.stdout)
        self.assertIn("last words", result.stdout)

    def test_crash_after_the_last_case(self):
        self.expect(self.run_programs(a="echo 1..1; echo ok 1; kill -ABRT $$"), "1 passed, 1 failed", 1)

    def test_no_plan(self):
        result = self.run_programs(a="echo ok 1")
        self.expect(result, "1 passed, 1 failed", 1)
        self.assertIn("printed no plan", result.stdout)

    def test_no_output_at_all(self):
        self.expect(self.run_programs(a="true"), "0 passed, 1 failed", 1)

    def test_empty_plan_without_a_reason(self):
        self.expect(self.run_programs(a="echo 1..0"), "0 passed, 1 failed", 1)

    def test_ends_early_with_status_0(self):
        result = self.run_programs(a="echo 1..3; echo ok 1; echo ok 2")
        self.expect(result, "2 passed, 1 failed", 1)
        self.assertIn("2 of 3 planned cases ran", result.stdout)

    def test_first_of_two_groups_ends_early(self):
        self.expect(self.run_programs(a="echo 1..2; echo ok 1; echo 1..1; echo ok 1"), "1 passed, 1 failed", 1)

    def test_more_cases_than_planned(self):
        self.expect(self.run_programs(a="echo 1..1; echo ok 1; echo ok 2"), "2 passed, 1 failed", 1)

    def test_plan_at_the_end_that_does_not_fit(self):
        self.expect(self.run_programs(a="echo ok 1; echo 1..2"), "1 passed, 1 failed", 1)

    def test_error_status_although_every_case_passed(self):
        result = self.run_programs(a="echo 1..1; echo ok 1; exit 23")
        self.expect(result, "1 passed, 1 failed", 1)
        self.assertIn("exited with status 23", result.stdout)

    def test_bail_out(self):
        result = self.run_programs(a="echo 1..1; echo 'Bail out! no disk'; exit 1")
        self.expect(result, "0 passed, 1 failed", 1)
        self.assertIn("no disk", result.stdout)

    def test_program_that_is_not_there(self):
        result = self.run_list([{"name": "a", "cmd": ["/nowhere/a"], "protocol": "tap"}])
        self.expect(result, "0 passed, 1 failed", 1)
        self.assertIn("cannot be run", result.stdout)

    def test_hang_is_ended_and_its_output_shown(self):
        start = time.monotonic()
        result = self.run_programs("--timeout", "0.3", a="echo 1..1; echo I wait; sleep 50")
        self.expect(result, "0 passed, 1 failed", 1)
        self.assertIn("ran longer than 0.3 s", result.stdout)
        self.assertIn("I wait", result.stdout)
        self.assertLess(time.monotonic() - start, 20)

    def test_hang_that_ignores_the_polite_signal(self):
        start = time.monotonic()
        result = self.run_programs("--timeout", "0.2", a="trap '' TERM; echo 1..1; sleep 50; sleep 50")
        self.expect(result, "0 passed, 1 failed", 1)
        self.assertLess(time.monotonic() - start, 20)

    def test_what_a_program_leaves_in_the_background_is_ended(self):
        result = self.run_programs(a="sleep 50 & echo $! >pid; echo 1..1; echo ok 1")
        self.expect(result, "1 passed, 0 failed", 0)
        self.assert_gone()

    def test_interrupt_leaves_no_process_behind(self):
        self.write("build/meson-info/intro-tests.json", json.dumps(
            [{"name": "a", "cmd": ["sh", "-c", "echo $$ >pid.new; mv pid.new pid; sleep 50; sleep 50"],
              "protocol": "tap", "workdir": self.tree}]))
        # what a shell runs in the background is born deaf to SIGINT, and so would be its children
        heard = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, heard)
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number), subprocess.Popen(
                    [tap.tool("run-tests"), "build"], cwd=self.tree, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL) as process:
                while not self.exists("pid"):
                    time.sleep(0.02)
                process.send_signal(number)
                self.assertEqual(process.wait(20), 130)
                self.assert_gone()
                os.remove(os.path.join(self.tree, "pid"))

    def assert_gone(self):
        pid = int(self.read("pid"))
        for _ in range(100):  # an orphan is reaped by init, which may take a moment
            if not is_running(pid):
                return
            time.sleep(0.05)
        self.fail(f"process {pid} is still there")


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Surroundings(RunTests):
    def test_nothing_to_run_is_a_failure(self):
        result = self.run_list([])
        self.expect(result, "0 passed, 0 failed", 1)
        self.assertIn("no test ran", result.stdout)

    def test_filter_picks_by_name(self):
        scripts = {"unit/rng": "echo 1..1; echo ok 1", "unit/space": "echo 1..1; echo not ok 1"}
        self.expect(self.run_programs("--filter", "r.g", **scripts), "1 passed, 0 failed", 0)
        self.expect(self.run_programs("--filter", "nothing", **scripts), "0 passed, 0 failed", 1)

    def test_wrong_usage(self):
        self.assertEqual(self.run_tool(tap.tool("run-tests"), "nowhere").returncode, 2)
        self.assertEqual(self.run_programs("--filter", "(").returncode, 2)
        self.assertEqual(self.run_programs("--jobs", "0").returncode, 2)

    def test_two_run_at_a_time(self):
        # each waits for the other, so one after the other they would never end
        meet = "echo 1..1; touch {0}; while [ ! -e {1} ]; do sleep 0.02; done; echo ok 1"
        scripts = {"a": meet.format("here", "there"), "b": meet.format("there", "here")}
        self.expect(self.run_programs("--timeout", "20", **scripts), "2 passed, 0 failed", 0)
        os.remove(os.path.join(self.tree, "here"))
        os.remove(os.path.join(self.tree, "there"))
        # with one job the first gives up, the second finds the first's file
        result = self.run_programs("--timeout", "0.3", "--jobs", "1", **scripts)
        self.expect(result, "1 passed, 1 failed", 1)

    def test_environment_folder_and_input(self):
        script = ('echo 1..3; [ "$COLOUR" = red ] && echo ok 1; [ -e mark ] && echo ok 2; '
                  'read line || echo ok 3; touch "$TMPDIR/x"; echo "$TMPDIR" >where')
        self.write("mark")
        self.expect(self.run_programs(environment={"COLOUR": "red"}, a=script), "3 passed, 0 failed", 0)
        self.assertFalse(os.path.exists(self.read("where").strip()), "the temporary folder was left behind")

    def test_verbose_shows_the_output_of_a_passing_program(self):
        script = "echo 1..1; echo hello there; echo ok 1"
        self.assertIn("hello there", self.run_programs("--verbose", a=script).stdout)
        self.assertNotIn("hello there", self.run_programs(a=script).stdout)

    def test_seconds_and_counts_of_each_program(self):
        result = self.run_programs(a="echo 1..1; echo ok 1", b="echo 1..1; echo not ok 1")
        self.assertRegex(result.stdout, r"(?m)^ok   a +\d+\.\d\d s  1 passed$")
        self.assertRegex(result.stdout, r"(?m)^FAIL b +\d+\.\d\d s  0 passed, 1 failed$")


if __name__ == "__main__":
    tap.main()
