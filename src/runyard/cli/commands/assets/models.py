"""`runyard models`: the registered models of a workspace, their files, and what is known of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.completion import model_names, run_ids
from runyard.cli.confirm import agreed
from runyard.cli.groups import group
from runyard.cli.options import JsonOption, pairs
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Argument, Option, bad_parameter

if TYPE_CHECKING:
    from runyard.contracts.documents import ModelDocument
    from runyard.sdk.model.model import Model
    from runyard.sdk.workspace.workspace import Workspace

ModelArgument = Annotated[
    str,
    Argument(
        metavar="MODEL",
        help="The name of a model, for its latest version, or NAME:VERSION.",
        show_default=False,
        autocompletion=model_names,
    ),
]


def ls(
    name: Annotated[
        str | None,
        Argument(metavar="[NAME]", help="All versions of this model.", show_default=False, autocompletion=model_names),
    ] = None,
    tags: Annotated[
        list[str], Option("--tag", "-t", metavar="KEY[=VALUE]", help="Only those with this tag.", show_default=False)
    ] = [],  # noqa: B006
    run: Annotated[
        str | None,
        Option("--run", metavar="RUN", help="Only those of this run.", show_default=False, autocompletion=run_ids),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the models, each in its latest version; of one model or one run, all versions."""
    from runyard.sdk.model.model import Model

    workspace = _workspace()
    wanted = [list(each.split("=", 1)) if "=" in each else each for each in tags]
    run_id = None if run is None else _run(run)
    latest = name is None and run is None
    found = [each._document for each in Model.list(workspace, name, wanted, run_id=run_id, latest=latest)]
    if as_json:
        screen.document(found)
    elif not found:
        print(f"No model is registered{' like that' if name or tags or run else ''}.", end=" ")
        print(f"Next: {formatting.program()} models register NAME PATH, or run.register_model(...) in Python")
    else:
        screen.table(("NAME", "VERSION", "FRAMEWORK", "SIZE", "CREATED", "RUN"), [_row(each) for each in found])
        print(f"Next: {formatting.program()} models show {found[0]['id']}")


def show(model: ModelArgument, as_json: JsonOption = False) -> None:
    """Show one version: where it came from, what it is tagged with, and its files."""
    found = _model(_workspace(), model)
    known = found._document
    entries = _files(found)
    if as_json:
        screen.document({**known, "paths": [each[0] for each in entries]})
        return
    print(screen.heading(known["id"]))
    facts = list(_facts(known))
    width = max(len(name) for name, _ in facts)
    for name, text in facts:
        print(f"  {name:{width}}  {text}")
    print()
    screen.table(("FILE", "SIZE"), [(path, formatting.size(size)) for path, size in entries])
    print(f"Next: {formatting.program()} models get {known['id']}")


