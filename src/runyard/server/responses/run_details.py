"""All that is known of one run, as the API and the studio's page of it show it."""

from __future__ import annotations

from dataclasses import asdict

from starlette.datastructures import URL

from runyard.server.context import ServerContext
from runyard.server.responses import documents
from runyard.server.responses.account import account
from runyard.server.responses.documents import Json
from runyard.store.assets import models, run_outputs
from runyard.store.content import files
from runyard.store.runs import family, runs


def details(context: ServerContext, run_id: str, base: URL, with_variables: bool, with_children: bool = False) -> Json:
    """`base` is the address under which the caller knows the server; environment variables are shown to some only."""
    with context.store.database.look() as connection:
        row = runs.get(connection, run_id)
        definition, launch = runs.definition_and_launch(connection, run_id)
        history = runs.states(connection, run_id)
        entries = documents.logs(files.find(connection, run_id))
        dropped = files.dropped_logs(connection, run_id)
        written = run_outputs.of_run(connection, run_id) if launch and launch.get("outputs") else []
        registered = models.of_run(connection, run_id)
        below = family.children(connection, [run_id]).get(run_id, {}) if with_children else None
    if not with_variables:
        definition = documents.without_variables(definition)
        launch = None if launch is None else documents.without_variables(launch)
    shown = documents.run(row, context, base)
    states = [documents.state(change) for change in history]
    return {
        **shown,
        "definition": definition,
        "launch": launch,
        "states": states,
        "account": account({**shown, "launch": launch, "states": states}),
        "logs": [entry.name for entry in entries],
        "dropped_logs": dropped,
        "outputs": [asdict(each) for each in written],
        "models": [f"{name}:{version}" for name, version in registered],
        "parameters": dict(sorted(row.parameters.items())),
        **({} if below is None else {"children": below}),
    }
