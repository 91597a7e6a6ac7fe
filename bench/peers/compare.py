"""Runs peers and Winnow in alternation on one core and prints medians and ratios.  Started by ./run, which see."""

import argparse
import csv
import dataclasses
import functools
import io
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import typing
import warnings

# Before anything that starts threads is imported.
for _name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "BLIS", "VECLIB"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"

COLUMNS = ["what", "space", "n", "peer", "variant", "peer_seconds", "winnow_seconds", "ratio", "best_ratio", "promise",
           "rounds", "note"]
PREPARED = "data prepared"  # the variant of a fit whose data structure is made beforehand
PACKAGES = ["scikit-learn", "xgboost-cpu", "lightgbm", "optuna", "syne-tune", "torch", "botorch", "numpy", "scipy"]


# ---- Winnow: each measurement is a command that prints CSV with a column `seconds` ----


class Missing(Exception):
    pass


class Winnow:
    def __init__(self, program):
        self.program = program

    def run(self, *args):
        try:
            done = subprocess.run([self.program, *map(str, args)], capture_output=True, text=True)
        except OSError as e:
            raise Missing(str(e)) from e
        if done.returncode:
            raise Missing((done.stderr.strip().splitlines() or ["winnow failed"])[-1])
        return done.stdout

    def rows(self, *args):
        return list(csv.DictReader(io.StringIO(self.run(*args, "--format", "csv"))))

    # What follows returns a function that measures once, or raises Missing.

    def suggestion(self, method, space, n):
        if method not in [row["name"] for row in self.rows("methods")]:
            raise Missing(f"winnow has no method {method} yet")
        command = ["bench", "latency", "--methods", method, "--space", space, "--n", n]
        return lambda: float(self.rows(*command)[0]["seconds"])

    def fit(self, learner, space, n):
        def once():
            rows = self.rows("bench", "fit", "--space", space, "--n", n)
            return next(float(row["seconds"]) for row in rows if row["learner"] == learner)

        return once

    def storage(self, options, space, n):  # more trials than the peer: fifty are over before a clock is sure
        def once():
            with tempfile.TemporaryDirectory(dir=os.path.dirname(self.program)) as folder:
                store = f"sqlite:///{os.path.abspath(folder)}/winnow.db{options}"
                row = self.rows("bench", "store", "--trials", max(n, 1000), "--reports", 10, "--store", store)[0]
            return float(row["seconds"]) / float(row["trials"])

        return once

    def observations(self, space, n):
        """The rows it measures itself on, for the peers to be given the same; None if it cannot print them."""
        try:
            return self.run("bench", "observations", "--space", space, "--n", n, "--format", "csv")
        except Missing:
            return None


# ---- what is compared ----


@dataclasses.dataclass
class Match:
    what: str
    spaces: list
    counts: list
    ours: typing.Callable  # (space, n) -> a function that measures once
    peers: dict  # name: factory, see contestants.py
    wanted: int = 0  # the ratio promised against the peers named in `against`
    against: tuple = ()  # how their names begin


