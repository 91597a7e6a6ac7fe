"""The peers, one factory each: factory(observations, scratch) prepares what a user would have at hand and returns a
function that does the work once and returns {variant: seconds}.  Whatever is missing raises; the caller reports it.

Imports are inside the factories, so that a peer that is not installed spoils only its own rows.  Seconds are processor
time, except for storage, which waits for the disk.
"""

import contextlib
import functools
import importlib
import itertools
import logging
import os
import sys
import time
import types

import numpy as np

import spaces

TREES, DEPTH, RATE = 100, 3, 0.1
CANDIDATES = 2000


def _timed(work, clock=time.process_time):
    began = clock()
    work()
    return clock() - began


def _levels(m):
    return [j / (m + 1) for j in range(1, m + 1)]


# ---- Syne Tune: one suggestion ----


def _syne_tune_space(params):
    from syne_tune import config_space as cs

    def domain(p):
        if p.kind == "choice":
            return cs.choice(list(p.values))
        if p.kind == "grid":
            make = cs.logfinrange if p.log else cs.finrange
            return make(p.values[0], p.values[-1], len(p.values), cast_int=isinstance(p.values[0], int))
        make = {"int": (cs.randint, cs.lograndint), "float": (cs.uniform, cs.loguniform)}[p.kind][p.log]
        return make(p.low, p.high)

    return {p.name: domain(p) for p in params}


@contextlib.contextmanager
def _no_random_fallback():
    """Some searchers log a warning and draw at random when their model fails: that is not to be timed as a model."""
    said = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
    if any("random" in text for text in said):
        raise RuntimeError("the model failed and it sampled at random: " + said[-1])


def _syne_tune_suggest(module, name, data, **options):
    # Syne Tune imports this to download benchmark tables, which searchers do not do.
    sys.modules.setdefault("huggingface_hub", types.ModuleType("huggingface_hub")).snapshot_download = None
    searcher_class = getattr(importlib.import_module("syne_tune.optimizer.schedulers.searchers." + module), name)
    space, configs, seeds = _syne_tune_space(data.params), data.configs(), itertools.count()

    def once():
        searcher = searcher_class(space, random_seed=next(seeds), points_to_evaluate=[], **options)
        for i, (config, y) in enumerate(zip(configs, data.y)):
            if hasattr(searcher, "trial_configs"):  # one that only knows what it suggested itself
                searcher.trial_configs[i] = config
            searcher.on_trial_complete(i, config, float(y))
        with _no_random_fallback():
            return {"": _timed(searcher.suggest)}

    return once


def syne_tune_cqr(data, scratch):
    return _syne_tune_suggest("conformal.conformal_quantile_regression_searcher", "ConformalQuantileRegression", data)


def syne_tune_bore(data, scratch):
    return _syne_tune_suggest("bore.bore", "Bore", data)


def syne_tune_kde(data, scratch):
    return _syne_tune_suggest("kde.kde_searcher", "KernelDensityEstimator", data, random_fraction=0)


def syne_tune_gp(data, scratch):
    return _syne_tune_suggest("botorch.botorch_searcher", "BoTorchSearcher", data)


# ---- the authors' recipe of conformal quantile regression ----


