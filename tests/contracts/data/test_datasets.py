"""Which files a dataset means, and where a script finds them: a wrong layout breaks scripts that ran in SDK v1."""

from __future__ import annotations

import pytest

from runyard.contracts.data import datasets
from runyard.contracts.data.datasets import BadDefinition, Definition, Source, layout, matcher, parse


def of_store(*paths: str) -> Definition:
    return Definition("file", tuple(Source(datastore="store", path=path) for path in paths))


def of_web(*urls: str) -> Definition:
    return Definition("file", tuple(Source(url=url) for url in urls))


TREE = ["d/a.csv", "d/.hidden", "d/_x", "d/sub/c.csv", "d/sub/deep/e.csv", "dd/a.csv", "top.csv"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("d/a.csv", ["d/a.csv"]),
        ("d", TREE[:5]),
        ("/d/", TREE[:5]),
        ("", TREE),
        ("d/*", ["d/a.csv", "d/.hidden", "d/_x"]),
        ("d/**/*.csv", ["d/a.csv", "d/sub/c.csv", "d/sub/deep/e.csv"]),
        ("**/*", TREE),
        ("**", TREE),
        ("d/**", TREE[:5]),
        ("d?/a.csv", ["dd/a.csv"]),
        ("*.csv", ["top.csv"]),
        ("d*/a.csv", ["d/a.csv", "dd/a.csv"]),
        ("d/***.csv", ["d/a.csv"]),
        ("d/a.cs", []),
        ("d/[a].csv", []),
    ],
)
def test_a_pattern_means_the_files_that_sdk_v1_finds(pattern: str, found: list[str]) -> None:
    assert [path for path in TREE if matcher(pattern)(path)] == found


@pytest.mark.parametrize(
    ("source", "path", "there"),
    [
        ("d/a.csv", "d/a.csv", "/a.csv"),
        ("d", "d/sub/c.csv", "/sub/c.csv"),
        ("d/", "d/a.csv", "/a.csv"),
        ("", "d/a.csv", "/d/a.csv"),
        ("g/x*/a.txt", "g/x1/a.txt", "/x1/a.txt"),
        ("g/**", "g/x/y", "/x/y"),
        ("*.csv", "top.csv", "/top.csv"),
        ("g/x?/a.txt", "g/x1/a.txt", "/g/x1/a.txt"),
        ("a b/ü.csv", "a b/ü.csv", "/ü.csv"),
    ],
)
def test_of_one_path_the_folder_is_cut(source: str, path: str, there: str) -> None:
    definition = of_store(source)
    assert layout(definition, definition.sources[0], path) == there


def test_of_several_paths_nothing_is_cut() -> None:
    definition = of_store("d/a.csv", "e/**")
    assert layout(definition, definition.sources[0], "d/a.csv") == "/store/d/a.csv"
    assert layout(definition, definition.sources[1], "e/f/g") == "/store/e/f/g"


@pytest.mark.parametrize(
    ("url", "alone", "among_others"),
    [
        ("https://h.org/d/a.gz", "/a.gz", "/https%3A/%2Fh.org/d/a.gz"),
        ("http://h.org:80/a.csv?x=1", "/a.csv%3Fx=1", "/http%3A/%2Fh.org%3A80/a.csv%3Fx=1"),
        ("http://h.org/a%20b", "/a%2520b", "/http%3A/%2Fh.org/a%2520b"),
        ("http://h.org/../b", "/b", "/http%3A/%2Fh.org/%2E%2E/b"),
        ("http://h.org/a//b", "/%2Fb", "/http%3A/%2Fh.org/a/%2Fb"),
    ],
)
def test_addresses_are_percent_encoded(url: str, alone: str, among_others: str) -> None:
    one, two = of_web(url), of_web(url, "http://other.org/x")
    assert layout(one, one.sources[0]) == alone
    assert layout(two, two.sources[0]) == among_others
    assert datasets.is_safe(alone)
    assert datasets.is_safe(among_others)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {},
        {"kind": "tabular", "sources": [{"url": "http://h/a"}]},
        {"kind": "file", "sources": []},
        {"kind": "file", "sources": [{"url": "http://h/a"}, {"datastore": "d", "path": "x"}]},
        {"kind": "file", "sources": [{"url": "file:///etc/passwd"}]},
        {"kind": "file", "sources": [{"url": "http://user:word@h/a"}]},
        {"kind": "file", "sources": [{"url": "http://h/folder/"}]},
        {"kind": "file", "sources": [{"url": "http://h/*.csv"}]},
        {"kind": "file", "sources": [{"url": "http://h/a b"}]},
        {"kind": "file", "sources": [{"datastore": "d", "path": "a/../../x"}]},
        {"kind": "file", "sources": [{"datastore": "../d", "path": "a"}]},
        {"kind": "file", "sources": [{"url": "http://h/a"}], "steps": [{"step": "take", "count": -1}]},
        {"kind": "file", "sources": [{"url": "http://h/a"}], "steps": [{"step": "take", "count": True}]},
        {
            "kind": "file",
            "sources": [{"url": "http://h/a"}],
            "steps": [{"step": "sample", "probability": 2, "seed": 1}],
        },
        {"kind": "file", "sources": [{"url": "http://h/a"}], "steps": [{"step": "explode"}]},
        {"kind": "file", "sources": [{"url": "http://h/a"}], "partition_format": "/{x/"},
        {"kind": "file", "sources": [{"url": "http://h/a"}], "partition_format": 3},
        {"kind": "file", "sources": [{"url": "http://h/a"}], "steps": [{"step": "filter"}]},
        {"kind": "file", "sources": [{"url": "http://h/a"}], "steps": [{"step": "filter", "expression": {"x": 1}}]},
        {"kind": "file", "sources": [{"url": "http://h/a"}], "more": 1},
    ],
)
def test_what_is_no_definition_is_refused_in_words(wrong: object) -> None:
    with pytest.raises(BadDefinition) as refused:
        parse(wrong)
    assert refused.value.message.endswith(".")


@pytest.mark.parametrize("path", ["/../x", "x", "/a//b", "/./a", "/a/..", "/", "/a\0"])
def test_no_layout_path_leaves_its_folder(path: str) -> None:
    assert not datasets.is_safe(path)


def test_one_file_by_its_path_may_be_single() -> None:
    assert of_web("http://h/a").may_be_single
    assert of_store("d/a").may_be_single
    assert not of_store("d/*").may_be_single
    assert not of_store("a", "b").may_be_single
    assert not Definition("file", of_store("a").sources, ({"step": "take", "count": 1},)).may_be_single


@pytest.mark.parametrize("name", ["", " ", "a/b", "a\nb", None, "x" * 300])
def test_names_are_checked(name: object) -> None:
    with pytest.raises(BadDefinition):
        datasets.check_name(name)
    with pytest.raises(BadDefinition):
        datasets.check_input(name)
    assert datasets.check_name("mnist-dataset") == "mnist-dataset"
    assert datasets.check_input("input__0123abcd") == "input__0123abcd"


@pytest.mark.parametrize(
    "url", ["https://me:s3cr3t@h/a.csv", "https://h/a.csv?sv=1&sig=s3cr3t", "https://h/a?X-Amz-Signature=s3cr3t"]
)
def test_credentials_in_an_address_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(BadDefinition) as refused:
        parse({"kind": "file", "sources": [{"url": url}]})
    assert "s3cr3t" not in str(refused.value)
