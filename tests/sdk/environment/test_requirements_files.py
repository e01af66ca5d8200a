from pathlib import Path

import pytest

from runyard.sdk.environment import requirements_files
from runyard.sdk.exceptions import UserErrorException


def test_a_file_with_comments_continuations_and_others_inside(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "base.txt").write_text("numpy\n-f ../wheels\n-r deeper.txt\n")
    (tmp_path / "more" / "deeper.txt").write_text("scipy\n")
    (tmp_path / "all.txt").write_text(
        "# what we need\n--extra-index-url https://i.example  # ours\n-r more/base.txt\ntorch \\\n  ==1.6.0\n\n"
        "a @ https://h.example/a.whl#sha256=1\n-e git+https://g.example/b.git#egg=b\n"
    )
    assert requirements_files.read(tmp_path / "all.txt") == [
        "--extra-index-url https://i.example",
        "numpy",
        f"--find-links {tmp_path / 'wheels'}",
        "scipy",
        "torch    ==1.6.0",
        "a @ https://h.example/a.whl#sha256=1",
        "git+https://g.example/b.git#egg=b",
    ]


def test_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("-r b.txt\n")
    (tmp_path / "b.txt").write_text("--requirement=a.txt\n")
    with pytest.raises(UserErrorException, match=r"a\.txt includes itself: .*a\.txt → .*b\.txt → .*a\.txt"):
        requirements_files.read(tmp_path / "a.txt")


def test_a_file_twice_is_no_cycle(tmp_path: Path) -> None:
    (tmp_path / "base.txt").write_text("numpy\n")
    (tmp_path / "a.txt").write_text("-r base.txt\n-r base.txt\n")
    assert requirements_files.read(tmp_path / "a.txt") == ["numpy", "numpy"]


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no requirements file at .nowhere\.txt"):
        requirements_files.read("nowhere.txt")
    (tmp_path / "a.txt").write_text("-r base.txt\n")
    with pytest.raises(FileNotFoundError, match=r"a\.txt includes 'base\.txt', but there is no file .*base\.txt"):
        requirements_files.read(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_text("-r https://h.example/base.txt\n")
    with pytest.raises(UserErrorException, match="download it"):
        requirements_files.read(tmp_path / "a.txt")


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "--index-url https://i.example\n"])
def test_a_file_without_packages_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(UserErrorException, match=r"a\.txt holds no packages"):
        requirements_files.read(tmp_path / "a.txt")


def test_what_does_not_travel_is_refused_with_the_file(tmp_path: Path) -> None:
    for line in ("./pkg", "-e .", "-c limits.txt"):
        (tmp_path / "a.txt").write_text(f"numpy\n{line}\n")
        with pytest.raises(UserErrorException, match=rf"a\.txt: '{line}'"):
            requirements_files.read(tmp_path / "a.txt")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("numpy\n".encode("utf-16"))
    with pytest.raises(UserErrorException, match="no text in UTF-8"):
        requirements_files.read(tmp_path / "a.txt")
