"""Files of packages: those below the folder that was named, and none beside it."""

from __future__ import annotations

from runyard.server.studio import wheel_files


def test_files_of_a_package_and_none_beside_them() -> None:
    folder = wheel_files.place("jinja2", "jinja2")
    assert folder is not None
    found = wheel_files.file(folder, "filters.py")
    assert found is not None
    assert found.content == (folder / "filters.py").read_bytes()
    for name in ("", "../markupsafe/__init__.py", "/etc/passwd", "a\0b", "none.js", "x" * 300):
        assert wheel_files.file(folder, name) is None, name
    assert wheel_files.place("no-such-package", "x") is None
