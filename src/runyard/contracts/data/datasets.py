"""Definitions of datasets: what may be in one, which files a path means, and where each file lies in a run.

A definition is JSON: `{"kind": "file", "sources": [...], "steps": [...]}`. A source is an address, `{"url": ...}`, or a
path or pattern, `{"datastore": name, "path": ...}`. Steps choose among the files (`file_steps`). What the kind
`tabular` has besides is in `tables`. Nothing is read here.
"""

from __future__ import annotations

import os
import posixpath
import re
from typing import Any, Callable, Mapping

from runyard.contracts.data.patterns import compiled
from runyard.contracts.secrets import mask
from runyard.system.records import record

FILE, TABULAR = "file", "tabular"
TAKE, SKIP, SAMPLE, FILTER = "take", "skip", "sample", "filter"
MOUNT, DOWNLOAD, DIRECT = "mount", "download", "direct"
MODES = (DIRECT, DOWNLOAD, MOUNT)
VARIABLES = "AZUREML_DATASET_ENVIRONMENT_VARS"
"""The environment variable with the names of a run's inputs; `:direct` follows those of which the run gets the id."""
PATH_VARIABLE = "AZUREML_DATAREFERENCE_"
"""The variable with an input's path begins with this; its name follows."""
OF_THE_SYSTEM = ("path", "ld_library_path", "user", "logname", "home", "pwd", "shell")
"""Names of variables that programs rely on: an input of such a name must not hide one of them."""

MOST_SOURCES = 10_000
LONGEST = 4_096
WEB = ("http://", "https://")

_NAME = re.compile(r"[a-zA-Z0-9_][\w-]{0,254}", re.ASCII)
_INPUT = re.compile(r"[a-zA-Z0-9_]{1,255}", re.ASCII)
_ENCODED = re.compile(r'[\x00-\x1f\x7f%:?#*"<>|\\]')