def sklearn_cqr(data, scratch):
    """The authors' procedure without the data frames of their package: 5 levels, a tenth held out above 32
    observations, their conformal correction, all levels predicted for all candidates, one of them drawn for each."""
    from sklearn.ensemble import GradientBoostingRegressor

    levels = [0.17, 0.33, 0.5, 0.67, 0.83]
    rng = np.random.default_rng(0)

    def encode(columns, mean, sd):
        return (spaces.tree_matrix(data.params, columns) - mean) / sd

    def suggest():
        raw = data.x
        mean, sd = raw.mean(axis=0), np.where(raw.std(axis=0) > 0, raw.std(axis=0), 1)
        x, y, n = (raw - mean) / sd, data.y, len(data.y)
        order = rng.permutation(n)
        held = order[: -(-n // 10)] if n > 32 else order[:0]
        kept = order[len(held):]
        models = [GradientBoostingRegressor(loss="quantile", alpha=a).fit(x[kept], y[kept]) for a in levels]
        candidates = [p.draw(CANDIDATES, rng) for p in data.params]
        z = encode(candidates, mean, sd)
        predicted = np.array([m.predict(z) for m in models])
        for low in range(len(levels) // 2 if len(held) else 0):
            high = len(levels) - 1 - low
            score = np.maximum(models[low].predict(x[held]) - y[held], y[held] - models[high].predict(x[held]))
            shift = np.quantile(score, (1 - 2 * levels[low]) / (1 + 1 / len(held)))
            predicted[low] -= shift
            predicted[high] += shift
        drawn = predicted[rng.integers(len(levels), size=CANDIDATES), np.arange(CANDIDATES)]
        best = drawn.argmin()
        return [column[best] for column in candidates]

    return lambda: {"": _timed(suggest)}


# ---- the fit alone: `m` levels, TREES trees of DEPTH for each ----


def sklearn_fit(m, data, scratch):
    from sklearn.ensemble import GradientBoostingRegressor

    x, y = data.x, data.y

    def fit():
        for a in _levels(m):
            GradientBoostingRegressor(loss="quantile", alpha=a).fit(x, y)

    return lambda: {"": _timed(fit)}


def _fastest(variants):
    """Of several ways to do the same, the one that is fastest on this data; each is (name, prepare, fit)."""

    def run(variant):
        name, prepare, fit = variant
        began = time.process_time()
        prepared = prepare()
        ready = time.process_time()
        fit(prepared)
        end = time.process_time()
        return {name: end - began, name + ", data prepared": end - ready}

    def cost(variant):
        return min(run(variant)[variant[0]] for _ in range(3))

    return functools.partial(run, min(variants, key=cost))


def xgboost_fit(m, objective, data, scratch):
    import xgboost as xgb

    xgb.set_config(verbosity=0)
    x, y, alphas = data.x, data.y, _levels(m)

    def variant(method, joint):
        params = dict(objective=objective, tree_method=method, max_depth=DEPTH, eta=RATE, nthread=1)

        def prepare():  # a QuantileDMatrix is binned when it is made, not when the first tree is
            return (xgb.QuantileDMatrix if method == "hist" else xgb.DMatrix)(x, y, nthread=1)

        def fit(matrix):
            for a in [alphas] if joint else alphas:
                xgb.train(dict(params, quantile_alpha=a), matrix, TREES)

        return method + ", levels jointly" * joint, prepare, fit

    ways = [False, True] if m > 1 else [False]
    return _fastest([variant(method, joint) for method in ("hist", "approx", "exact") for joint in ways])


def lightgbm_fit(m, objective, data, scratch):
    import lightgbm as lgb

    x, y = data.x, data.y

    def variant(wise, bins):
        # Its default of 20 rows to a leaf would leave the trees of small data half grown.
        params = dict(objective=objective, max_depth=DEPTH, num_leaves=2**DEPTH, learning_rate=RATE, num_threads=1,
                      min_data_in_leaf=1, min_data_in_bin=1, min_sum_hessian_in_leaf=0, max_bin=bins, verbosity=-1)
        params[f"force_{wise}_wise"] = True

        def prepare():
            return lgb.Dataset(x, y, params=params, free_raw_data=False).construct()

        def fit(dataset):
            for a in _levels(m):
                lgb.train(dict(params, alpha=a), dataset, TREES)

        return f"{wise}-wise, {bins} bins", prepare, fit

    return _fastest([variant(wise, bins) for wise in ("col", "row") for bins in (63, 255)])


# ---- Optuna: suggestions and storage ----


def optuna_suggest(make_sampler, data, scratch):
    import optuna
    from optuna import distributions as od

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def distribution(p):
        if p.values:
            return od.CategoricalDistribution(p.values)
        return (od.IntDistribution if p.kind == "int" else od.FloatDistribution)(p.low, p.high, log=p.log)

    space = {p.name: distribution(p) for p in data.params}
    study = optuna.create_study(sampler=make_sampler(optuna.samplers))
    study.add_trials([optuna.trial.create_trial(params=c, distributions=space, value=float(y))
                      for c, y in zip(data.configs(), data.y)])

    def once():
        asked = []
        seconds = _timed(lambda: asked.append(study.ask(space)))
        study.tell(asked[0], state=optuna.trial.TrialState.FAIL)  # samplers ignore failed trials: n stays n
        return {"": seconds}

    return once


def optuna_storage(trials, data, scratch):
    """Seconds per trial: RandomSampler, 4 parameters, 10 reports."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        for name in "abcd":
            trial.suggest_float(name, 0, 1)
        for step in range(10):
            trial.report(1 / (step + 1), step)
        return 0.0

    def once():
        path = os.path.join(scratch, "optuna.db")
        study = optuna.create_study(storage=f"sqlite:///{path}", sampler=optuna.samplers.RandomSampler(seed=0))
        seconds = _timed(lambda: study.optimize(objective, n_trials=trials), time.perf_counter)
        os.unlink(path)
        return {"": seconds / trials}

    return once
