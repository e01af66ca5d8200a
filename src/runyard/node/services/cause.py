"""Why a replica does not answer, as an error of its run: the line of init(), the missing package, no memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

from runyard.contracts.plan import Launch
from runyard.contracts.services.plan import ServicePlan
from runyard.contracts.services.worker import INIT_FAILED, WorkerError, WorkerStatus
from runyard.node.outcome import exits, failure, missing_packages
from runyard.node.outcome.exits import Exit

HOPELESS = ("SyntaxError", "IndentationError", "ImportError", "ModuleNotFoundError", "NameError", "AttributeError")
"""Errors of init() that another try does not change."""

Error = Dict[str, Any]


def of_exit(
    launch: Launch, service: ServicePlan, exit: Exit, status: WorkerStatus | None, work: Path, log: Path, starved: bool
) -> Error:
    """The error of a process that has ended by itself."""
    who = f"The process of the service {service.service!r}"
    if starved:
        limit = service.settings.memory_gb
        allowed = f" It may have {limit:g} GB (memory_gb)." if limit is not None else ""
        return {
            "code": "OutOfMemory",
            "message": f"{who} was ended by the kernel for lack of memory.{allowed}",
            "help": "Give the service more memory, fewer workers, or a smaller model.",
        }
    if exit.code == INIT_FAILED and status is not None and status.error is not None:
        return of_worker(status.error, launch)
    if exit == Exit(None, None):
        return {"code": "ProcessEnded", "message": f"{who} ended while nobody watched it."}
    found = failure.describe(launch, exit, work, log, who=who)
    return {**found, "code": "ProcessEnded"}


def of_worker(told: WorkerError, launch: Launch) -> Error:
    """The error that a process has told of itself before it ended."""
    where = f" ({Path(told.file).name}, line {told.line})" if told.file and told.line else ""
    found: Error = {"code": "InitFailed", "message": f"{told.type}: {told.message}{where}", "type": told.type}
    if told.traceback:
        found["traceback"] = told.traceback
    if told.file:
        found["file"], found["line"] = told.file, told.line
    help = told.help
    module = missing_packages.missing_module(told.message) if told.type == "ModuleNotFoundError" else None
    if module is not None:
        package = missing_packages.package_for(module)
        help = (
            f"Add {package!r} to the environment of the service: "
            f'env.python.conda_dependencies.add_pip_package("{package}"), or `--pip` with a requirements file that '
            f"names it. If {module.partition('.')[0]} is a module of your own, put it into source_directory."
        )
    if help:
        found["help"] = help
    return found


def not_ready(service: ServicePlan, seconds: float) -> Error:
    return {
        "code": "NotReady",
        "message": f"The service {service.service!r} was not ready {seconds:g} s after its start.",
        "help": "See how far init() came in the log. If it needs longer, raise probes.initial_delay_seconds.",
    }


def no_answer(service: ServicePlan, failures: int) -> Error:
    return {
        "code": "NoAnswer",
        "message": f"The service {service.service!r} gave no answer to {failures} health checks, and is started anew.",
        "help": "A run() that holds the interpreter for long, in native code, keeps it from answering.",
    }


def too_much_memory(service: ServicePlan, resident: int) -> Error:
    return {
        "code": "OutOfMemory",
        "message": f"The processes of {service.service!r} had {resident >> 20} MB, which is more than they may "
        f"(memory_gb {service.settings.memory_gb:g}), and were ended.",
        "help": "Give the service more memory, fewer workers, or a smaller model.",
    }


def is_hopeless(error: Error) -> bool:
    return error.get("code") == "InitFailed" and error.get("type") in HOPELESS


def words(exit: Exit) -> str:
    return "it is gone" if exit == Exit(None, None) else exits.words(exit)
