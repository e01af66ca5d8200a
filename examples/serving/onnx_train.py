"""Trains a small network with PyTorch, exports it to ONNX, and keeps its answers to compare a service's with.

outputs/model.onnx      what is registered and served by ONNX Runtime, with no code
outputs/answers.json    rows, and what PyTorch itself makes of them
"""

from __future__ import annotations

import json
from pathlib import Path

import torch

from azureml.core import Run

FEATURES, CLASSES, STEPS = 20, 3, 200

torch.manual_seed(7)
centres = torch.randn(CLASSES, FEATURES) * 2
labels = torch.randint(CLASSES, (600,))
rows = centres[labels] + torch.randn(600, FEATURES)

model = torch.nn.Sequential(
    torch.nn.Linear(FEATURES, 32), torch.nn.ReLU(), torch.nn.Linear(32, CLASSES), torch.nn.Softmax(dim=1)
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
run = Run.get_context()
for step in range(STEPS):
    loss = torch.nn.functional.nll_loss(torch.log(model(rows) + 1e-9), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        run.log("loss", loss.item())

model.eval()
outputs = Path("outputs")
outputs.mkdir(exist_ok=True)
# A batch of any size: the first dimension has a name instead of a number. One file: weights are not kept beside it.
batch = torch.export.Dim("batch")
torch.onnx.export(
    model,
    (rows[:2],),
    str(outputs / "model.onnx"),
    input_names=["rows"],
    output_names=["chances"],
    dynamic_shapes=({0: batch},),
    dynamo=True,
    external_data=False,
)
with torch.no_grad():
    answers = model(rows[:5])
(outputs / "answers.json").write_text(json.dumps({"rows": rows[:5].tolist(), "chances": answers.tolist()}))
print(f"Accuracy {(model(rows).argmax(1) == labels).float().mean():.2f}; exported to {outputs / 'model.onnx'}")
