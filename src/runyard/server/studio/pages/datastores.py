"""The datastores of a workspace, and the files in one."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from runyard.contracts.data import datastores as contract
from runyard.server.context import Context
from runyard.server.studio import templating
from runyard.server.studio.page import Viewer, pages
from runyard.store.assets import datastores

router = pages("/studio/{workspace}/datastores")


@router.get("")
def show(workspace: str, request: Request, viewer: Viewer, context: Context) -> Response:
    with context.store.database.read() as connection:
        found = datastores.find(connection, workspace)
        usual = datastores.default(connection, workspace).name
    listed = [
        {
            "name": each.name,
            "says": contract.KINDS[each.kind].says,
            "settings": each.settings,
            "usual": each.name == usual,
        }
        for each in found
    ]
    return templating.render(
        request, "datastores.html", workspace=workspace, section="datastores", title="Datastores", datastores=listed
    )


@router.get("/{name}")
def show_one(workspace: str, name: str, request: Request, viewer: Viewer, context: Context) -> Response:
    with context.store.database.read() as connection:
        found = datastores.get(connection, workspace, name)
    api = f"/api/workspaces/{templating.part(workspace)}/datastores/{templating.part(name)}"
    is_database = found.kind in contract.DATABASES
    return templating.render(
        request,
        "datastore.html",
        workspace=workspace,
        section="datastores",
        title=name,
        datastore=found,
        says=contract.KINDS[found.kind].says,
        is_database=is_database,
        data={"files": "" if is_database else f"{api}/files", "content": f"{api}/content", "base": ""},
    )
