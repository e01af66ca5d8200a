"""Registers a model of scikit-learn and deploys it, in an environment that is there; says how long it took from the
call of `Model.deploy` to the first answer, and from the start of its process to readiness."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time

from azureml.core import Workspace
from azureml.core.model import Model

python, folder = sys.argv[1:]
os.chdir(folder)
ws = Workspace.from_config()
mapped = {"pattern": "runyard-serving-scikitlearn", "interpreter": python}
ws.service.put(f"/api/workspaces/{ws.name}/environment-maps", mapped)
with contextlib.redirect_stdout(io.StringIO()):
    model = Model.register(ws, "model.pkl", "measured", model_framework=Model.Framework.SCIKITLEARN)
    began = time.perf_counter()
    service = Model.deploy(ws, "measured", [model])
    service.wait_for_deployment()
    service.run('{"data": [[5.1, 3.5, 1.4, 0.2]]}')
    taken = time.perf_counter() - began
    (replica,) = ws.service.get(f"/api/workspaces/{ws.name}/services/measured")["replicas"]
    service.delete()
print(json.dumps({"seconds": taken, "memory": replica["memory"] or 0}))
