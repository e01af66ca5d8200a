"""The document that describes a service: Swagger 2.0, OpenAPI 3.0 and 3.1."""

from __future__ import annotations

import os
from typing import Any, Dict

VERSIONS = {"2": "2.0", "2.0": "2.0", "3": "3.0", "3.0": "3.0", "3.1": "3.1"}
_FILES = {"2.0": ("swagger.json", "swagger2.json"), "3.0": ("swagger3.json",), "3.1": ("swagger3_1.json",)}

Schema = Dict[str, Any]
_ANY: Schema = {"type": "object", "example": {}}


class Described:
    """What a service takes and gives, as far as it is known."""

    def __init__(self, name: str, version: str, path: str = "/score") -> None:
        self.name, self.version, self.path = name, version, path
        self.input: Schema = _ANY
        self.output: Schema = _ANY
        self.authenticated = False


def users_own(folder: str, version: str) -> bytes | None:
    """A file of the user's, which wins over a made one."""
    for name in _FILES[version]:
        path = os.path.join(folder, name)
        if folder and os.path.isfile(path):
            with open(path, "rb") as file:
                return file.read()
    return None


def document(described: Described, version: str, host: str) -> dict[str, Any]:
    """`version`: 2.0, 3.0 or 3.1; `host`: as the client names it."""
    about = {
        "title": described.name,
        "description": f"API specification for the Azure Machine Learning service {described.name}",
        "version": described.version,
    }
    return _second(described, about, host) if version == "2.0" else _third(described, about, version, host)


def _second(described: Described, about: dict[str, str], host: str) -> dict[str, Any]:
    wrong = {"description": "The model was not called, or failed.", "schema": {"$ref": "#/definitions/ErrorResponse"}}
    health = {"description": "The service is alive.", "schema": {"type": "string"}}
    scored = {"description": "The answer.", "schema": {"$ref": "#/definitions/ServiceOutput"}}
    taken = {"name": "serviceInputPayload", "in": "body", "required": True}
    score = {
        **_SCORE,
        "parameters": [{**taken, "schema": {"$ref": "#/definitions/ServiceInput"}}],
        "responses": {"200": scored, "default": wrong},
        "security": [{"Bearer": []}] if described.authenticated else [],
    }
    made: dict[str, Any] = {
        "swagger": "2.0",
        "info": about,
        "host": host,
        "schemes": ["http", "https"],
        "consumes": ["application/json"],
        "produces": ["application/json"],
        "paths": {
            "/": {"get": {**_HEALTH, "responses": {"200": health, "default": wrong}}},
            described.path: {"post": score},
        },
        "definitions": {
            "ServiceInput": described.input,
            "ServiceOutput": described.output,
            "ErrorResponse": _ERROR,
        },
    }
    if described.authenticated:
        made["securityDefinitions"] = {"Bearer": {"type": "apiKey", "name": "Authorization", "in": "header"}}
    return made


def _third(described: Described, about: dict[str, str], version: str, host: str) -> dict[str, Any]:
    wrong = _content("The model was not called, or failed.", {"$ref": "#/components/schemas/ErrorResponse"})
    scored = _content("The answer.", {"$ref": "#/components/schemas/ServiceOutput"})
    health = {"description": "The service is alive.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    score: dict[str, Any] = {
        **_SCORE,
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ServiceInput"}}},
        },
        "responses": {"200": scored, "default": wrong},
    }
    made: dict[str, Any] = {
        "openapi": f"{version}.3" if version == "3.0" else f"{version}.0",
        "info": about,
        "servers": [{"url": f"http://{host}"}],
        "paths": {
            "/": {"get": {**_HEALTH, "responses": {"200": health, "default": wrong}}},
            described.path: {"post": score},
        },
        "components": {
            "schemas": {"ServiceInput": described.input, "ServiceOutput": described.output, "ErrorResponse": _ERROR}
        },
    }
    if described.authenticated:
        score["security"] = [{"Bearer": []}]
        made["components"]["securitySchemes"] = {"Bearer": {"type": "http", "scheme": "bearer"}}
    return made


_HEALTH = {"operationId": "ServiceHealthCheck", "description": "Simple health check endpoint"}
_SCORE = {
    "operationId": "RunMLService",
    "description": "Run web service's model and get the prediction output",
}
_ERROR: Schema = {"type": "object", "properties": {"message": {"type": "string"}}}


def _content(description: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}
