"""ParameterServerStrategy: the chief hands steps to the workers; the parameter servers hold the variables."""

from __future__ import annotations

import json
import os

import tensorflow as tf

from azureml.core import Run

STEPS = 40


def serve(cluster: tf.distribute.cluster_resolver.TFConfigClusterResolver) -> None:
    """What workers and parameter servers do until they are ended: the chief tells them what."""
    server = tf.distribute.Server(
        cluster.cluster_spec(), job_name=cluster.task_type, task_index=cluster.task_id, protocol="grpc"
    )
    print(f"{cluster.task_type} {cluster.task_id} is there", flush=True)
    server.join()


def lead(cluster: tf.distribute.cluster_resolver.TFConfigClusterResolver) -> None:
    strategy = tf.distribute.ParameterServerStrategy(cluster)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        weight, bias = tf.Variable(0.0), tf.Variable(0.0)

    def one_step() -> tf.Tensor:
        inputs = tf.random.normal((64,))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((weight * inputs + bias - (3 * inputs + 0.5)) ** 2)
        for variable, gradient in zip((weight, bias), tape.gradient(loss, (weight, bias)), strict=True):
            variable.assign_sub(0.1 * gradient)
        return loss

    step = tf.function(one_step)
    run = Run.get_context()
    for _ in range(STEPS):
        loss = coordinator.schedule(step)
        coordinator.join()
        run.log("loss", float(loss.fetch()))
    print(f"the chief has led {STEPS} steps", flush=True)
    os.makedirs("outputs", exist_ok=True)
    with open("outputs/model.json", "w") as file:
        json.dump({"weight": float(weight.numpy()), "bias": float(bias.numpy())}, file)


def main() -> None:
    cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if cluster.task_type in ("worker", "ps"):
        serve(cluster)
    else:
        lead(cluster)


if __name__ == "__main__":
    main()
