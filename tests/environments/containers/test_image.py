"""Images of environments, built by a real engine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.environments.containers.conftest import Bench, wait_for
from tests.support.docker_engine import BASE
from tests.support.wheels import source, wheel

import runyard
from runyard.environments.builder import Built
from runyard.environments.containers.image import ContainerBuilder
from runyard.environments.problem import EnvironmentProblem

pytestmark = pytest.mark.xdist_group("docker")


class GaveUp(Exception):
    pass


def test_an_image_is_used_as_it_is_and_gets_the_tag_of_its_environment(bench: Bench) -> None:
    built = bench.build(image=BASE)
    assert built.image == bench.tag(image=BASE)
    assert built.interpreter == "/usr/bin/python3"
    assert bench.output(built.image, "python3", "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])") == (
        f"{built.python}\n"
    )
    assert ContainerBuilder().intact(built)
    assert ContainerBuilder().size(built) > 10_000_000


def test_an_image_that_has_the_tag_is_not_built_again(bench: Bench) -> None:
    first = bench.build(dockerfile=f"FROM {BASE}\nRUN date +%N >/stamp\n")
    stamp = bench.output(first.image, "cat", "/stamp")
    bench.log.clear()
    second = bench.build(dockerfile=f"FROM {BASE}\nRUN date +%N >/stamp\n")
    assert second == first
    assert bench.output(second.image, "cat", "/stamp") == stamp
    assert not [line for line in bench.log if line.startswith("Step")], "it was built again"


def test_a_removed_environment_is_gone_and_leaves_its_base(bench: Bench) -> None:
    built = bench.build(image=BASE)
    ContainerBuilder().remove(built)
    assert not ContainerBuilder().intact(built)
    assert bench.has(BASE)
    ContainerBuilder().remove(built)  # once more does no harm
    assert ContainerBuilder().size(built) == 0


def test_a_node_runner_removes_an_image_although_it_starts_without_installed_packages(bench: Bench) -> None:
    built = bench.build(image=BASE)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from runyard.environments import images; "
        "from runyard.environments.builder import Built; images.remove(Built('python', image=sys.argv[2]))"
    )
    source_folder = str(Path(runyard.__file__).parent.parent)
    argv = [sys.executable, "-I", "-S", "-c", code, source_folder, built.image]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not bench.has(built.image)


def test_a_dockerfile_is_built_and_its_steps_are_in_the_log(bench: Bench) -> None:
    built = bench.build(dockerfile=f"FROM {BASE}\nENV COLOUR=green\nRUN echo painting it $COLOUR\n")
    assert "painting it green" in bench.log
    assert any(line.startswith("Step 3/3 : RUN echo") for line in bench.log)
    assert bench.output(built.image, "sh", "-c", "echo $COLOUR") == "green\n"


def test_packages_go_on_top_of_a_dockerfile(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel(tmp_path / "links", "tiny-thing", "1.2")
    wheel(tmp_path / "links", "other-thing", "3.0")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    text = f'FROM {BASE}\nRUN echo told >/told\nWORKDIR /home\nUSER 1234\nENTRYPOINT ["echo", "asked:"]\n'
    built = bench.build(dockerfile=text, pip=("tiny-thing==1.2",), conda=("other-thing=3.0",), python="3")
    config = bench.client.images.get(built.image).attrs["Config"]
    assert (config["User"], config["WorkingDir"], config["Entrypoint"]) == ("1234", "/home", ["echo", "asked:"])
    assert not [each for each in config["Env"] if "PIP" in each]
    said = bench.client.containers.run(
        built.image,
        ["-c", "python3 -c 'import tiny_thing, other_thing; print(tiny_thing.__version__)'; cat /told; ls /mnt"],
        entrypoint="sh",
        remove=True,
        network_mode="host",
    )
    assert said.decode().split() == ["1.2", "told"]
    assert any("taken from PyPI: other-thing==3.0.*" in line for line in bench.log)
    assert any("Successfully installed" in line for line in bench.log)


def test_no_secret_stays_in_the_image_or_the_log(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel(tmp_path / "links", "tiny-thing")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    monkeypatch.setenv("PIP_TRUSTED_HOST", "index.invalid")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:hidden-proxy-word@127.0.0.1:1")
    bench.secrets = {"RUNYARD_SECRET_ab12": "me:hidden-index-word"}
    built = bench.build(
        image=BASE, pip=("tiny-thing",), options=("--extra-index-url https://${RUNYARD_SECRET_ab12}@index.invalid/x",)
    )
    image = bench.client.images.get(built.image)
    kept = json.dumps([image.history(), image.attrs])
    found = bench.output(built.image, "sh", "-c", "grep -rl hidden- /etc /mnt /opt /root /tmp /usr/local /home || true")
    for place in (kept, found, "\n".join(bench.log)):
        assert "hidden-" not in place
    left = [path for path in bench.folder.rglob("*") if path.is_file()]
    assert not left, "what was handed over, credentials among it, lies beside the environment"


def test_packages_go_into_a_virtual_environment_where_the_image_has_no_pip(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(tmp_path / "links", "tiny-thing")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    text = f"FROM {BASE}\nRUN rm -r /usr/lib/python3/dist-packages/pip*\n"
    built = bench.build(dockerfile=text, pip=("tiny-thing",))
    assert built.interpreter.startswith("/opt/runyard/")
    assert bench.output(built.image, built.interpreter, "-c", "import tiny_thing; print('found')") == "found\n"


def test_a_wheel_that_the_server_keeps_is_installed(bench: Bench, tmp_path: Path) -> None:
    kept = wheel(tmp_path / "kept", "tiny-thing", "2.0")
    bench.fetch = {"runyard://wheels/abc/tiny_thing-2.0-py3-none-any.whl": kept}.__getitem__
    built = bench.build(image=BASE, pip=("runyard://wheels/abc/tiny_thing-2.0-py3-none-any.whl",))
    assert bench.output(built.image, "python3", "-c", "import tiny_thing as it; print(it.__version__)") == "2.0\n"


def test_a_build_context_brings_its_files(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "context/docker").mkdir(parents=True)
    (tmp_path / "context/word").write_text("carried\n")
    (tmp_path / "context/docker/File").write_text(f"FROM {BASE}\nCOPY word /word\n")
    bench.fetch = {"runyard://snapshots/s1": tmp_path / "context"}.__getitem__
    built = bench.build(context="runyard://snapshots/s1", context_dockerfile="docker/File")
    assert bench.output(built.image, "cat", "/word") == "carried\n"
    with pytest.raises(EnvironmentProblem, match="no Dockerfile in the build context") as caught:
        bench.build(context="runyard://snapshots/s1")
    assert caught.value.code == "DockerfileNotFound"


FAILURES: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "a step": (
        {"dockerfile": f"FROM {BASE}\nRUN echo looking; echo the file is torn; exit 3\n"},
        "DockerfileStepFailed",
        ["exit code 3", "RUN echo looking", "\n  the file is torn"],
    ),
    "syntax": ({"dockerfile": f"FROM {BASE}\nRUM echo\n"}, "DockerfileInvalid", ["RUM"]),
    "an empty Dockerfile": ({"dockerfile": "# nothing\n"}, "DockerfileInvalid", []),
    "COPY with no context": (
        {"dockerfile": f"FROM {BASE}\nCOPY model.bin /\n"},
        "DockerfileStepFailed",
        ["COPY model.bin /"],
    ),
    "only BuildKit": (
        {"dockerfile": f"FROM {BASE}\nRUN --mount=type=cache,target=/x true\n"},
        "DockerfileNeedsBuildKit",
        [],
    ),
    "a base that cannot be reached": (
        {"dockerfile": "FROM 127.0.0.1:1/nobody/nothing:1\n"},
        "RegistryUnreachable",
        ["127.0.0.1:1/nobody/nothing:1"],
    ),
    "an image that cannot be reached": (
        {"image": "127.0.0.1:1/nobody/nothing:1"},
        "RegistryUnreachable",
        ["127.0.0.1:1/nobody/nothing:1", "is not on this machine"],
    ),
    "a name that is none": ({"image": "Not A Name"}, "InvalidImageName", ["Not A Name"]),
    "a package that is nowhere": (
        {"image": BASE, "pip": ("no-such-thing==9",)},
        "PackageNotFound",
        ["no-such-thing==9"],
    ),
    "a package of conda's": ({"image": BASE, "conda": ("cudatoolkit=10.1",)}, "CondaNotInImage", ["cudatoolkit=10.1"]),
    "another Python": ({"image": BASE, "python": "3.6.2"}, "PythonNotInImage", ["python=3.6.2", BASE]),
    "an interpreter that is not there": (
        {"image": BASE, "user_managed": True, "interpreter": "/opt/py/python"},
        "InterpreterNotFound",
        ["/opt/py/python"],
    ),
}


@pytest.mark.parametrize("what", FAILURES)
def test_a_failure_has_its_own_words_and_leaves_nothing(bench: Bench, what: str) -> None:
    specification, code, words = FAILURES[what]
    with pytest.raises(EnvironmentProblem) as caught:
        bench.build(**specification)
    assert caught.value.code == code, caught.value.message
    for word in words:
        assert word in caught.value.message
    assert caught.value.help
    assert not bench.has(bench.tag(**specification))


def test_a_registry_that_refuses_is_named_without_the_password(bench: Bench) -> None:
    bench.secrets = {"RUNYARD_SECRET_cd34": "hidden-password"}
    with pytest.raises(EnvironmentProblem) as caught:
        bench.build(image="127.0.0.1:1/mine/it:1", registry_user="me", registry_password="${RUNYARD_SECRET_cd34}")
    assert caught.value.code == "RegistryUnreachable"
    assert "127.0.0.1:1" in caught.value.message
    assert "hidden" not in caught.value.message + "".join(bench.log)


def test_an_image_without_a_shell_is_refused(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="has no /bin/sh") as caught:
        bench.build(dockerfile="FROM scratch\nENV NOTHING=1\n")
    assert caught.value.code == "ImageWithoutShell"


def test_a_relaxed_workspace_takes_the_python_of_the_image(bench: Bench) -> None:
    bench.relax = True
    built = bench.build(image=BASE, python="3.6.2", conda=("cudatoolkit=10.1",))
    assert [change.split(":")[0] for change in built.changes] == ["python=3.6.2", "cudatoolkit=10.1"]
    assert built.python in built.changes[0]


def test_giving_up_ends_a_silent_step_of_a_dockerfile(bench: Bench) -> None:
    assert not _when_it_says(bench, "now it sleeps", dockerfile=f"FROM {BASE}\nRUN echo now it sleeps; sleep 600\n")
    wait_for(lambda: not bench.containers(), "the engine to end the step")


def test_giving_up_ends_an_installation(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source(tmp_path / "links", "slow-thing", setup="import time; time.sleep(600)\n")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    assert not _when_it_says(bench, "slow_thing-1.0.tar.gz", image=BASE, pip=("slow-thing",))


def _when_it_says(bench: Bench, word: str, **specification: Any) -> bool:
    """Give up once the log has the word; whether there is an image all the same."""

    def check() -> None:
        if any(word in line and "Step" not in line for line in bench.log):
            raise GaveUp

    bench.check = check
    with pytest.raises(GaveUp):
        bench.build(**specification)
    return bench.has(bench.tag(**specification))


def test_what_a_killed_builder_left_is_removed_by_the_next(bench: Bench) -> None:
    code = (
        "import docker, os, sys; from runyard.environments.containers import steps; "
        "client = docker.from_env(); held = steps.container(client, sys.argv[1], ['-c', 'sleep 600']); "
        "held.__enter__().start(); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, BASE], check=False).returncode == -9
    assert len(bench.containers()) == 1
    bench.build(image=BASE)
    assert bench.containers() == []


def test_an_image_is_not_intact_when_nobody_can_be_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert not ContainerBuilder().intact(Built("python", image="runyard/environment:x"))
