"""Submit a script that logs by MLflow, look at its run through both faces, and register what it has saved.

$ python examples/mlflow/submit.py
"""

import sys

import mlflow

from azureml.core import Environment, Experiment, ScriptRunConfig, Workspace

ws = Workspace.from_config()
environment = Environment("as-it-is")
environment.python.user_managed_dependencies = True
environment.python.interpreter_path = sys.executable

runs = []
for rate in (0.01, 0.1):
    config = ScriptRunConfig("examples/mlflow", "train.py", ["--rate", rate], environment=environment)
    runs.append(Experiment(ws, "mlflow_example").submit(config))
for run in runs:
    print(run.id, run.wait_for_completion()["status"])
    print("points:", len(run.get_metrics()["loss"]), " files:", run.get_file_names()[-1])
    print("children:", sorted(str(child.display_name) for child in run.get_children()))

mlflow.set_tracking_uri(ws.get_mlflow_tracking_uri())
[best] = mlflow.search_runs(
    experiment_names=["mlflow_example"],
    filter_string="params.rate LIKE '0%' and metrics.loss < 1",
    order_by=["metrics.loss ASC"],
    max_results=1,
    output_format="list",
)
print("best:", best.data.params["rate"], round(best.data.metrics["loss"], 6))

ws.get_run(best.info.run_id).register_model("mlflow_example", model_path="outputs/model")
mlflow.MlflowClient().set_registered_model_alias("mlflow_example", "champion", "1")
print("registered:", ws.models["mlflow_example"].id)
