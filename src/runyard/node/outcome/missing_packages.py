"""Which package to install for a module that could not be imported: mostly the same name, and a table of the others."""

from __future__ import annotations

import re

_MISSING = re.compile(r"No module named '?([\w.]+)'?")

_PACKAGES = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "Crypto": "pycryptodome",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "PyMuPDF",
    "git": "GitPython",
    "google.cloud.bigquery": "google-cloud-bigquery",
    "google.cloud.storage": "google-cloud-storage",
    "google.protobuf": "protobuf",
    "igraph": "python-igraph",
    "imblearn": "imbalanced-learn",
    "jwt": "PyJWT",
    "Levenshtein": "python-Levenshtein",
    "lightning_fabric": "lightning-fabric",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "MySQLdb": "mysqlclient",
    "nacl": "PyNaCl",
    "OpenSSL": "pyOpenSSL",
    "osgeo": "GDAL",
    "PIL": "pillow",
    "pkg_resources": "setuptools",
    "pl_bolts": "lightning-bolts",
    "psycopg2": "psycopg2-binary",
    "pycocotools": "pycocotools",
    "pytorch_lightning": "pytorch-lightning",
    "pywt": "PyWavelets",
    "ruamel": "ruamel.yaml",
    "sentence_transformers": "sentence-transformers",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "skopt": "scikit-optimize",
    "tensorflow_datasets": "tensorflow-datasets",
    "umap": "umap-learn",
    "usb": "pyusb",
    "win32api": "pywin32",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}

_DEEPEST = max(module.count(".") for module in _PACKAGES) + 1


def missing_module(message: str) -> str | None:
    """The module that the message of a ModuleNotFoundError names.

    >>> missing_module("No module named 'sklearn.svm'")
    'sklearn.svm'
    """
    match = _MISSING.search(message)
    return match[1] if match else None


def package_for(module: str) -> str:
    """The package that brings a module.

    >>> package_for("sklearn.svm"), package_for("numpy.linalg"), package_for("google.cloud.storage.blob")
    ('scikit-learn', 'numpy', 'google-cloud-storage')
    """
    parts = module.split(".")
    for length in range(min(len(parts), _DEEPEST), 0, -1):
        known = _PACKAGES.get(".".join(parts[:length]))
        if known is not None:
            return known
    return parts[0]
