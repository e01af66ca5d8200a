"""MultiWorkerMirroredStrategy with Keras: TF_CONFIG says who the workers are, and which of them this one is."""

from __future__ import annotations

import argparse
import json
import os

# Keras 3 does not train with this strategy; its predecessor does (`pip install --no-deps tf_keras`).
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import tensorflow as tf
import tf_keras as keras

from azureml.core import Run


def made_up_points() -> tf.data.Dataset:
    inputs = tf.random.stateless_normal((128, 1), seed=(1, 2))
    wanted = 3 * inputs + 0.5
    points = tf.data.Dataset.from_tensor_slices((inputs, wanted)).batch(64, drop_remainder=True)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return points.with_options(options)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--model-dir", default="./outputs/keras-model")
    args = parser.parse_args()

    task = json.loads(os.environ["TF_CONFIG"])["task"]
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    print(f"{task['type']} {task['index']} of {strategy.num_replicas_in_sync}", flush=True)
    with strategy.scope():
        model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
        model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
    history = model.fit(made_up_points(), epochs=args.epochs, verbose=0)

    run = Run.get_context()
    run.log_list(f"loss of worker {task['index']}", history.history["loss"])
    if task["index"] == 0:
        run.log("workers", strategy.num_replicas_in_sync)
        os.makedirs(args.model_dir, exist_ok=True)
        weight, bias = (float(each.numpy().ravel()[0]) for each in model.trainable_variables)
        with open(os.path.join(args.model_dir, "model.json"), "w") as file:
            json.dump({"weight": weight, "bias": bias}, file)


if __name__ == "__main__":
    main()
