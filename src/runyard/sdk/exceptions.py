"""The exceptions that the SDK raises, as SDK v1 names them.

AzureMLException
├── UserErrorException                    the request cannot be carried out as it is
│   └── AuthenticationException
├── ActivityFailedException               the run that was waited for has failed
├── AzureMLAggregatedException            several at once
├── ComputeTargetException
├── DatasetTimestampMissingError
├── DiscoveryUrlNotFoundException
├── ExperimentExecutionException          a run could not be submitted or followed
├── ParallelRunException
├── ProjectSystemException
├── RunConfigurationException
├── RunEnvironmentException               the code does not run inside a run
├── ServiceException                      the server refused a request
├── SnapshotException
├── TrainingException
├── WebserviceException
│   ├── ModelNotFoundException
│   └── ModelPathNotFoundException
├── WorkspaceException
└── HyperDriveException
    ├── HyperDriveConfigException
    │   └── HyperDriveScenarioNotSupportedException
    │       └── HyperDriveNotImplementedException
    ├── HyperDriveServiceException
    └── HyperDriveRehydrateException
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from runyard.sdk.run.error import FEW_FRAMES, error_lines

if TYPE_CHECKING:
    import logging


class AzureMLException(Exception):
    """The root of all of them. `str()` has the whole text, `message` only what went wrong."""

    _code = "SystemError"

    def __init__(
        self,
        exception_message: str,
        inner_exception: BaseException | None = None,
        target: str | None = None,
        details: Any = None,
        message_format: str | None = None,
        message_parameters: dict[str, str] | None = None,
        reference_code: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(exception_message)
        self._message = exception_message
        self._inner_exception = inner_exception
        self._facts: dict[str, Any] = {
            "target": target,
            "details": details,
            "messageFormat": message_format,
            "messageParameters": message_parameters,
            "referenceCode": reference_code,
            **kwargs,
        }

    @property
    def message(self) -> str:
        return self._message

    @property
    def inner_exception(self) -> BaseException | None:
        return self._inner_exception

    @property
    def error_code(self) -> str:
        return self._code

    def print_stacktrace(self) -> None:
        """Print the traceback of this exception, and of what caused it, to standard error."""
        import traceback

        traceback.print_exception(type(self), self, self.__traceback__)

    def __str__(self) -> str:
        facts = {key: value for key, value in self._facts.items() if value is not None}
        body = {"error": {"code": self._code, "message": self._message, **facts}}
        inner = self._inner_exception
        said = inner.message if isinstance(inner, AzureMLException) else inner
        return (
            f"{type(self).__name__}:\n"
            f"  Message: {self._message}\n"
            f"  Inner exception: {'none' if inner is None else f'{type(inner).__name__}: {said}'}\n"
            f"  Error:\n{json.dumps(body, indent=4, default=str)}"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._message!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # The constructors take different arguments, so a copy (pickle, multiprocessing) is made without them.
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[AzureMLException], args: tuple[Any, ...], state: dict[str, Any]) -> AzureMLException:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class UserErrorException(AzureMLException):
    _code = "UserError"


class AuthenticationException(UserErrorException):
    _code = "Authentication"


class ActivityFailedException(AzureMLException):
    """Raised by `wait_for_completion`. It prints a few lines: what went wrong, where, what to do.

    `error` is the whole error of the run, as in `get_details()["error"]`; `error_details` is its JSON, as SDK v1 has
    it; `run_id` is the run.
    """

    _code = "ActivityFailed"

    def __init__(
        self,
        error_details: str,
        *,
        error: Mapping[str, Any] | None = None,
        run_id: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.error_details = error_details
        self.error = dict(error) if error is not None else None
        self.run_id = run_id
        super().__init__(self._words(), **kwargs)

    def _words(self) -> str:
        if self.error is None:
            causes = self.error_details.splitlines() or [""]
        else:
            causes = list(error_lines(self.error, FEW_FRAMES)) or ["nothing was said about the cause"]
        name = f"Run {self.run_id}" if self.run_id else "The run"
        lines = [f"{name} has failed: {causes[0]}", *(f"  {line}" for line in causes[1:])]
        if self.run_id:
            lines.append(f"  `runyard logs {self.run_id}` shows its log.")
        return "\n".join(lines)

    def __str__(self) -> str:
        # Not the form of the others, which has the message twice: people read this one in a notebook.
        return self._message


class AzureMLAggregatedException(AzureMLException):
    _code = "Aggregated"

    def __init__(self, exceptions_list: Sequence[BaseException], **kwargs: Any) -> None:
        self.exceptions = list(exceptions_list)
        lines = "\n".join(
            f"- {type(each).__name__}: {getattr(each, 'message', None) or each}" for each in self.exceptions
        )
        super().__init__(f"{len(self.exceptions)} things went wrong:\n{lines}", **kwargs)


class ComputeTargetException(AzureMLException):
    _code = "ComputeTarget"


class DatasetTimestampMissingError(AzureMLException):
    _code = "DatasetTimestampMissing"

    def __init__(self, error_details: str, **kwargs: Any) -> None:
        super().__init__(error_details, **kwargs)


class DiscoveryUrlNotFoundException(AzureMLException):
    _code = "DiscoveryUrlNotFound"

    def __init__(self, discovery_key: str, **kwargs: Any) -> None:
        super().__init__(f"There is no server address under {discovery_key!r}.", **kwargs)


class ExperimentExecutionException(AzureMLException):
    _code = "ExperimentExecution"


class ParallelRunException(AzureMLException):
    _code = "ParallelRun"

    def __init__(
        self, exception_message: str, code: str | None = None, delay_seconds: float = 0, **kwargs: Any
    ) -> None:
        super().__init__(exception_message, **kwargs)
        self.code = code
        self.delay_seconds = delay_seconds


class ProjectSystemException(AzureMLException):
    _code = "ProjectSystem"


class RunConfigurationException(AzureMLException):
    _code = "RunConfiguration"


class RunEnvironmentException(AzureMLException):
    _code = "RunEnvironment"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            "This process does not belong to a submitted run: AZUREML_RUN_ID and the variables around it are not set. "
            "Submit the script, or allow an offline run with Run.get_context(allow_offline=True).",
            **kwargs,
        )


class ServiceException(AzureMLException):
    """Made from the exception of the refused request; has its HTTP status."""

    _code = "Service"

    def __init__(self, error_response_exception: BaseException, **kwargs: Any) -> None:
        kwargs.setdefault("inner_exception", error_response_exception)
        super().__init__(str(error_response_exception), **kwargs)
        response = getattr(error_response_exception, "response", error_response_exception)
        status = getattr(response, "status_code", None)
        self.status_code: int | None = getattr(response, "status", None) if status is None else status
        self.details = str(error_response_exception)


class SnapshotException(AzureMLException):
    _code = "Snapshot"


class TrainingException(AzureMLException):
    _code = "Training"


class WebserviceException(AzureMLException):
    _code = "Webservice"

    def __init__(
        self,
        exception_message: str,
        status_code: int | None = None,
        logger: logging.Logger | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(exception_message, **kwargs)
        self.status_code = status_code
        if logger is not None:
            logger.error(exception_message)


class ModelNotFoundException(WebserviceException):
    _code = "ModelNotFound"

    def __init__(self, exception_message: str, logger: logging.Logger | None = None, **kwargs: Any) -> None:
        super().__init__(exception_message, logger=logger, **kwargs)


class ModelPathNotFoundException(WebserviceException):
    _code = "ModelPathNotFound"

    def __init__(self, exception_message: str, logger: logging.Logger | None = None, **kwargs: Any) -> None:
        super().__init__(exception_message, logger=logger, **kwargs)


class WorkspaceException(AzureMLException):
    _code = "Workspace"

    def __init__(self, exception_message: str, found_multiple: bool = False, **kwargs: Any) -> None:
        super().__init__(exception_message, **kwargs)
        self.found_multiple = found_multiple


class HyperDriveException(AzureMLException):
    _code = "HyperDrive"


class HyperDriveConfigException(HyperDriveException):
    _code = "HyperDriveConfig"


class HyperDriveScenarioNotSupportedException(HyperDriveConfigException):
    _code = "HyperDriveScenarioNotSupported"


class HyperDriveNotImplementedException(HyperDriveScenarioNotSupportedException):
    _code = "HyperDriveNotImplemented"


class HyperDriveServiceException(HyperDriveException):
    _code = "HyperDriveService"


class HyperDriveRehydrateException(HyperDriveException):
    _code = "HyperDriveRehydrate"
