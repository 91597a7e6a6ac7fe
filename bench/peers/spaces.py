"""The two search spaces everything is measured on, and observations in them.

A space is a list of parameters; observations are one NumPy column per parameter and a column of values.
"""

import csv
import dataclasses
import io

import numpy as np


@dataclasses.dataclass(frozen=True)
class Param:
    name: str
    kind: str  # choice: unordered values; grid: ordered numbers; int, float: a range
    values: tuple = ()
    low: float = 0
    high: float = 1
    log: bool = False

    def draw(self, n, rng):
        if self.values:
            return np.array(self.values)[rng.integers(len(self.values), size=n)]
        wide = 0.5 if self.kind == "int" else 0
        low, high = self.low - wide, self.high + wide
        x = np.exp(rng.uniform(np.log(low), np.log(high), n)) if self.log else rng.uniform(low, high, n)
        return np.clip(np.rint(x), self.low, self.high).astype(int) if self.kind == "int" else x

    def parse(self, words):
        if self.kind == "choice":
            known = {str(v): v for v in self.values}
            return np.array([known[w] for w in words])
        if self.kind == "grid":
            return np.array([min(self.values, key=lambda v: abs(v - float(w))) for w in words])
        return np.array([int(w) if self.kind == "int" else float(w) for w in words])

    def unit(self, column):
        """In [0, 1], as columns; the scale of the parameter respected."""
        if self.kind == "choice":
            return self._indicators(column)
        scale = np.log if self.log else np.asarray
        low, high = (self.values[0], self.values[-1]) if self.values else (self.low, self.high)
        return [(scale(column) - scale(low)) / (scale(high) - scale(low))]

    def tree(self, column):
        """As columns for trees: numbers as they are."""
        return self._indicators(column) if self.kind == "choice" else [column]

    def _indicators(self, column):
        """A 0/1 column for each choice; one is enough for two choices.  As Winnow does it."""
        return [(column == v).astype(float) for v in self.values[len(self.values) == 2 :]]


def _choice(name, *values):
    return Param(name, "choice", values)


def _grid(name, *values, log=False):
    return Param(name, "grid", values, log=log)


SPACES = {
    "fcnet": [
        _choice("activation_fn_1", "tanh", "relu"),
        _choice("activation_fn_2", "tanh", "relu"),
        _grid("batch_size", 8, 16, 32, 64, log=True),
        _grid("dropout_1", 0.0, 0.3, 0.6),
        _grid("dropout_2", 0.0, 0.3, 0.6),
        _choice("init_lr", 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1),
        _choice("lr_schedule", "cosine", "const"),
        _grid("n_units_1", 16, 32, 64, 128, 256, 512, log=True),
        _grid("n_units_2", 16, 32, 64, 128, 256, 512, log=True),
    ],
    "lcbench": [
        Param("num_layers", "int", low=1, high=5),
        Param("max_units", "int", low=64, high=1024, log=True),
        Param("batch_size", "int", low=16, high=512, log=True),
        Param("learning_rate", "float", low=1e-4, high=1e-1, log=True),
        Param("weight_decay", "float", low=1e-5, high=1e-1),
        Param("momentum", "float", low=0.1, high=0.99),
        Param("max_dropout", "float", low=0, high=1),
    ],
}


def tree_matrix(params, columns):
    return np.column_stack([c for p, column in zip(params, columns) for c in p.tree(column)]).astype(float)


class Observations:
    def __init__(self, params, columns, values):
        self.params, self.columns, self.y = params, columns, values

    @property
    def x(self):
        return tree_matrix(self.params, self.columns)

    def configs(self):
        names = [p.name for p in self.params]
        return [dict(zip(names, row)) for row in zip(*[c.tolist() for c in self.columns])]


def draw(space, n):
    """Drawn here by the law `winnow bench` uses: a bowl over the unit cube with normal noise."""
    params, rng = SPACES[space], np.random.default_rng(0)
    columns = [p.draw(n, rng) for p in params]
    unit = np.column_stack([c for p, column in zip(params, columns) for c in p.unit(column)])
    j = np.arange(unit.shape[1])
    y = ((unit - np.sin(j + 1) ** 2) ** 2 * (1 + j % 3)).sum(axis=1) + rng.normal(0, 0.1, n)
    return Observations(params, columns, y)


def parse(space, text):
    """From CSV: a column for each parameter, and `value`."""
    params, rows = SPACES[space], list(csv.DictReader(io.StringIO(text)))
    columns = [p.parse([r[p.name] for r in rows]) for p in params]
    return Observations(params, columns, np.array([float(r["value"]) for r in rows]))
