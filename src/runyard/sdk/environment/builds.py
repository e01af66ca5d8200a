"""Building an environment ahead of its runs: by a run that does nothing, and so only prepares its environment.

A build waits in the same queue, takes the same path and fills the same cache as a run with that environment would.
"""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING, Any

from runyard.contracts import states
from runyard.contracts.environment import CONTAINER, content_hash, specification_of
from runyard.contracts.history import BUILD_LOG
from runyard.sdk.environment import catalogue
from runyard.sdk.environment.environment import Environment
from runyard.sdk.environment.sections import DockerImageDetails
from runyard.sdk.exceptions import ActivityFailedException, ExperimentExecutionException, UserErrorException
from runyard.sdk.notices import notice
from runyard.sdk.run.details import error_text, failed, file_url
from runyard.sdk.run.events import LogReader, follow

if TYPE_CHECKING:
    from runyard.sdk.run.run import Run
    from runyard.sdk.workspace.workspace import Workspace

EXPERIMENT = "environment-builds"
RUN_TYPE = "azureml.environment-build"
NOTHING = ":"  # the shell's command that does nothing
NAME_TAG, VERSION_TAG = "environment", "version"
USED_PROPERTY = "runyard.environment.used"
PLATFORMS = {"linux": "linux", "darwin": "osx"}

_STATUS = {
    states.NOT_STARTED: "Queued",
    states.QUEUED: "Queued",
    states.COMPLETED: "Succeeded",
    states.FAILED: "Failed",
    states.CANCELED: "Canceled",
}


def build(workspace: Workspace, environment: Environment, target: str | None = None) -> ImageBuildDetails:
    """Register the environment, and submit the run that builds it."""
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.submit.script_run_config import ScriptRunConfig
    from runyard.sdk.submit.submit import submit_script

    known = _registered(workspace, environment)
    with tempfile.TemporaryDirectory(prefix="runyard-build-") as empty:
        config = ScriptRunConfig(empty, command=NOTHING, compute_target=target or "local", environment=known)
        config.run_config.history.snapshot_project = False
        config.run_config.history.output_collection = False
        run = submit_script(
            Experiment(workspace, EXPERIMENT),
            config,
            {NAME_TAG: known.name, VERSION_TAG: known.version},
            display_name=f"build of {known.name}:{known.version}",
            _run_type=RUN_TYPE,
        )
    return ImageBuildDetails(run, known)


def build_local(
    workspace: Workspace, environment: Environment, platform: str | None, options: dict[str, Any]
) -> ImageBuildDetails:
    """Build on this machine, show it, and raise when it fails."""
    _check_platform(platform)
    unknown = sorted(set(options) - {"useDocker", "pushImageToWorkspaceAcr"})
    if unknown:
        raise UserErrorException(
            f"build_local has no option {unknown[0]!r}; it takes useDocker and pushImageToWorkspaceAcr."
        )
    if options.get("pushImageToWorkspaceAcr"):
        notice("The image stays on this machine: a workspace of Runyard has no registry to push it to.")
    if options.get("useDocker") and specification_of(environment.to_dict()).kind != CONTAINER:
        notice(
            "The environment is built as its runs use it, without a container, although useDocker=True was given: it "
            "names no image of its own."
        )
    details = build(workspace, environment)
    details.wait_for_completion(show_output=True)
    if details.status != "Succeeded":
        document = details.run._fetch()
        if document["status"] == states.CANCELED:
            raise ActivityFailedException(error_details=details.error_text(), run_id=document["id"])
        raise failed(document)
    return details


def image_details(workspace: Workspace, environment: Environment) -> DockerImageDetails:
    """What is known of the environment's image, from its definition and from the newest build of this version."""
    if not environment.name:
        raise UserErrorException("Only an environment with a name has an image: set environment.name and register it.")
    known = catalogue.get(workspace, environment.name, environment.version)
    specification = specification_of(known.to_dict())
    newest = _newest_build(workspace, known)
    built = newest is not None and newest.get_status() == states.COMPLETED
    used = (newest.get_properties().get(USED_PROPERTY) if newest is not None else None) if built else None
    in_container = specification.kind == CONTAINER
    return DockerImageDetails(
        imageExistsInRegistry=bool(built and in_container),
        dockerImage={"name": used if in_container else None, "registry": _registry(specification.registry)},
        pythonEnvironment={
            "interpreterPath": known.python.interpreter_path if in_container or used is None else used,
            "condaEnvironmentPath": None,
        },
        ingredients={
            "dockerfile": known.docker.base_dockerfile,
            "condaSpecification": known.python.conda_dependencies.serialize_to_string(),
        },
    )


