import pytest
from hypothesis import given
from hypothesis import strategies as st

from runyard.contracts import pip_requirements
from runyard.sdk.environment import requirement_lines
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
    assert requirement_lines.merge(lines) == merged


def test_two_addresses_for_one_package_are_refused() -> None:
    with pytest.raises(UserErrorException, match="a is asked for twice"):
        requirement_lines.merge(["a @ https://h.example/1.whl", "a==2"])


packages = st.from_regex(r"[a-z][a-z0-9]{0,5}(==[0-9]\.[0-9]|>=[0-9]|)", fullmatch=True)


@given(st.lists(packages))
def test_merging_twice_changes_nothing(lines: "list[str]") -> None:
    once = requirement_lines.merge(lines)
    assert requirement_lines.merge(once) == once
    assert {pip_requirements.parse(each).key for each in once} == {pip_requirements.parse(each).key for each in lines}
    assert len(once) == len({pip_requirements.parse(each).key for each in once})


@pytest.mark.parametrize(
    "line",
    ["./pkg", ".", ".[extra]", "../x.whl", "/srv/x.whl", "~/x", "pkg/", "x-1.0-py3-none-any.whl", "x @ ./x", "file:x"],
)
def test_a_path_is_refused_with_the_way_out(line: str) -> None:
    with pytest.raises(UserErrorException, match=r"mine\.txt: .*on this machine's disk.*add_private_pip_wheel"):
        requirement_lines.portable(line, "mine.txt")


@pytest.mark.parametrize(
    "line",
    [
        "numpy~=1.2",
        "a-b_c[x,y]>=1,!=2; python_version < '3.9'",
        "x==1.0 --hash=sha256:00",
        "git+ssh://git@g.example/a.git@main",
        "x @ https://h.example/x.whl",
        "file:///srv/x-1.0-py3-none-any.whl",
        f"runyard://wheels/{'0' * 64}/x-1.0-py3-none-any.whl",
        "--index-url https://i.example/simple",
        "-c https://h.example/constraints.txt",
        "--find-links /srv/wheels",
    ],
)
def test_what_can_be_built_anywhere_stays_as_it_is(line: str) -> None:
    assert requirement_lines.portable(f" {line} ") == line


def test_an_address_of_a_private_wheel_is_no_name() -> None:
    one, other = (f"runyard://wheels/{'0' * 64}/{name}-1.0-py3-none-any.whl" for name in "ab")
    assert pip_requirements.parse(one).name is None
    assert pip_requirements.same_package(one, one)
    assert not pip_requirements.same_package(one, other)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-e .", "installs a folder of this machine.*source folder"),
        ("--editable=./pkg", "installs a folder"),
        ("-r other.txt", "from_pip_requirements"),
        ("-c limits.txt", "a file of constraints.*into the requirements"),
    ],
)
def test_options_that_hang_on_files_are_refused(line: str, message: str) -> None:
    with pytest.raises(UserErrorException, match=message):
        requirement_lines.portable(line)


def test_credentials_are_in_no_refusal() -> None:
    for line in ("./a --index-url https://me:hush@i.example", "-c ./x?https://me:hush@h.example"):
        with pytest.raises(UserErrorException) as refusal:
            requirement_lines.portable(line)
        assert "hush" not in str(refusal.value)
    with pytest.raises(UserErrorException) as refusal:
        requirement_lines.merge(["a @ https://me:hush@h.example/1.whl", "a==2"])
    assert "hush" not in str(refusal.value)
