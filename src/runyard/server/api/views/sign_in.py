"""Routes that let browsers into the studio, and out of it."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.responses import Response

from runyard.server.context import Context
from runyard.server.middleware.auth import User
from runyard.server.responses import documents
from runyard.server.responses.documents import answer
from runyard.server.studio import policy

router = APIRouter(prefix="/api/studio", tags=["studio"], dependencies=[User])


@router.post("/links", status_code=201, summary="Make a link that signs one browser in, once")
def make_link(request: Request, context: Context) -> Response:
    code, expires_at = context.sessions.begin_link(policy.host_of(Headers(scope=request.scope)))
    url = f"{request.base_url}studio/enter?code={code}"
    return answer({"url": url, "expires_at": documents.timestamp(expires_at)}, 201)


@router.delete("/sessions", summary="Sign every browser out")
def end_all(context: Context) -> Response:
    return answer({"ended": context.sessions.end_all()})


@router.delete("/sessions/own", summary="Sign out the browser that asks")
def end_own(request: Request, context: Context) -> Response:
    token = context.sessions.token_of(Headers(scope=request.scope))
    if token is not None:
        context.sessions.end(token)
    response = answer({"ended": 0 if token is None else 1})
    context.sessions.take(response)
    return response
