"""`hvd.elastic` of torch: a state of models, optimizers and values; see `horovod.core.elastic` for what it can do."""

from __future__ import annotations

import copy
import random
from typing import Any, Iterator

import torch

from ..core.elastic import State, run
from .functions import broadcast_object
from .mpi_ops import rank, size

__all__ = ["ElasticSampler", "ObjectState", "State", "TorchState", "run"]


def _everywhere(value: Any) -> Any:
    return broadcast_object(value, 0, "elastic state")


class ObjectState(State):
    """Values that can be pickled: `ObjectState(epoch=0, batch=0)`."""

    def __init__(self, **values: Any) -> None:
        super().__init__(_everywhere, **values)


class TorchState(State):
    """A model, an optimizer and values: `TorchState(model, optimizer, epoch=0)`."""

    def __init__(self, model: Any = None, optimizer: Any = None, **values: Any) -> None:
        handled = {"model": model, "optimizer": optimizer}
        handled.update({name: each for name, each in values.items() if hasattr(each, "load_state_dict")})
        self._handled = {name: each for name, each in handled.items() if each is not None}
        super().__init__(_everywhere, **{name: each for name, each in values.items() if name not in self._handled})
        self.__dict__.update(self._handled)

    def content(self) -> dict[str, Any]:
        states = {name: copy.deepcopy(each.state_dict()) for name, each in self._handled.items()}
        return {**super().content(), "states": states}

    def put(self, content: dict[str, Any]) -> None:
        super().put(content)
        for name, state in content["states"].items():
            if name in self._handled:
                self._handled[name].load_state_dict(state)


class ElasticSampler(torch.utils.data.Sampler):  # type: ignore[type-arg]
    """Shares a dataset out among the ranks, leaving out what was processed in this epoch."""

    def __init__(self, dataset: Any, shuffle: bool = True, seed: int = 0) -> None:
        self.dataset, self.shuffle, self.seed = dataset, shuffle, seed
        self.epoch = 0
        self.processed_indices: list[int] = []
        self.remaining_indices: list[int] = []
        self.reset()

    def set_epoch(self, epoch: int) -> None:
        self.epoch, self.processed_indices = epoch, []
        self.reset()

    def record_batch(self, batch_idx: int, batch_size: int) -> None:
        self.record_indices(self.get_indices(batch_idx, batch_size))

    def record_indices(self, indices: list[int]) -> None:
        self.processed_indices = sorted({*self.processed_indices, *indices})

    def get_indices(self, batch_idx: int, batch_size: int) -> list[int]:
        start = batch_idx * batch_size
        return self.indices[start : min(start + batch_size, len(self.indices))]

    def reset(self) -> None:
        done = set(self.processed_indices)
        self.remaining_indices = [each for each in range(len(self.dataset)) if each not in done]
        if self.shuffle:
            random.Random(self.seed + self.epoch).shuffle(self.remaining_indices)
        each = -(-len(self.remaining_indices) // size())
        filled = self.remaining_indices + self.remaining_indices[: each * size() - len(self.remaining_indices)]
        self.num_samples, self.total_size = each, each * size()
        self.indices = filled[rank() : self.total_size : size()]

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self.epoch, "processed_indices": self.processed_indices}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.epoch, self.processed_indices = state["epoch"], state["processed_indices"]
        self.reset()

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices)

    def __len__(self) -> int:
        return len(self.indices)
