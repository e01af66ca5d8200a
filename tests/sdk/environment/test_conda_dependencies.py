from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from runyard.sdk.environment.conda_dependencies import CondaDependencies
from runyard.sdk.exceptions import UserErrorException


def test_the_plain_one() -> None:
    assert CondaDependencies().as_dict() == {
        "name": "project_environment",
        "channels": ["anaconda", "conda-forge"],
        "dependencies": ["python=3.8.13", {"pip": ["azureml-defaults"]}],
    }


def test_create_has_another_python() -> None:
    made = CondaDependencies.create()
    assert made.get_python_version() == "3.10.18"
    assert list(made.pip_packages) == ["azureml-defaults"]
    assert made.pip_options == []


def test_create_with_pip_packages_drops_the_sdk_unless_listed() -> None:
    assert CondaDependencies.create(pip_packages=["torch"]).pip_packages == ["torch"]
    assert CondaDependencies.create(pip_packages=["torch", "azureml-defaults"]).pip_packages == [
        "torch",
        "azureml-defaults",
    ]
    assert CondaDependencies.create(pip_packages=[]).pip_packages == []


def test_create_takes_all_of_it() -> None:
    made = CondaDependencies.create(
        pip_indexurl="https://i.example",
        pip_packages=["--extra-index-url https://j.example", "torch==1.6.0"],
        conda_packages=["scipy", "python=3.7"],
        python_version="3.6.2",
    )
    assert made.as_dict()["dependencies"] == [
        "python=3.7",
        "scipy",
        {"pip": ["--extra-index-url https://j.example", "--index-url https://i.example", "torch==1.6.0"]},
    ]


def test_a_text_in_the_place_of_a_list_is_refused() -> None:
    with pytest.raises(UserErrorException, match="pip_packages should be a list"):
        CondaDependencies.create(pip_packages="torch")


def test_a_pip_package_takes_the_place_of_another_version() -> None:
    packages = CondaDependencies.create(pip_packages=["Torch_Vision==1", "numpy"])
    packages.add_pip_package("torch-vision==2")
    assert packages.pip_packages == ["numpy", "torch-vision==2"]


def test_a_conda_package_is_skipped_only_when_it_is_the_very_same() -> None:
    packages = CondaDependencies()
    for each in ("numpy", "numpy=1.1", "numpy"):
        packages.add_conda_package(each)
    assert packages.conda_packages == ["python=3.8.13", "numpy", "numpy=1.1"]


def test_adding_python_sets_its_version() -> None:
    packages = CondaDependencies()
    packages.add_conda_package("python=3.9")
    assert packages.get_python_version() == "3.9"
    packages.set_python_version("3.11.4")
    assert packages.conda_packages == ["python=3.11.4"]


def test_python_cannot_be_removed() -> None:
    with pytest.raises(UserErrorException, match="set_python_version"):
        CondaDependencies().remove_conda_package("python")


def test_removing_goes_by_name() -> None:
    packages = CondaDependencies.create(conda_packages=["numpy=1.1", "numpydoc"], pip_packages=["a==1", "ab"])
    packages.remove_conda_package("numpy")
    packages.remove_pip_package("a")
    assert packages.as_dict()["dependencies"] == ["python=3.10.18", "numpydoc", {"pip": ["ab"]}]


@pytest.mark.parametrize("name", ["-r x.txt", "--index-url https://i.example"])
def test_an_option_is_no_package(name: str) -> None:
    packages = CondaDependencies()
    with pytest.raises(UserErrorException, match="set_pip_option"):
        packages.add_pip_package(name)
    with pytest.raises(UserErrorException, match="'-'"):
        packages.add_conda_package(name)
    with pytest.raises(UserErrorException, match="'-'"):
        packages.set_pip_option("numpy")


def test_pip_options() -> None:
    packages = CondaDependencies()
    packages.set_pip_index_url("https://a.example")
    packages.set_pip_option("--index-url https://b.example")
    packages.set_pip_option("--extra-index-url https://c.example")
    packages.set_pip_option("--extra-index-url https://d.example")
    assert packages.pip_options == [
        "--index-url https://b.example",
        "--extra-index-url https://c.example",
        "--extra-index-url https://d.example",
    ]
    assert packages.pip_packages == ["azureml-defaults"]
    packages.remove_pip_option("--extra-index-url https://c.example")
    packages.remove_pip_option("--index-url")
    assert packages.pip_options == ["--extra-index-url https://d.example"]


def test_channels() -> None:
    packages = CondaDependencies()
    packages.add_channel("pytorch")
    packages.add_channel("pytorch")
    packages.remove_channel("anaconda")
    assert packages.conda_channels == ["conda-forge", "pytorch"]


def test_requirements_replace_the_pip_section() -> None:
    packages = CondaDependencies()
    packages.set_pip_requirements(["a", "", "-f https://f.example"])
    assert packages.as_dict()["dependencies"][-1] == {"pip": ["a", "-f https://f.example"]}


def test_named_packages() -> None:
    packages = CondaDependencies()
    packages.add_tensorflow_conda_package(version="2.2")
    packages.add_tensorflow_pip_package("gpu", "2.2.0")
    packages.add_cntk_package()
    assert packages.conda_packages == ["python=3.8.13"]
    assert packages.pip_packages == ["azureml-defaults", "tensorflow-gpu==2.2.0", "cntk"]
    with pytest.raises(UserErrorException, match="'cpu' or 'gpu'"):
        packages.add_cntk_package("tpu")


