"""With one path: writes a classifier of scikit-learn there. With `load` before it: loads it, as any script that serves
it must, answers a row, and says what that took."""

from __future__ import annotations

import json
import os
import sys
import time

began = time.perf_counter()
import joblib  # type: ignore[import-untyped, import-not-found, unused-ignore] # noqa: E402

*load, path = sys.argv[1:]
if load:
    model = joblib.load(path)
    model.predict([[5.1, 3.5, 1.4, 0.2]])
    with open("/proc/self/statm") as file:
        memory = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    print(json.dumps({"seconds": time.perf_counter() - began, "memory": memory}))
else:
    from sklearn.datasets import load_iris  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped, import-not-found, unused-ignore]

    joblib.dump(LogisticRegression(max_iter=500).fit(*load_iris(return_X_y=True)), path)
