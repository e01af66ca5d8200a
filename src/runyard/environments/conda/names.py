"""What conda's packages are called on PyPI: which lines of a conda file uv can serve, and which need conda itself."""

from __future__ import annotations

import re

from runyard.contracts.environment import DEFAULT_CHANNELS, Specification, conda_name, conda_version

PIP = "pip"
"""Named in most conda files, to install the rest. uv does that here."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ONLY_IN_CONDA = _words(
    """
    _libgcc_mutex _openmp_mutex blas bzip2 ca-certificates compilers cpuonly cuda cudatoolkit cudatoolkit-dev cudnn
    cupti cxx-compiler faiss-gpu fftw gcc gcc_linux-64 gfortran git gxx gxx_linux-64 hdf5 icu intel-openmp-runtime
    jpeg ld_impl_linux-64 libblas libcblas libffi libgcc libgcc-ng libgdal libgomp liblapack libopenblas libopencv
    libpng libprotobuf libstdcxx-ng libtiff libxml2 libxslt llvm-openmp magma-cuda101 matplotlib-base mesa-libgl-cos6
    mpich msgpack-python nccl ncurses nodejs numpy-base openblas opencv openjdk openmpi openssl pango proj
    py-opencv py-xgboost pyqt pytables python-graphviz python_abi pytorch pytorch-cpu pytorch-cuda pytorch-gpu
    pytorch-mutex r r-base r-essentials readline sqlite suitesparse tensorflow-base tensorflow-mkl tk
    torchaudio-cuda xz zlib zstd
    """
)
"""Well-known names that PyPI does not have, or has for something else."""

RENAMED = {
    "dask-core": "dask",
    "faiss-gpu": "faiss-cpu",
    "matplotlib-base": "matplotlib",
    "msgpack-python": "msgpack",
    "numpy-base": "numpy",
    "opencv": "opencv-python",
    "pil": "pillow",
    "py-opencv": "opencv-python",
    "py-xgboost": "xgboost",
    "pyqt": "pyqt5",
    "pytables": "tables",
    "python-graphviz": "graphviz",
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "sklearn": "scikit-learn",
    "tensorflow-base": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-mkl": "tensorflow",
}
"""Packages under another name on PyPI, or that have a new one. Only a workspace that relaxes pins follows it."""

BROUGHT_BY_WHEELS = _words(
    """
    _libgcc_mutex _openmp_mutex blas cpuonly cuda cudatoolkit cudnn cupti intel-openmp-runtime libblas libcblas libgcc
    libgcc-ng libgomp liblapack libopenblas libstdcxx-ng llvm-openmp magma-cuda101 nccl openblas python_abi
    pytorch-cuda pytorch-mutex
    """
)
"""Libraries that PyPI's wheels carry inside, so that a relaxed environment goes without the package."""

_BUILD = re.compile(r"(==?)?([\w.*+!-]+)=[\w.*]+")
_BARE = re.compile(r"[\w.+!-]+?(\.?\*)?")
_BOUNDS = re.compile(r"(?:(?:>=|<=|==|!=|~=|>|<)\s*[\w.*+!-]+(?:\s*,)?\s*)+")


def needs_conda(specification: Specification) -> list[str]:
    """The packages and channels of a specification that only conda can bring; empty: uv can build it."""
    needing = [line for line in specification.conda if _needs_conda(line)]
    channels = [each for each in specification.channels if each not in DEFAULT_CHANNELS]
    return needing + [f"channel {each}" for each in channels]


def requirement(line: str) -> str:
    """What a conda package is called in a requirements file.

    >>> requirement("numpy=1.18"), requirement("scipy==1.4.1"), requirement("pandas>=1,<2"), requirement("six")
    ('numpy==1.18.*', 'scipy==1.4.1', 'pandas>=1,<2', 'six')
    """
    name, version = conda_name(line), conda_version(line).split("|")[0]
    build = _BUILD.fullmatch(version)
    if build is not None:  # one build of one version: the version is what there is on PyPI
        return f"{name}=={build[2]}"
    if not version or version == "*":
        return name
    if _BARE.fullmatch(version):
        return f"{name}=={version.rstrip('*').rstrip('.')}.*"
    return f"{name}{version}"


def requirements(specification: Specification) -> dict[str, str]:
    """The conda part for PyPI: what is asked of PyPI, by conda's line."""
    return {line: requirement(line) for line in specification.conda if conda_name(line) != PIP}


def _needs_conda(line: str) -> bool:
    name, version = conda_name(line), conda_version(line)
    channel = line.split("::", 1)[0] if "::" in line else DEFAULT_CHANNELS[0]
    known = not version or any(form.fullmatch(version) for form in (_BUILD, _BARE, _BOUNDS))
    return name != PIP and (name in ONLY_IN_CONDA or channel not in DEFAULT_CHANNELS or not known)
