"""Submit train.py with the code of SDK v1, follow it to its end, look at what it left, and serve its model."""

import os
import shutil
import sys

project_folder = os.path.dirname(os.path.abspath(__file__))

# From here to the end of the run, this is SDK v1 code as people have written it for years.
# fmt: off
from azureml.core import Workspace, Experiment, Environment, ScriptRunConfig  # noqa: E402, I001
ws = Workspace.from_config()
experiment = Experiment(workspace=ws, name='my_experiment')
myenv = Environment("user-managed-env")
myenv.python.user_managed_dependencies = True
src = ScriptRunConfig(source_directory=project_folder, script='train.py',
                      arguments=['--lr', 0.1], compute_target='local', environment=myenv)
src.run_config.target = 'local'
run = experiment.submit(config=src)
run.wait_for_completion(show_output=True)
# fmt: on

print("Metrics")
for name, value in run.get_metrics().items():
    if isinstance(value, list):
        value = f"{len(value)} values, the last one {value[-1]:.4f}"
    print(f"  {name}: {value}")

print("\nFiles")
for name in run.get_file_names():
    print(f"  {name}")

# The model gets a name and a version, and score.py answers with it. This is SDK v1 code as well.
print("\nThe model as a service")
# fmt: off
import json  # noqa: E402, I001
from azureml.core.model import InferenceConfig, Model  # noqa: E402
model = run.register_model(model_name='points', model_path='outputs/model.json')
inference_config = InferenceConfig(entry_script='score.py', source_directory=project_folder, environment=myenv)
service = Model.deploy(ws, 'points', [model], inference_config, overwrite=True)
service.wait_for_deployment(show_output=True)
print(service.run(json.dumps({'data': [[1.2, 0.6], [-1.2, -0.6]]})))
# fmt: on

beside = os.path.join(os.path.dirname(sys.executable), "runyard")
runyard = "runyard" if shutil.which("runyard") else min(beside, os.path.relpath(beside), key=len)
print(f"""
Where to look next
  {runyard} show {run.id}
  {runyard} logs {run.id}
  {runyard} metrics {run.id} loss
  {runyard} get {run.id} outputs/model.json
  {runyard} models show points
  {runyard} services show points
  {runyard} services rm points --yes
  {run.get_portal_url()}""")
