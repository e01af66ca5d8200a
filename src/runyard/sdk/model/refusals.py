"""What a request about models was refused for, as the exceptions of SDK v1."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from runyard.client.http import ClientProblem
from runyard.sdk.exceptions import (
    AuthenticationException,
    AzureMLException,
    ModelNotFoundException,
    ModelPathNotFoundException,
    WebserviceException,
    WorkspaceException,
)


@contextmanager
def translated() -> Iterator[None]:
    """A refusal becomes a WebserviceException. What is not about the model itself (who asks, which workspace, a server
    that does not answer) stays what it is."""
    try:
        yield
    except (AuthenticationException, WebserviceException, WorkspaceException):
        raise
    except AzureMLException as error:
        problem = error.inner_exception
        if not isinstance(problem, ClientProblem) or not problem.status:
            raise
        raise _meaning(problem) from error


def _meaning(problem: ClientProblem) -> WebserviceException:
    message = f"{problem.title} {problem.help}".strip()
    if problem.code == "model_not_found":
        # Code of SDK v1 looks for this word in the message.
        return ModelNotFoundException(f"ModelNotFound: {message}", inner_exception=problem)
    if problem.code == "model_path_not_found":
        return ModelPathNotFoundException(message, inner_exception=problem)
    return WebserviceException(message, status_code=problem.status, inner_exception=problem)
