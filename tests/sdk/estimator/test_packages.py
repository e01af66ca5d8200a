import doctest
from pathlib import Path

from runyard.sdk.estimator import packages
from runyard.sdk.estimator.packages import Framework, from_file, from_lists, requirements

TORCH = Framework("PyTorch-1.4-CPU", ("torch==1.4.*", "torchvision"), "3.6.2")


def test_the_example_runs() -> None:
    assert doctest.testmod(packages).failed == 0


def test_the_sdk_comes_first_and_versions_are_joined() -> None:
    made, remarks = from_lists(["scipy"], ["numpy==1.0", "pillow", "numpy==2"], None)
    assert made.pip_packages == ["azureml-defaults", "numpy==1.0,==2", "pillow"]
    assert made.conda_packages == ["python=3.8.13", "scipy"]
    assert remarks == []


def test_a_framework_brings_its_python_and_its_packages() -> None:
    made, remarks = from_lists([], ["pillow==5.4.1"], TORCH)
    assert made.get_python_version() == "3.6.2"
    assert made.pip_packages == ["azureml-defaults", "torch==1.4.*", "torchvision", "pillow==5.4.1"]
    assert remarks == []


def test_what_you_ask_for_yourself_wins() -> None:
    made, remarks = from_lists(["python=3.11"], ["Torch==2.13.0"], TORCH)
    assert made.pip_packages == ["azureml-defaults", "torchvision", "Torch==2.13.0"]
    assert made.get_python_version() == "3.11"
    assert remarks == ["Torch==2.13.0 is taken in the place of torch==1.4.*, which the estimator would bring."]


def test_a_package_of_conda_wins_under_its_name_there() -> None:
    made, remarks = from_lists(["pytorch=1.5"], [], TORCH)
    assert made.pip_packages == ["azureml-defaults", "torchvision"]
    assert len(remarks) == 1


def test_files_are_looked_for_in_the_source_folder(tmp_path: Path) -> None:
    (tmp_path / "pip.txt").write_text("--index-url https://index.example\nnumpy\n")
    (tmp_path / "conda.yml").write_text("dependencies:\n- python=3.11\n- pip:\n  - numpy\n")
    assert requirements(str(tmp_path), "pip.txt") == ["--index-url https://index.example", "numpy"]
    made = from_file(str(tmp_path), "conda.yml")
    assert (made.get_python_version(), made.pip_packages) == ("3.11", ["numpy"])
    assert requirements("elsewhere", str(tmp_path / "pip.txt"))
