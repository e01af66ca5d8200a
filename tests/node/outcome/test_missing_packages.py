from __future__ import annotations

import pytest

from runyard.node.outcome.missing_packages import missing_module, package_for


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("sklearn.svm", "scikit-learn"),
        ("cv2", "opencv-python"),
        ("PIL.Image", "pillow"),
        ("yaml", "pyyaml"),
        ("bs4", "beautifulsoup4"),
        ("skimage", "scikit-image"),
        ("torch", "torch"),
        ("google.cloud.storage.blob", "google-cloud-storage"),
    ],
)
def test_the_package_of_a_module(module: str, package: str) -> None:
    assert package_for(module) == package


@pytest.mark.parametrize(
    ("message", "module"),
    [
        ("No module named 'sklearn'", "sklearn"),
        ("No module named 'a.b'; 'a' is not a package", "a.b"),
        ("something else", None),
    ],
)
def test_the_module_in_a_message(message: str, module: str | None) -> None:
    assert missing_module(message) == module