def matches(c, winnow, quick, with_gp):
    both, part = ["fcnet", "lcbench"], functools.partial
    counts = [64, 1000] if quick else [64, 256, 1000]
    yield Match("CQR suggestion", both, counts if quick else [16, *counts], part(winnow.suggestion, "cqr"),
                {"Syne Tune CQR": c.syne_tune_cqr, "scikit-learn, authors' recipe": c.sklearn_cqr}, 200, ("Syne Tune",))
    one = {"XGBoost squared error": part(c.xgboost_fit, 1, "reg:squarederror"),
           "LightGBM squared error": part(c.lightgbm_fit, 1, "regression")}
    for m in (1, 4):
        yield Match(f"quantile fit, {m} level{'s' * (m > 1)}", both, counts, part(winnow.fit, f"quantile{m}"),
                    {"XGBoost": part(c.xgboost_fit, m, "reg:quantileerror"),
                     "LightGBM": part(c.lightgbm_fit, m, "quantile"),
                     **(one if m == 1 else {}),
                     "scikit-learn": part(c.sklearn_fit, m)}, 10, ("XGBoost", "LightGBM"))
    counts = [64, 1024] if quick else [64, 256, 1024]
    yield Match("BORE suggestion", both, counts, part(winnow.suggestion, "bore"),
                {"Syne Tune BORE": c.syne_tune_bore}, 22, ("Syne Tune",))
    yield Match("TPE suggestion", both, counts, part(winnow.suggestion, "tpe"),
                {"Syne Tune KDE": c.syne_tune_kde,
                 "Optuna TPE": part(c.optuna_suggest, lambda s: s.TPESampler(seed=0)),
                 "Optuna TPE multivariate": part(c.optuna_suggest, lambda s: s.TPESampler(seed=0, multivariate=True))})
    if with_gp:
        yield Match("GP suggestion", both, counts, part(winnow.suggestion, "gp"),
                    {"Optuna GP": part(c.optuna_suggest, lambda s: s.GPSampler(seed=0)),
                     "Syne Tune GP": c.syne_tune_gp})
    trials = 10 if quick else 50
    # Optuna has SQLite flush the disk at each commit; Winnow leaves that to the system unless told.
    for what, options in {"storage, one trial": "", "storage, one trial, disk flushed": "?sync=full"}.items():
        yield Match(what, ["-"], [trials], part(winnow.storage, options),
                    {"Optuna SQLite": part(c.optuna_storage, trials)}, *([] if options else [50, ("Optuna",)]))


# ---- measuring ----


def attempt(work):
    """(result, "") or (None, why not): a contestant that fails is a row of the table, not the end of the run."""
    try:
        return work(), ""
    except Missing as e:
        return None, str(e)
    except Exception as e:  # peers raise whatever they like
        return None, f"{type(e).__name__}: {e}".splitlines()[0][:120]


class Cell:
    """One thing measured in one space with one number of observations: all peers against Winnow."""

    def __init__(self, match, space, n):
        self.match, self.space, self.n = match, space, n
        self.peer_times, self.own_times = {}, []  # (peer, variant): seconds of each round
        self.complaints = {}  # peer: why it is out

    def measure(self, peers, data, scratch, rounds):
        own, self.own_complaint = attempt(lambda: self.match.ours(self.space, self.n))
        once = {}
        for name, factory in peers.items():
            once[name], self.complaints[name] = attempt(lambda: factory(data, scratch))
        for i in range(rounds + 1):  # peer, Winnow, next peer, Winnow, ...: whatever else the machine does meets both
            for name in [name for name in peers if not self.complaints[name]]:
                self.run_peer(name, once[name], count=i > 0)  # the first round warms up
                if own and i > 0:
                    seconds, self.own_complaint = attempt(own)
                    self.own_times += [] if seconds is None else [seconds]

    def run_peer(self, name, once, count):
        times, self.complaints[name] = attempt(once)
        for variant, seconds in (times or {}).items() if count else ():
            self.peer_times.setdefault((name, variant), []).append(seconds)

    def rows(self):
        for (name, variant), seconds in self.peer_times.items():
            yield self.row(name, variant=variant, note=self.own_complaint or None, rounds=len(seconds),
                           peer_seconds=statistics.median(seconds), **self.compare(name, variant, seconds))
        for name, why in self.complaints.items():
            if why:
                yield self.row(name, note=why)

    def row(self, name, **facts):
        return dict.fromkeys(COLUMNS) | dict(what=self.match.what, space=self.space, n=self.n, peer=name) | facts

    def compare(self, name, variant, seconds):
        if not self.own_times:
            return {}
        own = statistics.median(self.own_times)
        ratio = statistics.median(seconds) / own
        facts = dict(winnow_seconds=own, ratio=ratio, best_ratio=min(seconds) / min(self.own_times))
        if name.startswith(self.match.against) and not variant.endswith(PREPARED):  # Winnow's fit includes binning
            facts["promise"] = f"{'kept' if ratio >= self.match.wanted else 'MISSED'} ({self.match.wanted})"
        return facts