class ImageBuildDetails:
    """A build of an environment.

    >>> environment.build(workspace).wait_for_completion(show_output=True)  # doctest: +SKIP
    """

    def __init__(self, run: Run, environment: Environment) -> None:
        self._run = run
        self._environment = environment

    @property
    def run(self) -> Run:
        """The run that builds: it can be cancelled, and its page shows how it went."""
        return self._run

    @property
    def environment(self) -> Environment:
        """The environment as it was registered."""
        return self._environment

    @property
    def status(self) -> str:
        """The current status: Queued, Running, Succeeded, Failed or Canceled."""
        return _STATUS.get(self._run.get_status(), "Running")

    @property
    def environment_build_status(self) -> str:
        """The same as `status`."""
        return self.status

    @property
    def log_url(self) -> str:
        """The URL of the build's log. It is empty when the environment was already built."""
        return file_url(self._run._cached(), BUILD_LOG)

    def get_log(self) -> str:
        """The build's log so far; empty when the environment was already built."""
        return "".join(self._reader().new_text())

    def error_text(self) -> str:
        """Why the build failed."""
        document = self._run._fetch()
        return "The build was cancelled." if document["status"] == states.CANCELED else error_text(document)

    def wait_for_completion(self, show_output: bool = True) -> ImageBuildDetails:
        """Wait for the build's end. With `show_output` its log is printed as it comes, and its error if it fails.

        A build that fails does not raise: `status` has the result. Ctrl-C ends the wait, not the build.
        """
        try:
            self._follow(show_output)
        except KeyboardInterrupt:
            raise ExperimentExecutionException(
                f"The wait for the build {self._run.id} was interrupted. It goes on: wait_for_completion() waits "
                "again, .run.cancel() stops it."
            ) from None
        if show_output:
            status = self.status
            print(f"\nImage Build Status: {status}", flush=True)
            if status == "Failed":
                print(f"\nError:\n{self.error_text()}\n", flush=True)
        return self

    def _follow(self, show_output: bool) -> None:
        reader, shown, status, reason = self._reader(), False, None, None
        for event in follow(self._run._service, self._run.id):
            if not show_output:
                continue
            if event.name == "state":
                now = _STATUS.get(event.value["status"], "Running")
                if now != status and now in ("Queued", "Running"):
                    print(f"Image Build Status: {now}", flush=True)
                if now == "Queued" and event.value["reason"] not in (None, reason):
                    reason = event.value["reason"]
                    print(f"Queued: {reason}", flush=True)
                status = now
            elif event.name == "file" and event.value["name"] == BUILD_LOG:
                shown = _print_new(reader) or shown
        if show_output and not (_print_new(reader) or shown) and self.status == "Succeeded":
            print("There was nothing to build: the environment is there already.", flush=True)

    def _reader(self) -> LogReader:
        return LogReader(self._run._service, self._run.id, BUILD_LOG)

    def __repr__(self) -> str:
        return f"ImageBuildDetails({self._named()}, {self.status})"

    def _repr_html_(self) -> str:
        from runyard.sdk.notebook import link, table

        row = (self._named(), self.status, link(self._run.get_portal_url(), self._run.id), link(self.log_url, "Log"))
        return table(("Environment", "Status", "Run", "Log"), [row])

    def _named(self) -> str:
        return f"{self._environment.name}:{self._environment.version}"


def _print_new(reader: LogReader) -> bool:
    printed = False
    for text in reader.new_text():
        sys.stdout.write(text)
        sys.stdout.flush()
        printed = True
    return printed


def _registered(workspace: Workspace, environment: Environment) -> Environment:
    """The environment as registered in the workspace. One that came from there, such as a curated one, is already."""
    if environment.name and environment.version is not None:
        try:
            known = catalogue.get(workspace, environment.name, environment.version)
        except UserErrorException:
            return catalogue.register(
                workspace, environment
            )  # it is not there yet, or the server explains what is wrong
        if content_hash(known.to_dict()) == content_hash(environment.to_dict()):
            return known
    return catalogue.register(workspace, environment)


def _newest_build(workspace: Workspace, environment: Environment) -> Run | None:
    from runyard.sdk.experiment import Experiment

    tags = {NAME_TAG: environment.name, VERSION_TAG: environment.version}
    for experiment in Experiment.list(workspace, EXPERIMENT):
        return next(experiment.get_runs(type=RUN_TYPE, tags=tags), None)
    return None


def _registry(address: str) -> dict[str, str]:
    return {"address": address} if address else {}


def _check_platform(platform: object) -> None:
    here = PLATFORMS.get(sys.platform, sys.platform)
    if platform is not None and str(platform).lower() != here:
        raise UserErrorException(
            f"An environment is built for the machine that builds it, which is {here!r}, not {platform!r}."
        )