def get(
    model: ModelArgument,
    to: Annotated[str, Option("--to", metavar="FOLDER", help="Where to put it.")] = ".",
    overwrite: Annotated[bool, Option("--overwrite", help="Replace what is there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Download the files of a model."""
    found = _model(_workspace(), model)
    place = os.path.abspath(found.download(to, exist_ok=overwrite))
    if as_json:
        screen.document({"id": found.id, "path": place})
    else:
        known = found._document
        amount = f"{formatting.count(known['files'], 'file')}, {formatting.size(known['size'])}"
        print(f"Downloaded {found.id} to {place} ({amount}).")


def register(
    name: Annotated[str, Argument(metavar="NAME", help="The name of the model.", show_default=False)],
    path: Annotated[
        str, Argument(metavar="PATH", help="A file or folder; with --run, of that run's files.", show_default=False)
    ],
    run: Annotated[
        str | None,
        Option("--run", metavar="RUN", help="Take the files of this run.", show_default=False, autocompletion=run_ids),
    ] = None,
    framework: Annotated[
        str | None,
        Option("--framework", metavar="NAME", help="Onnx, PyTorch, ScikitLearn, TensorFlow, ...", show_default=False),
    ] = None,
    framework_version: Annotated[
        str | None, Option("--framework-version", metavar="VERSION", help="Its version.", show_default=False)
    ] = None,
    tags: Annotated[list[str], Option("--tag", "-t", metavar="KEY=VALUE", help="A tag.", show_default=False)] = [],  # noqa: B006
    properties: Annotated[
        list[str],
        Option("--property", metavar="KEY=VALUE", help="A property, which stays as it is.", show_default=False),
    ] = [],  # noqa: B006
    description: Annotated[
        str | None, Option("--description", metavar="TEXT", help="What it is about.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Register files as the next version of a model: runyard models register birds outputs/model.pt --run @last"""
    from runyard.sdk.model import arguments, registering

    if framework_version is not None and framework is None:
        raise bad_parameter("Name the framework as well: --framework TensorFlow.", "--framework-version")
    workspace = _workspace()
    details = arguments.details(
        workspace,
        pairs(tags, "--tag"),
        pairs(properties, "--property"),
        description,
        model_framework=framework,
        model_framework_version=framework_version,
    )
    if run is None:
        made = registering.from_folder(workspace, os.path.expanduser(path), name, None, details, anywhere=True)
    else:
        made = registering.from_run(workspace.get_run(_run(run)), name, path, details)
    if as_json:
        screen.document(made)
        return
    print(f"Registered {made['id']} ({formatting.count(made['files'], 'file')}, {formatting.size(made['size'])}).")
    print(f"Next: {formatting.program()} models show {made['id']}")


def rm(
    models: Annotated[
        list[str],
        Argument(metavar="MODEL...", help="NAME:VERSION of each.", show_default=False, autocompletion=model_names),
    ],
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete versions for good, with those of their files that nothing else uses."""
    from runyard.sdk.model.refusals import translated

    for each in models:
        if ":" not in each:
            raise bad_parameter(f"{each!r} does not say which version: {each}:1, for example.", "MODEL")
    workspace = _workspace()
    found = [_model(workspace, each) for each in dict.fromkeys(models)]
    agreed(f"Delete {', '.join(each.id for each in found)} for good?", yes, "Nothing was deleted.")
    freed = 0
    for model in found:
        with translated():
            freed += int(workspace.service.delete(model._address())["bytes_freed"])
    if as_json:
        screen.document({"deleted": [each.id for each in found], "bytes_freed": freed})
    else:
        print(f"Deleted {', '.join(each.id for each in found)}; {formatting.size(freed)} came free.")


def _row(model: ModelDocument) -> tuple[str, ...]:
    created = formatting.ago(formatting.moment(model["created_at"]))
    size = formatting.size(model["size"])
    return model["name"], str(model["version"]), _framework(model), size, created, model["run_id"] or ""


def _framework(model: ModelDocument) -> str:
    return " ".join(filter(None, (model["framework"], model["framework_version"])))


def _facts(model: ModelDocument) -> list[tuple[str, str]]:
    created = formatting.moment(model["created_at"])
    by = f" by {model['created_by']}" if model["created_by"] else ""
    facts: list[tuple[str, Any]] = [
        ("framework", _framework(model)),
        ("created", f"{formatting.local(created)} ({formatting.ago(created)}){by}"),
        ("run", model["run_id"]),
        ("experiment", model["experiment"]),
        ("description", model["description"]),
        ("tags", _labels(model["tags"])),
        ("properties", _labels(model["properties"])),
        ("needs", _resources(model["resource_configuration"] or {})),
        ("datasets", ", ".join(f"{each['name']}: {each['id']}" for each in model["datasets"])),
        ("sample input", model["sample_input_dataset"]),
        ("sample output", model["sample_output_dataset"]),
        ("services", ", ".join(model["services"])),
        ("size", f"{formatting.size(model['size'])}, {formatting.count(model['files'], 'file')}"),
    ]
    return [(name, str(text)) for name, text in facts if text]


def _labels(labels: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in labels.items())


def _resources(needed: dict[str, Any]) -> str:
    words = {"cpu": "{} cores", "memory_in_gb": "{} GB of memory", "gpu": "{} GPUs"}
    return ", ".join(text.format(needed[key]) for key, text in words.items() if needed.get(key) is not None)


def _files(model: Model) -> list[tuple[str, int]]:
    from runyard.sdk.model.fetching import entries_of

    return [(entry.path, entry.size) for entry in entries_of(model.workspace, model._document)]


def _model(workspace: Workspace, text: str) -> Model:
    from runyard.sdk.model.model import Model

    return Model(workspace, id=text) if ":" in text else Model(workspace, text)


def _run(text: str) -> str:
    """The id of the run that a user means."""
    from runyard.cli import api

    return api.connect().find(text)["id"]


def _workspace() -> Workspace:
    from runyard.sdk.workspace.workspace import Workspace

    return Workspace.from_config()


app = group("models", "Models: what is registered, its files, and where it came from.")

app.command()(ls)
app.command()(show)
app.command()(get)
app.command()(register)
app.command()(rm)
