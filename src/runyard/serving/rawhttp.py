"""The request and response of scripts that speak HTTP themselves: `@rawhttp`, `AMLRequest`, `AMLResponse`.

`AMLRequest` has what scripts use of Flask's request, which it was on Azure.
"""

from __future__ import annotations

import io
import json
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any, Callable, Dict, Iterator, Mapping, TypeVar, cast
from urllib.parse import parse_qsl

from runyard.serving.http.message import Request

Function = TypeVar("Function", bound=Callable[..., Any])

_MARK = "_runyard_rawhttp"


def rawhttp(function: Function) -> Function:
    """Mark `run` as one that takes the whole request."""
    setattr(function, _MARK, True)
    return function


def is_raw(function: Callable[..., Any]) -> bool:
    return bool(getattr(function, _MARK, False))


class Headers(Mapping[str, str]):
    """Headers by name, whatever its case."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = {
            "-".join(part.capitalize() for part in name.split("-")): each for name, each in headers.items()
        }
        self._lower = {name.lower(): each for name, each in headers.items()}

    def __getitem__(self, name: str) -> str:
        return self._lower[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._headers)

    def __len__(self) -> int:
        return len(self._headers)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._lower


class Values(Dict[str, Any]):
    """The first value of each name; `getlist` has all of them."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(reversed(pairs))
        self._pairs = pairs

    def getlist(self, name: str) -> list[Any]:
        return [value for each, value in self._pairs if each == name]

    def to_dict(self, flat: bool = True) -> dict[str, Any]:
        return dict(self) if flat else {name: self.getlist(name) for name in self}


class UploadedFile(io.BytesIO):
    """A file of a form; `save` writes it to a path."""

    def __init__(self, content: bytes, filename: str, name: str, content_type: str) -> None:
        super().__init__(content)
        self.filename, self.name, self.content_type = filename, name, content_type

    @property
    def stream(self) -> io.BytesIO:
        return self

    def save(self, path: str) -> None:
        with open(path, "wb") as file:
            file.write(self.getvalue())


class AMLRequest:
    """A request, as a script with `@rawhttp` gets it."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.method, self.path = request.method, request.path
        self.headers = Headers(request.headers)
        self.query_string = request.head.query.encode("latin-1")
        self.args = Values(parse_qsl(request.head.query, keep_blank_values=True))
        self.content_type: str | None = request.headers.get("content-type")
        self.mimetype = (self.content_type or "").partition(";")[0].strip().lower()
        self.content_length = len(request.body)
        self._parts: tuple[Values, Values] | None = None

    @property
    def data(self) -> Any:
        return self.get_data()

    @property
    def stream(self) -> io.BytesIO:
        return io.BytesIO(self.get_data())

    @property
    def host(self) -> str:
        return self.headers.get("host", "")

    @property
    def base_url(self) -> str:
        return f"http://{self.host}{self.path}"

    @property
    def url(self) -> str:
        query = self._request.head.query
        return f"{self.base_url}?{query}" if query else self.base_url

    @property
    def is_json(self) -> bool:
        return self.mimetype == "application/json" or self.mimetype.endswith("+json")

    @property
    def json(self) -> Any:
        return self.get_json()

    @property
    def form(self) -> Values:
        return self._form()[0]

    @property
    def files(self) -> Values:
        return self._form()[1]

    def get_data(self, cache: bool = True, as_text: bool = False, parse_form_data: bool = False) -> Any:
        body = bytes(self._request.body)
        return body.decode("utf-8", "replace") if as_text else body

    def get_json(self, force: bool = False, silent: bool = False, cache: bool = True) -> Any:
        if not force and not self.is_json:
            if silent:
                return None
            raise ValueError(f"The body is not JSON: its content type is {self.content_type!r}.")
        try:
            return json.loads(self._request.body)
        except ValueError:
            if silent:
                return None
            raise

    def _form(self) -> tuple[Values, Values]:
        if self._parts is None:
            self._parts = self._read_form()
        return self._parts

    def _read_form(self) -> tuple[Values, Values]:
        if self.mimetype == "application/x-www-form-urlencoded":
            text = bytes(self._request.body).decode("utf-8", "replace")
            return Values(parse_qsl(text, keep_blank_values=True)), Values([])
        if self.mimetype != "multipart/form-data":
            return Values([]), Values([])
        head = f"Content-Type: {self.content_type}\r\n\r\n".encode("latin-1", "replace")
        parsed = BytesParser(policy=HTTP).parsebytes(head + bytes(self._request.body))
        fields: list[tuple[str, Any]] = []
        files: list[tuple[str, Any]] = []
        for part in parsed.iter_parts():
            name = str(part.get_param("name", "", header="content-disposition"))
            content = cast(bytes, part.get_payload(decode=True) or b"")
            filename = part.get_filename()
            if filename is None:
                fields.append((name, content.decode("utf-8", "replace")))
            else:
                files.append((name, UploadedFile(content, filename, name, part.get_content_type())))
        return Values(fields), Values(files)


class AMLResponse:
    """A response in all its parts, returned by `run`.

    `json_str`: `message` is encoded as JSON. `run_function_failed`: the caller is told that the script failed.
    """

    def __init__(
        self,
        message: Any,
        status_code: int,
        response_headers: Mapping[str, str] | None = None,
        json_str: bool = False,
        run_function_failed: bool = False,
    ) -> None:
        self.status_code = status_code
        self.headers: dict[str, str] = dict(response_headers or {})
        self.run_function_failed = run_function_failed
        self.json_str = json_str
        self.message = message

    def parts(self) -> tuple[bytes, str]:
        """The body, and its content type where the headers name none. TypeError when it cannot be encoded."""
        if self.json_str:
            return json.dumps(self.message).encode(), "application/json"
        if isinstance(self.message, (bytes, bytearray, memoryview)):
            return bytes(self.message), "text/html; charset=utf-8"
        return str(self.message).encode(), "text/html; charset=utf-8"
