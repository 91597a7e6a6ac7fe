#!/usr/bin/env python3
"""tools/import-*: small files of the original layouts become folders that winnow simulates on, with the right numbers."""
import bz2
import csv
import itertools
import json
import os
import pickle
import subprocess
import sys
import unittest

import tap

PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


class Importer(tap.TreeTest):
    def run_import(self, name, *arguments):
        return self.run_tool(PYTHON, tap.tool(name), *arguments)

    def python(self, code):
        """Runs code of Debian's Python, which has NumPy, in the tree."""
        result = self.run_tool(PYTHON, "-c", code)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def array(self, path):
        return json.loads(self.python(f"import numpy, json; print(json.dumps(numpy.load({path!r}).tolist()))"))

    def simulate(self, task, folder, *arguments):
        winnow = os.path.abspath(os.path.join(tap.ROOT, os.environ.get("WINNOW", "build/winnow")))
        result = self.run_tool(winnow, "sim", "--task", task, "--data", folder, "--method", "rs", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return list(csv.DictReader(result.stdout.splitlines()))

    def check_told(self, tool, file, message):
        """A line that says what is wrong, no traceback, and no folder that looks finished."""
        result = self.run_import(tool, file, "--out", "bad")
        self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1), result.stderr)
        self.assertIn(message, result.stderr)
        self.assertFalse(self.exists("bad/blackbox.json"))

    def check_simulation(self, task, folder, n_configs, n_levels, seeds, values, seconds):
        """One worker goes through configurations; each curve must be one of the table's, seconds included."""
        curves = {}
        for row in self.simulate(task, folder, "--workers", "1", "--max-trials", str(n_configs)):
            curves.setdefault(int(row["trial"]), []).append((float(row["resource"]), float(row["value"]), float(row["time"])))
        self.assertEqual(len(curves), n_configs)
        known = [([values[c][l][s] for l in range(n_levels)],
                  [seconds[c][l][s] if isinstance(seconds[c][l], list) else seconds[c][l] for l in range(n_levels)])
                 for c in range(n_configs) for s in range(seeds)]
        start = 0.0
        for trial in sorted(curves):
            got = curves[trial]
            self.assertEqual(len(got), n_levels)
            near = [k for k in known if all(abs(v - k[0][l]) < 1e-5 * (1 + abs(v)) for l, (_, v, _) in enumerate(got))]
            self.assertTrue(near, got)
            fits = [k for k in near if all(abs(t - start - k[1][l]) < 1e-3 * (1 + t) for l, (_, _, t) in enumerate(got))]
            self.assertTrue(fits, (got, near))
            start = got[-1][2]


