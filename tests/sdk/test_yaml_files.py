import subprocess
import sys
from pathlib import Path

import pytest

from runyard.sdk import yaml_files
from runyard.sdk.exceptions import UserErrorException


def test_order_and_unicode_survive(tmp_path: Path) -> None:
    document = {"zoo": ["ä", "b"], "apple": {"none": None, "text": "None", "number": "1"}}
    yaml_files.write(tmp_path / "x.yml", document)
    assert yaml_files.read(tmp_path / "x.yml") == document
    assert yaml_files.dump(document).startswith("zoo:")


def test_equal_lists_are_written_in_full() -> None:
    shared = ["x"]
    assert "*" not in yaml_files.dump({"a": shared, "b": shared})


@pytest.mark.parametrize("text", ["a: [", "- a\n- b", "just words"])
def test_what_is_not_settings_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(UserErrorException, match=r"env\.yml"):
        yaml_files.load(text, "env.yml")


def test_without_pyyaml_the_error_says_what_to_install() -> None:
    code = """
import sys
sys.modules["yaml"] = None
from azureml.core import Environment, RunConfiguration
from azureml.core.conda_dependencies import CondaDependencies
RunConfiguration(script="train.py").to_dict(); CondaDependencies.create().as_dict()
try:
    CondaDependencies().serialize_to_string()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install pyyaml" in done.stdout