def measure(args, winnow, scratch):
    import contestants
    import spaces

    @functools.cache
    def observations(space, n):
        printed = winnow.observations(space, n)
        return spaces.parse(space, printed) if printed else spaces.draw(space, n)

    for match in matches(contestants, winnow, args.quick, args.with_gp):
        for space, n in itertools.product(match.spaces, match.counts):
            peers = {name: f for name, f in match.peers.items()
                     if re.search(args.only, f"{match.what}/{space}/{n}/{name}", re.I)}
            if not peers:
                continue
            print(f"bench-peers: {match.what}, {space}, n = {n}", file=sys.stderr)
            cell = Cell(match, space, n)
            cell.measure(peers, observations(space, n) if space in spaces.SPACES else None, scratch, args.rounds)
            yield from cell.rows()


# ---- printing ----


def cpu_name():
    with open("/proc/cpuinfo") as f:
        return next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "unknown")


def versions():
    from importlib import metadata

    def version(name):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return "not installed"

    return {name: version(name) for name in PACKAGES}


def describe(args, winnow, core):
    same = winnow.observations("fcnet", 16)
    return {
        "cpu": cpu_name(),
        "core": core,
        "load": round(os.getloadavg()[0], 2),
        "python": sys.version.split()[0],
        "winnow": attempt(lambda: winnow.run("version").splitlines()[0])[0] or "cannot be run",
        **versions(),
        "data": "the rows winnow measures itself on" if same else "drawn here by the same law as winnow's",
        "rounds": args.rounds,
    }


def human(seconds):
    if seconds is None:
        return "n/a"
    scale, unit = (1, "s") if seconds >= 1 else (1e3, "ms") if seconds >= 1e-3 else (1e6, "us")
    return f"{seconds * scale:.3g} {unit}"


def table_line(row):
    def number(name):
        return "n/a" if row[name] is None else f"{row[name]:.1f}"

    peer = f"{row['peer']} ({row['variant']})" if row["variant"] else row["peer"]
    return [row["what"], row["space"], str(row["n"]), peer, human(row["peer_seconds"]), human(row["winnow_seconds"]),
            number("ratio"), number("best_ratio"), row["promise"] or "", row["note"] or ""]


def print_table(facts, rows):
    for name, value in facts.items():
        print(f"# {name}: {value}")
    print("# ratio: peer / winnow, of medians; best: of the fastest rounds; promise: the ratio wanted")
    head = ["what", "space", "n", "peer", "median", "winnow", "ratio", "best", "promise", "note"]
    lines = [head] + [table_line(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip())


def print_csv(facts, rows):
    for name, value in facts.items():
        print(f"# {name}: {value}")
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    out.writeheader()
    out.writerows(rows)


def print_json(facts, rows):
    json.dump({"machine": facts, "rows": rows}, sys.stdout, indent=1)
    print()


def parse_args():
    cores = sorted(os.sched_getaffinity(0))
    p = argparse.ArgumentParser(prog="bench/peers/run", description="Winnow and its peers, side by side on one core.")
    p.add_argument("--quick", action="store_true", help="fewer rounds and sizes")
    p.add_argument("--only", metavar="REGEX", default="", help="only what matches in 'what/space/n/peer'")
    p.add_argument("--with-gp", action="store_true", help="Optuna's GP too; installs PyTorch")
    p.add_argument("--rounds", type=int, metavar="N", help="measurements of each peer (5; quick: 3)")
    p.add_argument("--core", type=int, choices=cores, default=cores[-1], help="the core to run on (the last)")
    p.add_argument("--format", choices=["table", "csv", "json"], default="table")
    p.add_argument("--build", metavar="DIR", default="build", help=argparse.SUPPRESS)
    args = p.parse_args()
    args.rounds = args.rounds or (3 if args.quick else 5)
    return args


def main():
    args = parse_args()
    os.sched_setaffinity(0, {args.core})  # inherited by winnow
    warnings.simplefilter("ignore")
    winnow = Winnow(os.path.join(args.build, "winnow"))
    facts = describe(args, winnow, args.core)
    with tempfile.TemporaryDirectory(dir=args.build) as scratch:
        rows = list(measure(args, winnow, scratch))
    {"table": print_table, "csv": print_csv, "json": print_json}[args.format](facts, rows)


if __name__ == "__main__":
    main()
