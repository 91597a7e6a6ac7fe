#!/usr/bin/env python3
"""Logistic regression by gradient descent, in plain Python: what a training script needs to be tuned.

It reads its parameters from config.json in its trial folder, reports JSON lines, and keeps a checkpoint.
Run alone, it uses the defaults below."""

import json
import math
import os
import random

params = {"lr": 0.1, "l2": 1e-4, "batch": 16, "momentum": 0.5, "scale": 1.0, "epochs": 20}
if "WINNOW_TRIAL_DIR" in os.environ:
    with open(os.path.join(os.environ["WINNOW_TRIAL_DIR"], "config.json")) as file:
        params.update(json.load(file))
epochs = int(float(os.environ.get("WINNOW_RESOURCE_MAX", params["epochs"])))


def make_data(n, seed):
    """Two overlapping clouds in five dimensions, one dimension much wider than the others."""
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        label = i % 2
        x = [rng.gauss(0.5 if label else -0.5, 1) for _ in range(5)]
        x[4] *= 20
        rows.append((x, label))
    return rows


def predict(weights, x):
    z = weights[-1] + sum(w * v for w, v in zip(weights, x))
    return 1 / (1 + math.exp(-max(-500, min(500, z))))


def loss(weights, rows):
    total = 0
    for x, label in rows:
        p = min(max(predict(weights, x), 1e-12), 1 - 1e-12)
        total -= math.log(p if label else 1 - p)
    return total / len(rows)


def squash(rows):
    """A hyperparameter: how much the wide dimension counts."""
    return [(x[:4] + [x[4] / params["scale"]], label) for x, label in rows]


train, valid = squash(make_data(400, 1)), squash(make_data(400, 2))
state = {"epoch": 0, "weights": [0.0] * 6, "velocity": [0.0] * 6}

checkpoint = os.environ.get("WINNOW_CHECKPOINT_DIR")
if checkpoint and os.path.exists(os.path.join(checkpoint, "state.json")):
    with open(os.path.join(checkpoint, "state.json")) as file:
        state = json.load(file)

while state["epoch"] < epochs:
    rows = train[:]
    random.Random(state["epoch"]).shuffle(rows)
    weights, velocity = state["weights"], state["velocity"]
    for start in range(0, len(rows), params["batch"]):
        part = rows[start : start + params["batch"]]
        gradient = [params["l2"] * w for w in weights]
        for x, label in part:
            error = (predict(weights, x) - label) / len(part)
            for j, v in enumerate(x + [1.0]):
                gradient[j] += error * v
        for j in range(6):
            velocity[j] = params["momentum"] * velocity[j] - params["lr"] * gradient[j]
            weights[j] += velocity[j]
    state["epoch"] += 1
    if checkpoint:
        fresh = os.path.join(checkpoint, "state.json.new")
        with open(fresh, "w") as file:
            json.dump(state, file)
        os.replace(fresh, os.path.join(checkpoint, "state.json"))
    print(json.dumps({"epoch": state["epoch"], "val_loss": loss(weights, valid)}), flush=True)