def test_files(tmp_path: Path) -> None:
    packages = CondaDependencies.create(conda_packages=["numpy"])
    assert packages.save(tmp_path) == str(tmp_path / "conda_dependencies.yml")
    assert packages.save_to_file(tmp_path, "deep/my.yml") == "deep/my.yml"
    for file in ("conda_dependencies.yml", "deep/my.yml"):
        assert CondaDependencies(tmp_path / file) == packages
        assert yaml.safe_load((tmp_path / file).read_text()) == packages.as_dict()


def test_saving_without_a_path_writes_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CondaDependencies().save() == "conda_dependencies.yml"
    assert (tmp_path / "conda_dependencies.yml").is_file()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("packages: [a]", "packages; allowed are name, channels, dependencies, prefix, variables"),
        ("dependencies: numpy", "dependencies should be a list"),
        ("dependencies: [{pip: numpy}]", "pip should be a list of texts"),
        ("dependencies: [3]", "3 is neither a package"),
    ],
)
def test_a_bad_file_is_refused_with_its_name(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.yml").write_text(text)
    with pytest.raises(UserErrorException, match=rf"bad\.yml.*{message}"):
        CondaDependencies(tmp_path / "bad.yml")


def test_a_missing_file_is_told_of() -> None:
    with pytest.raises(FileNotFoundError, match="no conda specification at 'nowhere"):
        CondaDependencies("nowhere.yml")


def test_files_that_a_pip_section_includes_are_found_beside_the_specification(tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "base.txt").write_text("numpy==1.26.4\n")
    file = tmp_path / "env" / "conda.yml"
    file.write_text("dependencies: [python=3.10, {pip: [torch, -r base.txt]}]")
    assert CondaDependencies(file).pip_packages == ["torch", "numpy==1.26.4"]
    (tmp_path / "env" / "base.txt").write_text("-r base.txt\n")
    with pytest.raises(UserErrorException, match="includes itself"):
        CondaDependencies(file)


def test_a_specification_that_asks_for_nothing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.yml"
    for text in ("", "name: x\nchannels: [conda-forge]\n", "dependencies: []\n"):
        file.write_text(text)
        with pytest.raises(UserErrorException, match=r"empty\.yml holds no packages"):
            CondaDependencies.read(file)
    file.write_text("dependencies: [python=3.10]\n")
    assert CondaDependencies.read(file).get_python_version() == "3.10"


@pytest.mark.parametrize("line", ["./pkg", "-e .", "-c limits.txt"])
def test_what_does_not_travel_is_refused(tmp_path: Path, line: str) -> None:
    packages = CondaDependencies()
    with pytest.raises(UserErrorException, match=r"machine|constraints"):
        packages.set_pip_requirements([line])
    with pytest.raises(UserErrorException, match=r"machine|constraints"):
        CondaDependencies.create(pip_packages=[line])
    (tmp_path / "x.yml").write_text(f"dependencies: [{{pip: ['{line}']}}]")
    with pytest.raises(UserErrorException, match=r"x\.yml"):
        CondaDependencies(tmp_path / "x.yml")


def test_options_are_known_by_either_of_their_names() -> None:
    packages = CondaDependencies()
    packages.set_pip_option("-i https://a.example")
    packages.set_pip_index_url("https://b.example")
    assert packages.pip_options == ["--index-url https://b.example"]
    packages.remove_pip_option("-i")
    assert packages.pip_options == []


def test_a_private_wheel_is_asked_for_by_its_address() -> None:
    address = f"runyard://wheels/{'0' * 64}/x-1.0-py3-none-any.whl"
    packages = CondaDependencies.create(pip_packages=["numpy"])
    for _ in range(2):
        packages.add_pip_package(address)
    assert packages.pip_packages == ["numpy", address]


def test_credentials_are_not_shown() -> None:
    packages = CondaDependencies.create(pip_packages=["git+https://me:hush@g.example/a.git"])
    packages.set_pip_index_url("https://me:hush@i.example/simple")
    assert "hush" not in repr(packages)
    assert "hush" in packages.serialize_to_string()
    for bad in ("https://me:hush@i.example", {"pip": "--index-url https://me:hush@i.example"}):
        with pytest.raises(UserErrorException) as refusal:
            CondaDependencies.from_dict({"dependencies": bad})
        assert "hush" not in str(refusal.value)
    with pytest.raises(UserErrorException) as refusal:
        packages.set_pip_option("https://me:hush@i.example")
    assert "hush" not in str(refusal.value)


def test_the_dictionary_is_a_copy() -> None:
    packages = CondaDependencies()
    packages.as_dict()["channels"].append("x")
    assert packages.conda_channels == ["anaconda", "conda-forge"]


names = st.from_regex(r"[a-z][a-z0-9\-]{0,8}[a-z0-9](=[0-9]\.[0-9])?", fullmatch=True)


@given(
    channels=st.lists(names, unique=True),
    conda=st.lists(names, unique=True),
    pip=st.lists(names.map(lambda name: name.replace("=", "==")), unique=True),
    name=st.none()
    | st.text(
        st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\ufeff\ufffe\uffff\x85\u2028\u2029")
    ),
)
def test_round_trip_through_yaml(
    channels: "list[str]", conda: "list[str]", pip: "list[str]", name: "str | None"
) -> None:
    document = {"channels": channels, "dependencies": [*conda, {"pip": pip}], **({"name": name} if name else {})}
    packages = CondaDependencies.from_dict(document)
    assert packages.conda_packages == conda
    assert packages.pip_packages == pip
    assert CondaDependencies.from_dict(yaml.safe_load(packages.serialize_to_string())) == packages
    assert CondaDependencies.from_dict(packages.as_dict()) == packages
