"""Fetch a bucket into a folder with s3fs, and say how long that took, without the time for its import.

fetch_s3fs.py ENDPOINT KEY SECRET BUCKET FOLDER
"""

from __future__ import annotations

import json
import sys
import time

import s3fs


def main(endpoint: str, key: str, secret: str, bucket: str, folder: str) -> None:
    begin = time.perf_counter()
    files = s3fs.S3FileSystem(key=key, secret=secret, endpoint_url=endpoint, client_kwargs={"region_name": "us-east-1"})
    files.get(bucket, folder, recursive=True)
    print(json.dumps(time.perf_counter() - begin))


if __name__ == "__main__":
    main(*sys.argv[1:])