@unittest.skipUnless(has("numpy") and has("h5py"), "python3-h5py is not installed")
class FCNet(Importer):
    MAKE = """
import h5py, itertools, json, numpy
rng = numpy.random.default_rng(1)
def make(path, drop=0):
    with h5py.File(path, "w") as file:
        grid = list(itertools.product(["tanh", "relu"], [8, 16], [0.0, 0.3], [0.0005, 0.1], ["cosine", "const"], [16, 32]))
        for row in grid[drop:]:
            config = dict(zip(["activation_fn_1", "batch_size", "dropout_1", "init_lr", "lr_schedule", "n_units_1"], row))
            group = file.create_group(json.dumps(config, sort_keys=True))
            group["valid_mse"] = rng.uniform(0.1, 1, (4, 5))
            group["train_mse"] = rng.uniform(0.1, 1, (4, 5))
            group["runtime"] = rng.uniform(10, 20, 4)
            group["final_test_error"] = rng.uniform(0.1, 1, 4)
"""

    def test_curves_and_times(self):
        self.python(self.MAKE + "make('fcnet_protein_structure_data.hdf5'); make('fcnet_naval_propulsion_data.hdf5')")
        result = self.run_import("import-fcnet", "fcnet_protein_structure_data.hdf5", "fcnet_naval_propulsion_data.hdf5",
                                 "--out", "data/fcnet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        about = json.loads(self.read("data/fcnet/blackbox.json"))
        self.assertEqual((about["kind"], about["resource"]["levels"]), ("table", [1, 2, 3, 4, 5]))
        self.assertEqual([t["name"] for t in about["tasks"]], ["fcnet-protein", "fcnet-naval"])
        kinds = {p["name"]: (p["type"], p.get("scale")) for p in about["parameters"]}
        self.assertEqual((kinds["init_lr"], kinds["batch_size"]), (("categorical", None), ("ordinal", "log")))
        values, seconds = self.array("data/fcnet/fcnet-naval.values.npy"), self.array("data/fcnet/fcnet-naval.seconds.npy")
        # the row of a configuration holds what the file says about it
        rows = list(csv.DictReader(self.read("data/fcnet/configs.csv").splitlines()))
        row = next(i for i, r in enumerate(rows) if list(r.values()) == ["relu", "16", "0.3", "0.1", "const", "32"])
        key = json.dumps({"activation_fn_1": "relu", "batch_size": 16, "dropout_1": 0.3, "init_lr": 0.1, "lr_schedule": "const",
                          "n_units_1": 32}, sort_keys=True)
        original = json.loads(self.python(
            "import h5py, json; g = h5py.File('fcnet_naval_propulsion_data.hdf5')[" + repr(key) + "]; "
            "print(json.dumps([g['valid_mse'][()].tolist(), g['runtime'][()].tolist()]))"))
        for level, seed in itertools.product(range(5), range(4)):
            self.assertAlmostEqual(values[row][level][seed], original[0][seed][level], 6)
            self.assertAlmostEqual(seconds[row][level][seed], original[1][seed] * (level + 1) / 5, 4)
        self.check_simulation("fcnet-naval", "data", 64, 5, 4, values, seconds)

    def test_a_missing_configuration(self):
        self.python(self.MAKE + "make('fcnet_slice_localization_data.hdf5', drop=1)")
        result = self.run_import("import-fcnet", "fcnet_slice_localization_data.hdf5", "--out", "data")
        self.assertEqual(result.returncode, 1)
        self.assertIn("1 of 64 configurations are missing", result.stderr)
        self.assertFalse(self.exists("data/blackbox.json"))

    def test_what_is_wrong_is_told(self):
        self.write("naval.hdf5", "no HDF5")
        self.assertIn("import-fcnet: naval.hdf5: ", self.run_import("import-fcnet", "naval.hdf5", "--out", "data").stderr)
        key = '{"batch_size": 8}'
        self.python("import h5py; h5py.File('slice.hdf5', 'w').create_group('" + key + "')['valid_mse'] = [[1.0, 2.0]]")
        self.check_told("import-fcnet", "slice.hdf5", f"slice.hdf5: the group '{key}' has no 'runtime'")
        self.python("import h5py; f = h5py.File('protein.hdf5', 'w').create_group('" + key + "'); "
                    "f['valid_mse'] = [[1.0, 2.0]]; f['runtime'] = [1.0, 2.0, 3.0]")
        self.check_told("import-fcnet", "protein.hdf5", "valid_mse of shape (1, 2) and runtime of shape (3,)")

    def test_a_file_of_another_name(self):
        self.python(self.MAKE + "make('other.hdf5')")
        self.assertIn("should hold one of", self.run_import("import-fcnet", "other.hdf5", "--out", "data").stderr)


@unittest.skipUnless(has("numpy"), "python3-numpy is not installed")
class LCBench(Importer):
    def data(self, n=7, epochs=52):
        def run(task, i):
            config = {"num_layers": 1 + i % 5, "max_units": 64 + 10 * i, "batch_size": 16 * (i + 1), "learning_rate": 1e-3 * (i + 1),
                      "weight_decay": 0.01 * (i + 1), "momentum": 0.1 * (i + 1), "max_dropout": i / 10, "optimizer": "sgd"}
            log = {"Train/val_accuracy": [10 * task + i + e / 10 for e in range(epochs)], "time": [3 + 2.5 * e for e in range(epochs)],
                   "epoch": list(range(epochs))}
            return {"config": config, "log": log, "results": {}}
        return {name: {str(i): run(task, i) for i in range(n)} for task, name in enumerate(["Fashion-MNIST", "adult"])}

    def test_curves_without_the_ends(self):
        self.write("bench.json", json.dumps(self.data()))
        result = self.run_import("import-lcbench", "bench.json", "--out", "data/lcbench")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        about = json.loads(self.read("data/lcbench/blackbox.json"))
        self.assertEqual((about["kind"], about["distance"], len(about["resource"]["levels"])), ("nearest", "raw", 50))
        self.assertEqual([t["name"] for t in about["tasks"]], ["lcbench-fashion-mnist", "lcbench-adult"])
        self.assertEqual(about["tasks"][0]["limits"], {"results": 10400, "time": 36000})
        values, seconds = self.array("data/lcbench/lcbench-adult.values.npy"), self.array("data/lcbench/lcbench-adult.seconds.npy")
        self.assertAlmostEqual(values[3][0][0], 13.1, 5)    # epoch 1, not the one before training
        self.assertAlmostEqual(values[3][49][0], 18.0, 5)   # epoch 50, not the one after the end
        self.assertAlmostEqual(seconds[3][0], 2.5, 5)
        self.assertAlmostEqual(about["tasks"][1]["best"], 21.0, 5)
        self.assertAlmostEqual(about["tasks"][1]["worst"], 10.1, 5)
        rows = self.simulate("lcbench-adult", "data", "--max-trials", "3")
        self.assertEqual(len(rows), 150)

    def test_only_some_tasks(self):
        self.write("bench.json", json.dumps(self.data()))
        self.run_import("import-lcbench", "bench.json", "--tasks", "adult", "--out", "data")
        self.assertEqual(len(json.loads(self.read("data/blackbox.json"))["tasks"]), 1)
        result = self.run_import("import-lcbench", "bench.json", "--tasks", "adlut", "--out", "data")
        self.assertIn("no data set 'adlut'; there are Fashion-MNIST, adult", result.stderr)

    def test_what_is_wrong_is_told(self):
        data = self.data()
        del data["adult"]["2"]["log"]["time"]
        self.write("bench.json", json.dumps(data))
        self.assertIn("adult, run 2: no list 'time'", self.run_import("import-lcbench", "bench.json", "--out", "data").stderr)
        self.write("bench.json", "{")
        self.assertIn("not JSON", self.run_import("import-lcbench", "bench.json", "--out", "data").stderr)
        self.assertIn("No such file", self.run_import("import-lcbench", "absent.json", "--out", "data").stderr)
        self.write("bench.json", "[1]")
        self.check_told("import-lcbench", "bench.json", "bench.json: not a mapping of data sets")
        self.write("bench.json", '{"adult": {}}')
        self.check_told("import-lcbench", "bench.json", "'adult' has no runs")
        data = self.data()
        data["adult"]["4"]["log"]["time"][3] = "soon"
        self.write("bench.json", json.dumps(data))
        self.check_told("import-lcbench", "bench.json", "adult, run 4: not of the layout that --help describes")


@unittest.skipUnless(has("numpy"), "python3-numpy is not installed")
class NAS201(Importer):
    def data(self, epochs=4):
        operations = ["none", "skip_connect"]
        archs = {}
        for i, ops in enumerate(itertools.product(operations, repeat=6)):
            text = "|{}~0|+|{}~0|{}~1|+|{}~0|{}~1|{}~2|".format(*ops)
            results = {(name, seed): {"eval_acc1es": {f"ori-test@{e}": 50 + i / 10 + e + seed / 1000 for e in range(epochs)},
                                      "eval_times": {f"ori-test@{e}": 0.5 for e in range(epochs)},
                                      "train_times": {e: 2.0 + i for e in range(epochs)}}
                       for name in ("cifar10", "cifar100", "ImageNet16-120") for seed in (777, 888, 999)}
            if i == 5:
                del results["cifar10", 888]
            archs[i] = {"12": {}, "200": {"arch_str": text, "all_results": results}}
        return {"total_archs": len(archs), "arch2infos": archs, "meta_archs": [], "evaluated_indexes": list(archs)}

    def make(self, data, name="nats.pickle.pbz2"):
        with bz2.open(os.path.join(self.tree, name), "wb") as file:
            pickle.dump(data, file)

    def test_errors_and_times(self):
        self.make(self.data())
        result = self.run_import("import-nas201", "nats.pickle.pbz2", "--out", "data/nas201")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        about = json.loads(self.read("data/nas201/blackbox.json"))
        self.assertEqual((about["kind"], about["resource"]["levels"]), ("table", [1, 2, 3, 4]))
        self.assertEqual([t["limits"]["time"] for t in about["tasks"]], [36000, 36000, 72000])
        values, seconds = self.array("data/nas201/nas201-cifar10.values.npy"), self.array("data/nas201/nas201-cifar10.seconds.npy")
        self.assertAlmostEqual(values[7][2][1], 1 - (50.7 + 2 + 0.888) / 100, 5)
        self.assertAlmostEqual(values[5][0][1], 1 - (50.5 + (0.777 + 0.999) / 2) / 100, 5)  # the seed that is missing
        self.assertAlmostEqual(seconds[7][2][0], 3 * 9.5, 4)
        self.check_simulation("nas201-cifar10", "data", 64, 4, 3, values, seconds)

    def test_what_is_wrong_is_told(self):
        data = self.data()
        data["arch2infos"][3]["200"]["arch_str"] = "|conv~0|"
        self.make(data)
        self.assertIn("architecture 3: not an architecture: '|conv~0|'",
                      self.run_import("import-nas201", "nats.pickle.pbz2", "--out", "data").stderr)
        self.make({"other": 1})
        self.assertIn("no 'arch2infos'", self.run_import("import-nas201", "nats.pickle.pbz2", "--out", "data").stderr)
        self.make({"arch2infos": {}})
        self.check_told("import-nas201", "nats.pickle.pbz2", "no architectures in it")
        data = self.data()
        del data["arch2infos"][6]["200"]["all_results"]["cifar100", 777]["eval_acc1es"]
        self.make(data)
        self.check_told("import-nas201", "nats.pickle.pbz2", "architecture 6 on cifar100: no 'eval_acc1es' in it")
        self.write("broken.pickle", "no pickle")
        self.assertIn("not a pickle", self.run_import("import-nas201", "broken.pickle", "--out", "data").stderr)


@unittest.skipUnless(has("numpy"), "python3-numpy is not installed")
class SyneTune(Importer):
    SPACE = {"hp_a": {"domain_cls": "Categorical", "domain_kwargs": {"categories": ["x", "y"]}},
             "hp_b": {"domain_cls": "FiniteRange", "domain_kwargs": {"lower": 8, "upper": 32, "size": 3, "log_scale": True,
                                                                     "cast_int": True}},
             "hp_c": {"domain_cls": "OrdinalNearestNeighbor", "domain_kwargs": {"categories": [0.1, 0.2], "log_scale": False}}}

    def make(self, space, rows, objectives=("metric_valid_error", "metric_runtime")):
        self.write("bb/configspace.json", json.dumps(space))
        self.write("bb/metadata.json", json.dumps({"objectives_names": objectives, "task_names": ["One", "two"]}))
        names = list(space)
        self.write("bb/hyperparameters.csv", "\n".join([",".join(names)] + [",".join(map(str, row)) for row in rows]) + "\n")
        self.python(f"""
import numpy
n = {len(rows)}
x = numpy.fromfunction(lambda t, c, s, f, o: numpy.where(o == 0, t + c / 10 + s / 100 + f / 1000, 1 + c + f), (2, n, 2, 3, {len(objectives)}))
numpy.save('bb/objectives_evaluations.npy', x.astype('float32'))
numpy.save('bb/fidelities_values.npy', numpy.arange(1, 4))""")

    def test_a_grid(self):
        rows = list(itertools.product("xy", [8, 16, 32], [0.1, 0.2]))
        self.make(self.SPACE, rows)
        result = self.run_import("import-synetune", "bb", "--out", "data/tiny")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        about = json.loads(self.read("data/tiny/blackbox.json"))
        self.assertEqual((about["kind"], [t["name"] for t in about["tasks"]]), ("table", ["tiny-one", "tiny-two"]))
        self.assertEqual(about["parameters"][1], {"name": "hp_b", "type": "ordinal", "values": [8, 16, 32], "scale": "log"})
        self.assertEqual(about["tasks"][0]["metric"], {"name": "valid_error", "goal": "minimize"})
        values, seconds = self.array("data/tiny/tiny-two.values.npy"), self.array("data/tiny/tiny-two.seconds.npy")
        self.assertAlmostEqual(values[4][2][1], 1 + 0.4 + 0.01 + 0.002, 5)
        self.assertAlmostEqual(seconds[4][2][0], 5 + 6 + 7, 5)  # per level, added up
        self.check_simulation("tiny-two", "data", 12, 3, 2, values, seconds)

    def test_a_sample(self):
        space = {"lr": {"domain_cls": "Float", "domain_kwargs": {"lower": 1e-4, "upper": 1.0}, "sampler_cls": "LogUniform"},
                 "units": {"domain_cls": "Integer", "domain_kwargs": {"lower": 1, "upper": 9}, "sampler_cls": "Uniform"}}
        self.make(space, [(0.001, 3), (0.01, 4.0), (0.5, 9)], ("metric_val_accuracy", "metric_elapsed_time"))
        result = self.run_import("import-synetune", "bb", "--out", "data/tiny", "--time", "100")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        about = json.loads(self.read("data/tiny/blackbox.json"))
        self.assertEqual((about["kind"], about["tasks"][0]["metric"]["goal"]), ("nearest", "maximize"))
        self.assertEqual(about["tasks"][0]["limits"], {"results": 600, "time": 100})
        self.assertEqual([p.get("scale") for p in about["parameters"]], ["log", None])
        self.assertEqual(len(self.simulate("tiny-one", "data", "--max-trials", "4")), 12)

    def test_what_is_wrong_is_told(self):
        rows = list(itertools.product("xy", [8, 16, 32], [0.1, 0.2]))
        self.make({**self.SPACE, "hp_a": {"domain_cls": "Function"}}, rows)
        self.assertIn("parameter 'hp_a' is of a kind that is not known here: Function",
                      self.run_import("import-synetune", "bb", "--out", "data").stderr)
        self.make(self.SPACE, [("z", 8, 0.1)])
        self.assertIn("'z' is not a value of 'hp_a'", self.run_import("import-synetune", "bb", "--out", "data").stderr)
        self.make(self.SPACE, rows)
        self.assertIn("no objective 'loss'; there are metric_valid_error, metric_runtime",
                      self.run_import("import-synetune", "bb", "--metric", "loss", "--out", "data").stderr)
        self.write("bb/metadata.json", '{"task_names": ["One", "two"]}')
        self.check_told("import-synetune", "bb", "metadata.json: no 'objectives_names' in it")
        self.write("bb/fidelities_values.npy", "no array")
        self.check_told("import-synetune", "bb", "fidelities_values.npy: not of the layout")
        os.remove(os.path.join(self.tree, "bb/hyperparameters.csv"))
        self.write("bb/hyperparameters.parquet", "")
        if not has("pandas"):
            self.assertIn("needs pandas", self.run_import("import-synetune", "bb", "--out", "data").stderr)


if __name__ == "__main__":
    tap.main()