class BadDefinition(ValueError):
    """What is wrong with a definition; `help` is what to do."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(f"{message} {help}".strip())
        self.message, self.help = message, help


@record(frozen=True)
class Source:
    """Where files come from: an address, or a path (perhaps a pattern) in a datastore."""

    url: str | None = None
    datastore: str | None = None
    path: str = ""

    def __str__(self) -> str:
        return self.url if self.url is not None else f"('{self.datastore}', '{self.path}')"


@record(frozen=True)
class Definition:
    kind: str
    sources: tuple[Source, ...]
    steps: tuple[Mapping[str, Any], ...] = ()
    partition_format: str | None = None  # of the files' paths, for the steps of files

    @property
    def several(self) -> bool:
        """Whether nothing is cut from the paths of the files: there is more than one source."""
        return len(self.sources) > 1

    @property
    def may_be_single(self) -> bool:
        """Whether this can mean one file by its own path, so that a run gets the path of the file."""
        return len(self.sources) == 1 and not self.steps and not is_pattern(self.sources[0].path)


def parse(document: object) -> Definition:
    """A checked definition; BadDefinition says what is wrong."""
    if not isinstance(document, Mapping):
        raise BadDefinition("A dataset's definition is a JSON object.")
    tabular = document.get("kind") == TABULAR
    own = {"read", "timestamp"} if tabular else {"partition_format"}
    unknown = set(document) - ({"kind", "sources", "steps"} | own)
    if unknown:
        raise BadDefinition(f"A dataset's definition has no {min(unknown)!r}.")
    if document.get("kind") not in (FILE, TABULAR):
        raise BadDefinition(
            f"{str(document.get('kind'))[:40]!r} is no kind of dataset.", f"There is: {FILE}, {TABULAR}."
        )
    sources = document.get("sources")
    if not isinstance(sources, list) or not 1 <= len(sources) <= MOST_SOURCES:
        raise BadDefinition(f"A dataset has a list of 1 to {MOST_SOURCES:,} sources.", _FOR_EXAMPLE)
    found = tuple(_source(each) for each in sources)
    if len({each.url is None for each in found}) > 1:
        raise BadDefinition("A dataset cannot have web addresses and datastores both.", "Make two datasets.")
    if tabular:
        from runyard.contracts.data import tables

        tables.check(document)
        return Definition(TABULAR, found)  # its steps choose rows, not files
    from runyard.contracts.data import file_steps

    steps, format = document.get("steps") or [], document.get("partition_format")
    if not isinstance(steps, list):
        raise BadDefinition("The steps of a dataset are a list.")
    if format is not None:
        file_steps.check_format(format)
    return Definition(FILE, found, tuple(file_steps.check(each) for each in steps), format)


def check_name(name: object) -> str:
    """The name that a dataset is registered under; BadDefinition when it is none."""
    if not isinstance(name, str) or not name.strip() or len(name) > 255 or re.search(r"[/\\\x00-\x1f\x7f]", name):
        raise BadDefinition(
            f"{str(name)[:80]!r} is no name for a dataset.",
            "Use up to 255 characters, without slashes: 'mnist-dataset'.",
        )
    return name


def check_input(name: object) -> str:
    """The name of an input or an output; BadDefinition when it is none."""
    if not isinstance(name, str) or not _INPUT.fullmatch(name):
        raise BadDefinition(
            f"{str(name)[:80]!r} is no name for an input.",
            "It becomes a part of a variable's name: use letters, digits and '_'.",
        )
    return name


# -- which files a path means -----------------------------------------------------------------------------------------


def is_pattern(path: str) -> bool:
    """
    >>> is_pattern("mnist/**"), is_pattern("mnist/train")
    (True, False)
    """
    return "*" in path or "?" in path


def normal(path: str) -> str:
    """A path on a datastore without a leading or trailing slash or `./`; empty for the whole datastore.

    >>> normal("/mnist/"), normal("./a/b"), normal(".")
    ('mnist', 'a/b', '')
    """
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def fixed_part(path: str) -> str:
    """The folder that a pattern begins with, as far as it has no wildcard: what has to be looked through.

    >>> fixed_part("a/b/*.csv"), fixed_part("*.csv"), fixed_part("a/b?/c")
    ('a/b', '', 'a')
    """
    first = min((path.index(each) for each in "*?" if each in path), default=len(path))
    return path[:first].rpartition("/")[0]


def base(path: str) -> str:
    """The folder that layout paths of a single pattern begin at: what comes before the first `*`. A `?` cuts nothing.

    >>> base("g/x*/a.txt"), base("g/x?/a.txt")
    ('g', '')
    """
    return path[: path.index("*")].rpartition("/")[0] if "*" in path else ""


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a path on a datastore is meant by a path or a pattern. A path without wildcards means the file of that
    path, or everything below the folder; `*` and `?` do not cross a `/`, and `**` does.

    >>> fits = matcher("d/**/*.csv")
    >>> fits("d/a.csv"), fits("d/sub/deep/c.csv"), fits("e/a.csv")
    (True, True, False)
    """
    wanted = normal(pattern)
    if not is_pattern(wanted):
        return lambda path: not wanted or path == wanted or path.startswith(wanted + "/")
    below, slash, last = wanted.rpartition("/")
    if last == "**" and not is_pattern(below):
        begin = below + slash
        return lambda path: path.startswith(begin) and path != begin
    fits = compiled(wanted).fullmatch
    return lambda path: fits(path) is not None


# -- where a file lies ------------------------------------------------------------------------------------------------


def layout(definition: Definition, source: Source, path: str = "") -> str:
    """The path of a file in `to_path()` and below a download's folder; `path` is the file's on the datastore.

    One source: from the folder of the file, the folder given, or the part before the first `*`. Several: all of it.
    """
    if source.url is not None:
        whole = _encoded(source.url)
        return "/" + (whole if definition.several else whole.rpartition("/")[2])
    return layout_of(definition, source)(path)


def layout_of(definition: Definition, source: Source) -> Callable[[str], str]:
    """`layout` for many files of one source in a datastore."""
    if definition.several:
        above = f"/{source.datastore}/"
        return lambda path: above + path
    wanted = normal(source.path)
    begin = base(wanted) if is_pattern(wanted) else wanted
    cut = len(begin) + 1 if begin else 0
    return lambda path: "/" + (posixpath.basename(path) if path == wanted else path[cut:])


