"""The end of a log: a request of a bounded size, however long the log is."""

from __future__ import annotations

from runyard.client.http import quote
from runyard.client.problems import ClientProblem
from runyard.sdk.workspace.service import Service, sdk_exception


def tail(service: Service, run_id: str, log: str, size: int) -> str:
    """The last whole lines of a log within so many bytes; "" when it is not there."""
    address = f"/api/runs/{quote(run_id)}/files/{quote(log)}"
    try:
        with service.client.stream(address, headers={"Range": f"bytes=-{size}"}) as answer:
            content = b"".join(iter(lambda: answer.read(size), b""))
    except ClientProblem as problem:
        if problem.code in ("file_not_found", "bad_range"):  # truncated or moved since the run was fetched
            return ""
        raise sdk_exception(problem) from None
    text = content.decode("utf-8", "replace")
    return text.partition("\n")[2] or text if len(content) >= size else text
