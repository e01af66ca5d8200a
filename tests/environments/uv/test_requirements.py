from __future__ import annotations

from pathlib import Path

import pytest

from runyard.contracts.environment import Specification
from runyard.environments.builder import Order
from runyard.environments.problem import EnvironmentProblem
from runyard.environments.uv.requirements import options_of, package_line, with_variables


def test_options_go_where_uv_reads_them() -> None:
    options = options_of(
        ("-i https://one/simple", "--extra-index-url=https://two", "--pre", "--trusted-host one", "--no-binary six")
    )
    assert options.lines == ["--index-url https://one/simple", "--extra-index-url https://two", "--no-binary six"]
    assert options.arguments == ["--prerelease=allow", "--allow-insecure-host=one"]
    assert options.own_index


def test_options_about_pip_itself_are_left_out_and_unknown_ones_refused() -> None:
    assert options_of(("--use-feature=fast-deps", "--no-cache-dir")).left_out == [
        "--use-feature=fast-deps",
        "--no-cache-dir",
    ]
    with pytest.raises(EnvironmentProblem, match="'--install-everything'") as caught:
        options_of(("--install-everything",))
    assert caught.value.code == "OptionNotSupported"


@pytest.mark.parametrize("line", ["-e .", "-e ./package", "-r more.txt", "-c constraints.txt", "--find-links ./wheels"])
def test_an_option_that_names_a_file_beside_it_is_refused_with_advice(line: str) -> None:
    with pytest.raises(EnvironmentProblem, match="names a file beside it") as caught:
        options_of((line,))
    assert caught.value.code == "RelativePath"
    assert "add_private_pip_wheel" in caught.value.help


@pytest.mark.parametrize(
    "line", [".", "./package", "../x", "dist/p-1.0-py3-none-any.whl", "p-1.0.tar.gz", "p @ dist/p"]
)
def test_a_package_in_a_folder_beside_it_is_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem) as caught:
        package_line(line, Order(Specification()), tmp_path)
    assert caught.value.code == "RelativePath"


@pytest.mark.parametrize(
    "line", ["p==1", "/wheels/p-1.0-py3-none-any.whl", "git+https://host/p", "p @ https://host/p.zip"]
)
def test_other_packages_stay_as_they_are(line: str, tmp_path: Path) -> None:
    assert package_line(line, Order(Specification()), tmp_path) == line


def test_a_private_wheel_is_brought_and_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "9f86d081").touch()
    asked = []

    def fetch(address: str) -> Path:
        asked.append(address)
        return tmp_path / "9f86d081"

    line = package_line(
        "runyard://wheels/9f86d081/p-1.0-py3-none-any.whl", Order(Specification(), fetch=fetch), tmp_path
    )
    assert asked == ["runyard://wheels/9f86d081/p-1.0-py3-none-any.whl"]
    assert line == (tmp_path / "p-1.0-py3-none-any.whl").as_uri()
    assert (tmp_path / "p-1.0-py3-none-any.whl").exists()


def test_secrets_stay_names() -> None:
    text, variables = with_variables(
        "--index-url https://${RUNYARD_SECRET_1f0c}@host", {"RUNYARD_SECRET_1f0c": "me:x", "RUNYARD_SECRET_aa": "y"}
    )
    assert text == "--index-url https://${RUNYARD_SECRET_1F0C}@host"
    assert variables == {"RUNYARD_SECRET_1F0C": "me:x"}