def stored_paths(definition: Definition, source: Source, path: str) -> list[str]:
    """What `layout` may have been called with to give a path: the paths on the datastore that a file of the source
    with this layout path can have.

    >>> one = Source(datastore="store", path="d")
    >>> stored_paths(Definition(FILE, (one,)), one, "/sub/c.csv")
    ['d/sub/c.csv']
    """
    if source.datastore is None or not is_safe(path):
        return []
    wanted = normal(source.path)
    if definition.several:
        begin = f"/{source.datastore}/"
        found = [path[len(begin) :]] if path.startswith(begin) else []
    elif is_pattern(wanted):
        found = [posixpath.join(base(wanted), path[1:])]
    else:
        found = [posixpath.join(wanted, path[1:])]
        if posixpath.basename(wanted) == path[1:]:
            found.append(wanted)
    fits = matcher(wanted)
    return [each for each in found if fits(each)]


def mark_of_folder(status: os.stat_result) -> str:
    """What tells a folder from another one of the same path on another machine."""
    return f"{status.st_ino:x}-{status.st_mtime_ns:x}"


def is_safe(path: str) -> bool:
    """Whether a layout path can be put below a folder: nothing of it leaves the folder.

    >>> is_safe("/a/b.csv"), is_safe("/../b"), is_safe("a")
    (True, False, False)
    """
    if "/." not in path and "//" not in path:  # as nearly all are
        return path[:1] == "/" and path[-1:] != "/" and "\0" not in path
    parts = path.split("/")
    return len(parts) > 1 and parts[0] == "" and _ELSEWHERE.isdisjoint(parts[1:]) and "\0" not in path


_ELSEWHERE = frozenset(("", ".", ".."))


def _encoded(address: str) -> str:
    """
    >>> _encoded("https://example.org:8080/a/b%20c.csv?x=1")
    'https%3A/%2Fexample.org%3A8080/a/b%2520c.csv%3Fx=1'
    """
    safe = _ENCODED.sub(lambda found: f"%{ord(found[0]):02X}", address)
    parts: list[str] = []
    for part in safe.split("/"):
        parts.append({".": "%2E", "..": "%2E%2E"}.get(part, part))
    return re.sub(r"(?<=/)/", "%2F", "/".join(parts))


# -- checks -----------------------------------------------------------------------------------------------------------

_FOR_EXAMPLE = "A source is an address such as 'https://example.org/a.csv', or (datastore, 'folder/*.csv')."


def _source(document: object) -> Source:
    if not isinstance(document, Mapping):
        raise BadDefinition("A source of a dataset is a JSON object.", _FOR_EXAMPLE)
    if set(document) == {"url"}:
        return Source(url=_address(document["url"]))
    if set(document) == {"datastore", "path"}:
        store, path = document["datastore"], document["path"]
        if not isinstance(store, str) or not _NAME.fullmatch(store):
            raise BadDefinition(f"{str(store)[:80]!r} is no name of a datastore.")
        if not isinstance(path, str) or len(path) > LONGEST or "\0" in path or ".." in path.split("/"):
            raise BadDefinition(
                f"{str(path)[:200]!r} is no path in a datastore.", "It goes downwards from the datastore's root."
            )
        return Source(datastore=store.lower(), path=path)
    raise BadDefinition("A source has a url, or a datastore and a path.", _FOR_EXAMPLE)


def _address(url: object) -> str:
    if not isinstance(url, str) or len(url) > LONGEST or re.search(r"[\x00-\x20\x7f]", url):
        raise BadDefinition(f"{str(url)[:200]!r} is no web address.", _FOR_EXAMPLE)
    scheme, _, rest = url.partition("://")
    if scheme.lower() not in ("http", "https"):
        raise BadDefinition(
            f"This version of Runyard does not read {scheme[:20]}:// addresses yet.", "Use http:// or https://."
        )
    host, slash, name = rest.partition("/")
    if not host:
        raise BadDefinition(f"{url[:200]!r} names no host.", _FOR_EXAMPLE)
    if "@" in host or mask(url) != url:
        raise BadDefinition(
            f"{mask(url)[:200]!r} holds a password or a signature.",
            "A definition is stored, and shown to all who use it: take an address that needs none, or have the files "
            "in a folder of the server and map the address to it with `runyard data map`.",
        )
    if not slash or not name or name.endswith("/") or "*" in name:
        raise BadDefinition(
            f"{url[:200]!r} names no file: a web address is one file, and wildcards cannot be looked up.",
            "List the addresses of the files.",
        )
    return url
