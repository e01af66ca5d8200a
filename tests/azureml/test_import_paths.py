import ast
import importlib
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import azureml
import azureml.core

PACKAGE = Path(azureml.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def allowed(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)
    if isinstance(statement, ast.Assign):
        names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
        return names <= {"__all__", "__getattr__"}
    if isinstance(statement, ast.If):
        checking = isinstance(statement.test, ast.Name) and statement.test.id == "TYPE_CHECKING"
        return checking and not statement.orelse and all(map(allowed, statement.body))
    return False


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_azureml_holds_nothing_but_re_exports(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert [ast.unparse(each) for each in tree.body if not allowed(each)] == []
    for each in ast.walk(tree):
        if isinstance(each, ast.ImportFrom):
            assert each.module is not None
            # What a scoring script imports comes from the process that calls it.
            assert each.module == "typing" or each.module.startswith(("runyard.sdk", "runyard.serving"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_promised_name_is_there(path: Path) -> None:
    name = ".".join(("azureml", *path.relative_to(PACKAGE).with_suffix("").parts)).replace(".__init__", "")
    module = importlib.import_module(name)
    for export in getattr(module, "__all__", ()):
        assert getattr(module, export) is not None


def test_scripts_can_tell_where_they_run() -> None:
    """`isinstance(run, _OfflineRun)` is how scripts of SDK v1 ask whether they were submitted."""
    from azureml.core.run import Run, _OfflineRun, _SubmittedRun

    assert isinstance(Run.get_context(), (_OfflineRun, _SubmittedRun))


def imported_for_checking() -> "Iterator[str]":
    for each in ast.walk(ast.parse((PACKAGE / "core" / "__init__.py").read_text("utf-8"))):
        if isinstance(each, ast.If):
            for statement in each.body:
                assert isinstance(statement, ast.ImportFrom)
                yield from (alias.name for alias in statement.names)


def test_editors_see_the_names_that_are_loaded_late() -> None:
    assert {*imported_for_checking(), "VERSION", "__version__"} == set(azureml.core.__all__)


def test_the_version_that_scripts_print() -> None:
    assert re.fullmatch(r"1\.\d+\.\d+", azureml.core.VERSION)
    assert azureml.core.__version__ == azureml.core.VERSION


NOT_YET = ": this version does not have it yet."
DATASETS = ". Use azureml.core.Dataset: docs/data.md, docs/tables.md."
MODELS = ". Model.package writes an image, Model.deploy a service: docs/services.md."


def test_what_is_not_there_yet_is_refused_with_words() -> None:
    absent = "DsvmCompute"
    message = f"azureml.core.compute.{absent} is part of SDK v1, not of Runyard: this version does not have it yet"
    with pytest.raises(ImportError, match=message):
        exec("from azureml.core.compute import DsvmCompute")
    with pytest.raises(AttributeError, match=message):
        getattr(azureml.core.compute, absent)
    assert not hasattr(azureml.core.compute, absent)


@pytest.mark.parametrize(
    ("code", "what", "then"),
    [
        ("from azureml.core.image import ContainerImage", "azureml.core.image", MODELS),
        ("from azureml.core import image", "azureml.core.image", MODELS),
        ("from azureml.data.dataset_snapshot import DatasetSnapshot", "azureml.data.dataset_snapshot", DATASETS),
        ("from azureml.core.compute import DatabricksCompute", "azureml.core.compute.DatabricksCompute", NOT_YET),
        ("import importlib; importlib.import_module('azureml.data.constants')", "azureml.data.constants", DATASETS),
    ],
)
def test_a_module_of_sdk_v1_that_is_not_there_is_refused_with_the_same_words(code: str, what: str, then: str) -> None:
    with pytest.raises(ImportError) as caught:
        exec(code)
    assert str(caught.value) == f"{what} is part of SDK v1, not of Runyard{then}"


@pytest.mark.parametrize(
    ("code", "what", "instead"),
    [
        ("import azureml.pipeline.core", "azureml.pipeline.core", "run.submit_child"),
        ("from azureml.pipeline.steps import PythonScriptStep", "azureml.pipeline.steps", "run.submit_child"),
        ("from azureml.train.automl import AutoMLConfig", "azureml.train.automl", "azureml.train.hyperdrive"),
        ("from azureml.interpret import ExplanationClient", "azureml.interpret", "interpret"),
    ],
)
def test_a_module_that_will_not_come_is_refused_with_what_to_use_instead(code: str, what: str, instead: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"{what} is part of SDK v1, not of Runyard") as caught:
        exec(code)
    assert instead in str(caught.value)


def test_who_asks_whether_a_module_is_there_is_told_no() -> None:
    assert importlib.util.find_spec("azureml.mlflow") is None
    with pytest.raises(ModuleNotFoundError) as caught:
        exec("import azureml.mlflow")
    assert caught.value.name == "azureml.mlflow"
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'azureml\.nothing'"):
        exec("import azureml.nothing")


def test_a_companion_package_that_is_installed_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mlflow.py").write_text("here = True\n")
    monkeypatch.setattr(azureml, "__path__", [*azureml.__path__, str(tmp_path)])
    exec("import azureml.mlflow\nassert azureml.mlflow.here")
    sys.modules.pop("azureml.mlflow")


def test_a_name_that_never_was_is_refused_as_python_does() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        exec("from azureml.core import Nothing")


def loaded_by(code: str) -> "set[str]":
    """The modules that Python loads for a line of code, beyond those it starts with."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    # -S: the site packages' own start-up files load things too, which is not our doing.
    run = [sys.executable, "-S", "-X", "importtime", "-c", code]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    return {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_importing_azureml_core_loads_next_to_nothing() -> None:
    loaded = loaded_by("import azureml.core")
    assert {each for each in loaded if each.startswith("runyard")} == {
        "runyard",
        "runyard.sdk",
        "runyard.sdk.sdk_v1",
        "runyard.sdk.absent_modules",
    }
    assert loaded.isdisjoint({"dataclasses", "inspect", "json", "http.client", "socket", "ssl", "asyncio", "logging"})


def test_configuration_loads_no_network_and_no_yaml() -> None:
    loaded = loaded_by("from azureml.core import Environment, ScriptRunConfig; ScriptRunConfig('.', 'train.py')")
    assert loaded.isdisjoint({"yaml", "http.client", "socket", "ssl", "asyncio", "requests", "difflib"})
    assert "runyard.client.http" not in loaded
