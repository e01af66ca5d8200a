"""A training script as it was written for SDK v1: logistic regression by hand, on made-up points."""

from __future__ import annotations

import argparse
import json
import math
import os
import random
from typing import NamedTuple

from azureml.core import Run

POINTS = 400
EPOCHS = 30


class Point(NamedTuple):
    x: float
    y: float
    label: int


def made_up_points(seed: int) -> list[Point]:
    """Two clouds in the plane that overlap a little."""
    dice = random.Random(seed)
    points = []
    for number in range(POINTS):
        label = number % 2
        centre = 1.2 if label else -1.2
        points.append(Point(dice.gauss(centre, 1.0), dice.gauss(centre / 2, 1.0), label))
    return points


def probability(weights: list[float], point: Point) -> float:
    score = weights[0] + weights[1] * point.x + weights[2] * point.y
    return 1 / (1 + math.exp(-score))


def train_epoch(weights: list[float], points: list[Point], lr: float) -> float:
    """One step of gradient descent over all points; changes `weights`, returns the mean loss before it."""
    loss, gradient = 0.0, [0.0, 0.0, 0.0]
    for point in points:
        guess = probability(weights, point)
        loss -= math.log(guess if point.label else 1 - guess)
        wrong = guess - point.label
        for i, factor in enumerate((1.0, point.x, point.y)):
            gradient[i] += wrong * factor
    for i in range(len(weights)):
        weights[i] -= lr * gradient[i] / len(points)
    return loss / len(points)


def accuracy(weights: list[float], points: list[Point]) -> float:
    return sum((probability(weights, point) > 0.5) == bool(point.label) for point in points) / len(points)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.01)
    lr = parser.parse_args().lr

    run = Run.get_context()
    training, validation = made_up_points(seed=1), made_up_points(seed=2)
    weights = [0.0, 0.0, 0.0]
    history = []

    print(f"Training on {len(training)} points for {EPOCHS} epochs with a learning rate of {lr}")
    for epoch in range(1, EPOCHS + 1):
        loss = train_epoch(weights, training, lr)
        history.append(accuracy(weights, validation))
        run.log("loss", loss)
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d}  loss {loss:.4f}  accuracy {history[-1]:.3f}")

    run.log("accuracy", history[-1])
    run.log_list("accuracy per epoch", history)
    run.log_row("weights", bias=weights[0], x=weights[1], y=weights[2])

    os.makedirs("outputs", exist_ok=True)
    with open("outputs/model.json", "w") as file:
        json.dump({"weights": weights, "accuracy": history[-1]}, file, indent=2)
    print("The model is in outputs/model.json")


if __name__ == "__main__":
    main()
