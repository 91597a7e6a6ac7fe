"""What the importers share: writing a folder that winnow reads (bench/README.md has the format), and saying what is wrong."""
import contextlib
import csv
import itertools
import json
import os
import sys

import numpy


class Refused(Exception):
    """The input is not what it should be; the text says what and where."""


def main(work):
    try:
        work()
    except Refused as why:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {why}")
    except OSError as why:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {why.filename}: {why.strerror}")


@contextlib.contextmanager
def reading(where):
    """Whatever goes wrong inside is told as a fault of `where`, not as a traceback."""
    try:
        yield
    except Refused:
        raise
    except KeyError as why:
        raise Refused(f"{where}: no {why.args[0]!r} in it") from None
    except OSError as why:
        if why.filename:
            raise
        raise Refused(f"{where}: {why.strerror or why}") from None
    except (LookupError, ValueError, TypeError, AttributeError) as why:
        raise Refused(f"{where}: not of the layout that --help describes: {why}") from None


def values_of(parameter):
    """All values of a finite parameter, else None."""
    return parameter.get("values")


def grid_rows(parameters):
    """Every configuration of a finite space, in order."""
    return [dict(zip([p["name"] for p in parameters], row))
            for row in itertools.product(*[values_of(p) for p in parameters])]


def is_grid(parameters, rows):
    if any(values_of(p) is None for p in parameters):
        return False
    size = 1
    for p in parameters:
        size *= len(values_of(p))
    return size == len(rows) == len({tuple(row[p["name"]] for p in parameters) for row in rows})


def task(name, metric, goal, values, seconds, limits):
    """values[config, level, seed]; seconds[config, level] or with seeds, since the start."""
    return {"name": name, "metric": metric, "goal": goal, "values": numpy.asarray(values, dtype=numpy.float32),
            "seconds": numpy.asarray(seconds, dtype=numpy.float32), "limits": limits}


def describe(t):
    finite = t["values"][numpy.isfinite(t["values"])]
    if not finite.size:
        raise Refused(f"task '{t['name']}' has no finite value")
    low, high = float(finite.min()), float(finite.max())
    best, worst = (low, high) if t["goal"] == "minimize" else (high, low)
    return {"name": t["name"], "metric": {"name": t["metric"], "goal": t["goal"]}, "values": t["name"] + ".values.npy",
            "seconds": t["name"] + ".seconds.npy", "limits": t["limits"], "best": best, "worst": worst}


def check_shapes(t, rows, levels):
    for what in ("values", "seconds"):
        if t[what].shape[:2] != (len(rows), len(levels)):
            raise Refused(f"task '{t['name']}': {what} of shape {t[what].shape} do not fit {len(rows)} configurations "
                          f"and {len(levels)} levels")
    if not numpy.isfinite(t["seconds"]).all() or (numpy.diff(t["seconds"], axis=1) < 0).any():
        raise Refused(f"task '{t['name']}': seconds must be finite and must not go back along a curve")


def write_family(folder, family, title, parameters, rows, resource, levels, tasks, note="", distance="raw"):
    """Writes blackbox.json last, so that a folder without it was not finished."""
    names = [p["name"] for p in parameters]
    about = {"family": family, "kind": "table" if is_grid(parameters, rows) else "nearest", "title": title,
             "honesty": "real", "note": note, "parameters": parameters, "configs": "configs.csv",
             "resource": {"name": resource, "levels": levels}, "tasks": [describe(t) for t in tasks]}
    if about["kind"] == "nearest":
        about["distance"] = distance
    for t in tasks:
        check_shapes(t, rows, levels)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "configs.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([[row[name] for name in names] for row in rows])
    for t in tasks:
        for what in ("values", "seconds"):
            numpy.save(os.path.join(folder, f"{t['name']}.{what}.npy"), numpy.ascontiguousarray(t[what]))
    with open(os.path.join(folder, "blackbox.json"), "w", encoding="utf-8") as file:
        json.dump(about, file, indent=1)
        file.write("\n")
    print(f"{folder}: {about['kind']} of {len(rows)} configurations, {len(levels)} levels; "
          f"{', '.join(t['name'] for t in tasks)}")
