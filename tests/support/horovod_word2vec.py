"""A small word2vec as Horovod's users wrote it for TensorFlow 1: a graph, a session, a hook that broadcasts."""

from __future__ import annotations

import argparse
import os

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

from azureml.core import Run


def words_below(place: str) -> list[str]:
    found: list[str] = []
    names = [os.path.join(top, name) for top, _, files in os.walk(place) for name in files]
    for name in sorted(names) or [place]:
        with open(name, encoding="utf-8") as file:
            found += file.read().split()
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--input_data", required=True)
    words = words_below(parser.parse_args().input_data)
    hvd.init()
    v1 = tf.compat.v1
    v1.disable_eager_execution()
    numbers = {word: number for number, word in enumerate(sorted(set(words)))}
    text = np.array([numbers[word] for word in words], np.int64)

    centre, near = v1.placeholder(tf.int64, [None]), v1.placeholder(tf.int64, [None])
    v1.set_random_seed(hvd.rank())  # every rank begins with another model
    table = v1.get_variable("table", [len(numbers), 8])
    output = v1.get_variable("output", [8, len(numbers)])
    logits = tf.matmul(tf.nn.embedding_lookup(table, centre), output)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=near, logits=logits))
    optimizer = hvd.DistributedOptimizer(v1.train.GradientDescentOptimizer(0.5 * hvd.size()))
    train = optimizer.minimize(loss, global_step=v1.train.get_or_create_global_step())

    mark = tf.reduce_sum(tf.square(table)) + tf.reduce_sum(output)
    run = Run.get_context()
    made = np.random.default_rng(hvd.rank())
    with v1.train.MonitoredTrainingSession(hooks=[hvd.BroadcastGlobalVariablesHook(0)]) as session:
        for step in range(40):
            places = made.integers(0, len(text) - 1, 64)
            _, seen = session.run([train, loss], {centre: text[places], near: text[places + 1]})
            if hvd.rank() == 0 and step % 10 == 9:
                run.log("loss", float(seen))
        run.log(f"mark of rank {hvd.rank()}", float(session.run(mark)))
    if hvd.rank() == 0:
        run.log("ranks", hvd.size())


if __name__ == "__main__":
    main()
