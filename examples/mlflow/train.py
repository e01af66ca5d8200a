"""Plain MLflow code, with no address in it: submitted, it logs into the run. It needs mlflow and nothing else."""

import argparse
import json

import mlflow

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, default=0.1)
rate = parser.parse_args().rate

with mlflow.start_run():
    mlflow.log_param("rate", rate)
    weight = 0.0
    for step in range(30):
        error = weight - 3.0
        weight -= rate * 2 * error
        mlflow.log_metric("loss", error**2, step=step)
    mlflow.log_dict({"weight": weight}, "model/model.json")
    for name, value in (("weight", weight), ("bias", 0.0)):
        with mlflow.start_run(run_name=name, nested=True):
            mlflow.log_metric("value", value)

print(json.dumps({"weight": round(weight, 3)}))
