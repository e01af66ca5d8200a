"""A folder with the files of a dataset that are read lazily, as a process of its own, through FUSE. It is read-only.

    python -I -c ... <sdk folder> <order file>

The order is a JSON file, which is removed as soon as it is read: it may hold a token. "mounted" is printed once the
folder is there. It is there for as long as standard input is open, so that it goes with whoever asked for it, however
they end. `mfusepy` must be importable: it is an extra of the package.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import threading
from datetime import datetime
from pathlib import Path
from typing import Any, Mapping

from runyard.client.data.cache import Cache
from runyard.client.data.lazy import LazyFile, LazyFiles
from runyard.client.data.mounts import detach, source_of
from runyard.client.data.renewal import Renewal

NO_MODULE = 69  # EX_UNAVAILABLE

_UNCHANGED = 86400.0  # seconds for which the kernel may believe what it was told: nothing changes


class Tree:
    """The folders of a mount, by path."""

    def __init__(self, files: LazyFiles) -> None:
        self.files: dict[str, LazyFile] = {}
        self.folders: dict[str, dict[str, bool]] = {"/": {}}  # names in each, and whether it is a file
        for file in files.files:
            path = str(file.each["at"])
            self.files[path] = file
            above, _, name = path.rpartition("/")
            self._folder(above or "/")[name] = True

    def _folder(self, path: str) -> dict[str, bool]:
        found = self.folders.get(path)
        if found is None:
            found = self.folders[path] = {}
            above, _, name = path.rpartition("/")
            self._folder(above or "/")[name] = False
        return found


def main(order_file: str) -> None:
    order = json.loads(Path(order_file).read_text("utf-8"))
    os.unlink(order_file)
    try:
        import mfusepy
    except (ImportError, OSError) as error:  # OSError: there is no libfuse
        print(f"FUSE cannot be used by {sys.executable}: {error}", file=sys.stderr)
        sys.exit(NO_MODULE)
    place = str(order["place"])
    threading.Thread(target=_end_with_input, args=(place,), daemon=True).start()
    with Cache(Path(order["cache"])).lease() as lease:
        files = LazyFiles(order["files"], lease, _say, Renewal.of(order.get("renewal")))
        mounted = _operations(mfusepy, files)
        options = {"ro": True, "fsname": source_of(os.getpid()), "subtype": "runyard", "foreground": True}
        try:
            mfusepy.FUSE(mounted, place, **options)
        finally:
            files.close()
    os._exit(0)  # a thread may still wait for a web server


def _operations(fuse: Any, files: LazyFiles) -> Any:
    tree = Tree(files)
    me, group = os.getuid(), os.getgid()
    folder = {"st_mode": stat.S_IFDIR | 0o777, "st_nlink": 2, "st_uid": me, "st_gid": group}
    modes = {True: stat.S_IFREG | 0o777, False: stat.S_IFDIR | 0o777}
    opened: dict[str, int] = {}
    lock = threading.Lock()

    class Lazily(fuse.Operations):  # type: ignore[misc]
        use_ns = True

        def init_with_config(self, connection: Any, config: Any) -> None:
            if config is not None:
                config.kernel_cache = 1
                config.entry_timeout = config.attr_timeout = config.negative_timeout = _UNCHANGED
            if connection is not None:
                connection.max_readahead = 1 << 20
            os.write(1, b"mounted\n")

        def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
            file = tree.files.get(path)
            if file is not None:
                at = _nanoseconds(file.each)
                times = {"st_mtime": at, "st_ctime": at, "st_atime": at}
                return {**folder, "st_mode": modes[True], "st_nlink": 1, "st_size": file.size, **times}
            if path in tree.folders:
                return folder
            raise fuse.FuseOSError(errno.ENOENT)

        def readdir(self, path: str, fh: int) -> Any:
            names = tree.folders.get(path)
            if names is None:
                raise fuse.FuseOSError(errno.ENOENT)
            yield from (".", "..")
            for name, is_file in names.items():
                yield name, modes[is_file], 0

        def open(self, path: str, flags: int) -> int:
            if path not in tree.files:
                raise fuse.FuseOSError(errno.ENOENT)
            if flags & (os.O_WRONLY | os.O_RDWR):
                raise fuse.FuseOSError(errno.EROFS)
            with lock:
                opened[path] = opened.get(path, 0) + 1
            return 0

        def release(self, path: str, fh: int) -> int:
            with lock:
                opened[path] -= 1
                if opened[path]:
                    return 0
                del opened[path]
            files.close_file(tree.files[path])
            return 0

        def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
            try:
                return files.read(tree.files[path], offset, size)
            except Exception as error:
                _say(f"{path} cannot be read: {error}")
                raise fuse.FuseOSError(errno.EIO) from error

        def statfs(self, path: str) -> dict[str, int]:
            blocks = sum(file.size for file in files.files) // 4096
            return {"f_bsize": 4096, "f_frsize": 4096, "f_blocks": blocks, "f_bavail": 0, "f_namemax": 255}

    return Lazily()


def _end_with_input(place: str) -> None:
    while os.read(0, 1):
        continue
    detach(place)


def _say(line: str) -> None:
    print(f"mount: {line}", file=sys.stderr, flush=True)


def _nanoseconds(each: Mapping[str, Any]) -> int:
    try:
        at = datetime.strptime(f"{each['modified']}+0000", "%Y-%m-%dT%H:%M:%S.%fZ%z")
    except ValueError:
        return 0
    return int(at.timestamp() * 1e9)
