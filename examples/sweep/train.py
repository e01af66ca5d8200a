"""Learns a straight line by gradient descent. How well that goes depends on the learning rate and the batch size."""

import argparse
import random

from azureml.core import Run

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=12)
parser.add_argument("--learning-rate", type=float, default=0.1)
parser.add_argument("--batch-size", type=int, default=25)
args = parser.parse_args()

run = Run.get_context()
source = random.Random(0)
points = [(x, 3 * x + 1 + source.gauss(0, 0.1)) for x in (source.uniform(-1, 1) for _ in range(400))]
training, validation = points[:300], points[300:]

slope = offset = 0.0
for epoch in range(1, args.epochs + 1):
    source.shuffle(training)
    for start in range(0, len(training), args.batch_size):
        batch = training[start : start + args.batch_size]
        errors = [(slope * x + offset - y, x) for x, y in batch]
        slope -= args.learning_rate * sum(error * x for error, x in errors) / len(batch)
        offset -= args.learning_rate * sum(error for error, _ in errors) / len(batch)
    near = sum(abs(slope * x + offset - y) < 0.3 for x, y in validation)
    run.log("validation_acc", near / len(validation))
    print(f"epoch {epoch}: {near} of {len(validation)} are near")
