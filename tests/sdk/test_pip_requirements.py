from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.sdk import pip_requirements
from runyard.sdk.exceptions import UserErrorException


@pytest.mark.parametrize(
    ("lines", "merged"),
    [
        (["numpy==1.0", "numpy==2"], ["numpy==1.0,==2"]),
        (["numpy", "Numpy>=1"], ["numpy>=1"]),
        (["numpy>=1", "numpy>=1"], ["numpy>=1"]),
        (["scikit_learn<1", "scikit-learn[alldeps]>0"], ["scikit_learn[alldeps]<1,>0"]),
        (["x==1; python_version<'3.9'", "x==2"], ["x==1; python_version<'3.9'", "x==2"]),
        (
            ["--index-url https://i.example", "a", "--index-url https://i.example"],
            ["--index-url https://i.example", "a"],
        ),
        (
            ["git+https://g.example/a.git", "https://h.example/b.whl"],
            ["git+https://g.example/a.git", "https://h.example/b.whl"],
        ),
        (["a @ https://h.example/a.whl", "a @ https://h.example/a.whl"], ["a @ https://h.example/a.whl"]),
        (["", "  "], []),
    ],
)
def test_lines_about_one_package_are_joined(lines: "list[str]", merged: "list[str]") -> None:
    assert pip_requirements.merge(lines) == merged


def test_two_addresses_for_one_package_are_refused() -> None:
    with pytest.raises(UserErrorException, match="a is asked for twice"):
        pip_requirements.merge(["a @ https://h.example/1.whl", "a==2"])


packages = st.from_regex(r"[a-z][a-z0-9]{0,5}(==[0-9]\.[0-9]|>=[0-9]|)", fullmatch=True)


@given(st.lists(packages))
def test_merging_twice_changes_nothing(lines: "list[str]") -> None:
    once = pip_requirements.merge(lines)
    assert pip_requirements.merge(once) == once
    assert {pip_requirements.parse(each).key for each in once} == {pip_requirements.parse(each).key for each in lines}
    assert len(once) == len({pip_requirements.parse(each).key for each in once})


def test_a_file_with_comments_continuations_and_others_inside(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "base.txt").write_text("numpy\n")
    (tmp_path / "all.txt").write_text(
        "# what we need\n--extra-index-url https://i.example  # ours\n-r more/base.txt\ntorch \\\n  ==1.6.0\n\n"
        "a @ https://h.example/a.whl#sha256=1\n"
    )
    assert pip_requirements.read_file(tmp_path / "all.txt") == [
        "--extra-index-url https://i.example",
        "numpy",
        "torch    ==1.6.0",
        "a @ https://h.example/a.whl#sha256=1",
    ]


def test_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("-r b.txt\n")
    (tmp_path / "b.txt").write_text("--requirement=a.txt\n")
    with pytest.raises(UserErrorException, match="includes itself"):
        pip_requirements.read_file(tmp_path / "a.txt")
