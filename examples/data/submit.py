"""Data for a run: a folder is uploaded to a datastore, becomes a dataset, and a script reads it.

python examples/data/submit.py
"""

from __future__ import annotations

import csv
import random
import tempfile
from pathlib import Path

from azureml.core import Dataset, Environment, Experiment, ScriptRunConfig, Workspace


def make_data(folder: Path) -> None:
    """Three files of points near a line, as somebody might have measured them on three days."""
    chance = random.Random(1)
    for day in ("monday", "tuesday", "wednesday"):
        place = folder / day / "points.csv"
        place.parent.mkdir(parents=True)
        with place.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["x", "y"])
            for x in range(100):
                rows.writerow([x, 3 * x + 7 + chance.gauss(0, 1)])


def main() -> None:
    ws = Workspace.from_config()
    datastore = ws.get_default_datastore()
    with tempfile.TemporaryDirectory() as made:
        make_data(Path(made))
        datastore.upload(src_dir=made, target_path="examples/points", overwrite=True)

    dataset = Dataset.File.from_files((datastore, "examples/points/**/*.csv"))
    dataset = dataset.register(ws, "points", description="points near a line", create_new_version=True)
    print(f"{dataset.name}, version {dataset.version}: {dataset.to_path()}")

    environment = Environment("as-it-is")
    environment.python.user_managed_dependencies = True
    config = ScriptRunConfig(
        source_directory=str(Path(__file__).parent),
        script="train.py",
        arguments=["--points", dataset.as_named_input("points").as_mount()],
        compute_target="local",
        environment=environment,
    )
    run = Experiment(ws, "points").submit(config)
    run.wait_for_completion(show_output=True)
    print({name: round(value, 1) for name, value in run.get_metrics().items()})


if __name__ == "__main__":
    main()
