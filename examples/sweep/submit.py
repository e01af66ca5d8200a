"""Search for the best learning rate and batch size of train.py with the code of SDK v1."""

import os

project_folder = os.path.dirname(os.path.abspath(__file__))

# From here to the end this is SDK v1 code as people have written it for years.
# fmt: off
from azureml.core import Workspace, Experiment, Environment, ScriptRunConfig  # noqa: E402, I001
from azureml.train.hyperdrive import RandomParameterSampling, BanditPolicy, HyperDriveConfig, PrimaryMetricGoal, choice, loguniform  # noqa: E402, E501
ws = Workspace.from_config()
myenv = Environment("user-managed-env")
myenv.python.user_managed_dependencies = True
src = ScriptRunConfig(source_directory=project_folder, script='train.py', arguments=['--epochs', 12],
                      compute_target='local', environment=myenv)
ps = RandomParameterSampling({'--batch-size': choice(25, 50, 100), '--learning-rate': loguniform(-6, -1)},
                             properties={'seed': 7})
hdc = HyperDriveConfig(run_config=src, hyperparameter_sampling=ps,
                       policy=BanditPolicy(evaluation_interval=2, slack_factor=0.1),
                       primary_metric_name='validation_acc', primary_metric_goal=PrimaryMetricGoal.MAXIMIZE,
                       max_total_runs=8, max_concurrent_runs=4)
hdr = Experiment(ws, 'sweep').submit(config=hdc)
hdr.wait_for_completion(show_output=True)
best = hdr.get_best_run_by_primary_metric()  # type: ignore[attr-defined]
print('Best run', best.id)
print('Accuracy', best.get_metrics()['validation_acc'][-1])
print('Arguments', best.get_details()['runDefinition']['arguments'])
