"""What every rank checks of `horovod.torch`: against what the mathematics say, not against the layer itself."""

from __future__ import annotations

import importlib
import os
import warnings

import horovod.torch as hvd
import torch
from tests.support.horovod_checks import refused, run_all
from tests.support.ports import free_port

REDUCED = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64]
REDUCED += [torch.bfloat16]
MOVED = [*REDUCED, torch.bool, torch.complex64]
SHAPES = [(), (1,), (0,), (7,), (3, 0), (5, 3), (2, 3, 4), (1, 1, 1, 1, 17)]


def of_rank(rank: int, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """A tensor that any rank can make for any other."""
    made = torch.arange(max(1, torch.Size(shape).numel()), dtype=torch.float64)[: torch.Size(shape).numel()]
    made = (made % 5 + rank + 1).reshape(shape)
    return (made % 2).to(dtype) if dtype == torch.bool else made.to(dtype)


def all_ranks(shape: tuple[int, ...], dtype: torch.dtype) -> list[torch.Tensor]:
    return [of_rank(rank, shape, dtype) for rank in range(hvd.size())]


def check_every_name_is_there() -> None:
    for name in ["horovod.torch"]:
        module = importlib.import_module(name)
        assert not [each for each in module.__all__ if not hasattr(module, each)]


def check_who_is_who() -> None:
    assert hvd.is_initialized()
    assert (hvd.rank(), hvd.size()) == (int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    assert (hvd.local_rank(), hvd.local_size()) == (hvd.rank() % 2, 2)
    assert (hvd.cross_rank(), hvd.cross_size()) == (hvd.rank() // 2, hvd.size() // 2)
    assert hvd.is_homogeneous()
    assert hvd.gloo_built()
    assert hvd.gloo_enabled()
    assert not hvd.mpi_built()
    assert not hvd.mpi_enabled()
    assert not hvd.mpi_threads_supported()
    assert not hvd.ddl_built()
    assert not hvd.ccl_built()
    assert not hvd.cuda_built()
    assert not hvd.rocm_built()


def check_allreduce_of_every_type_and_shape() -> None:
    for dtype in REDUCED:
        for shape in SHAPES:
            given = of_rank(hvd.rank(), shape, dtype)
            kept = given.clone()
            stack = torch.stack(all_ranks(shape, torch.float64))
            for op, wanted in (
                (hvd.Sum, stack.sum(0)),
                (hvd.Min, stack.amin(0)),
                (hvd.Max, stack.amax(0)),
                (hvd.Product, stack.prod(0)),
                (hvd.Average, stack.mean(0)),
            ):
                if dtype == torch.int8 and op == hvd.Product:
                    continue  # it does not fit
                found = hvd.allreduce(given, op=op)
                assert found.dtype == dtype
                assert found.shape == given.shape
                if op == hvd.Average and not dtype.is_floating_point:
                    wanted = (stack.sum(0) / hvd.size()).floor()
                if op == hvd.Product and dtype == torch.uint8:
                    wanted = wanted % 256
                close = {torch.float16: 1e-2, torch.bfloat16: 3e-2}.get(dtype, 1e-6)
                assert torch.allclose(found.double(), wanted, rtol=close), (dtype, shape, op, found, wanted)
            assert torch.equal(given, kept), "what was handed in has changed"


def check_the_old_argument_for_averages() -> None:
    given = torch.tensor([1.0, 3.0]) * (hvd.rank() + 1)
    total = sum(range(1, hvd.size() + 1))
    assert torch.allclose(hvd.allreduce(given, average=False), torch.tensor([1.0, 3.0]) * total)
    assert torch.allclose(hvd.allreduce(given, average=True), torch.tensor([1.0, 3.0]) * total / hvd.size())
    assert torch.allclose(hvd.allreduce(given), torch.tensor([1.0, 3.0]) * total / hvd.size())
    with refused(ValueError):
        hvd.allreduce(given, average=True, op=hvd.Sum)


def check_scaling_before_and_after() -> None:
    given = torch.full((3,), float(hvd.rank() + 1))
    total = sum(range(1, hvd.size() + 1))
    found = hvd.allreduce(given, op=hvd.Sum, prescale_factor=0.5, postscale_factor=3.0)
    assert torch.allclose(found, torch.full((3,), 1.5 * total))
    whole = hvd.allreduce(torch.tensor([10, 20]), op=hvd.Sum, postscale_factor=0.5)
    assert whole.tolist() == [5 * hvd.size(), 10 * hvd.size()]


def check_in_place_and_not_contiguous() -> None:
    given = of_rank(hvd.rank(), (4, 6), torch.float32)
    wanted = torch.stack(all_ranks((4, 6), torch.float32)).sum(0)
    crossed = given.clone().t()
    assert torch.allclose(hvd.allreduce(crossed, op=hvd.Sum), wanted.t())
    assert torch.allclose(hvd.allreduce_(crossed, op=hvd.Sum), wanted.t())
    assert torch.allclose(crossed, wanted.t())
    part = given.clone()
    hvd.allreduce_(part[:, ::2], op=hvd.Sum)
    assert torch.allclose(part[:, ::2], wanted[:, ::2])
    assert torch.allclose(part[:, 1::2], given[:, 1::2])


def check_names_may_come_in_any_order() -> None:
    """The very thing that hangs with `torch.distributed`."""
    names = [f"in any order {number}" for number in range(20)]
    turned = names[hvd.rank() :] + names[: hvd.rank()]
    handles = {
        name: hvd.allreduce_async(torch.full((5,), float(names.index(name))), name=name, op=hvd.Sum) for name in turned
    }
    for name in names:
        assert torch.equal(hvd.synchronize(handles[name]), torch.full((5,), float(names.index(name)) * hvd.size()))


def check_handles() -> None:
    import time

    handle = hvd.allreduce_async_(torch.ones(3), name="polled", op=hvd.Sum)
    deadline = time.monotonic() + 60
    while not hvd.poll(handle):
        assert time.monotonic() < deadline
        time.sleep(0.001)
    assert hvd.synchronize(handle).tolist() == [float(hvd.size())] * 3
    with refused(ValueError):
        hvd.synchronize(handle)


def check_groups() -> None:
    shapes = [(3,), (2, 2), (), (0,), (5,)]
    types = [torch.float32, torch.float64, torch.int32, torch.float32, torch.float16]
    given = [of_rank(hvd.rank(), shape, dtype) for shape, dtype in zip(shapes, types, strict=True)]
    wanted = [torch.stack(all_ranks(shape, dtype)).sum(0) for shape, dtype in zip(shapes, types, strict=True)]
    found = hvd.grouped_allreduce(given, op=hvd.Sum, name="a group")
    assert all(torch.equal(one, other) for one, other in zip(found, wanted, strict=True))
    hvd.grouped_allreduce_(given, op=hvd.Sum)
    assert all(torch.equal(one, other) for one, other in zip(given, wanted, strict=True))
    rows = [torch.full((hvd.rank() + 1, 2), 1.0), torch.full((2,), hvd.rank())]
    first, second = hvd.grouped_allgather(rows)
    assert first.shape == (sum(range(1, hvd.size() + 1)), 2)
    assert second.tolist() == [rank for rank in range(hvd.size()) for _ in range(2)]


def check_allgather_of_every_type_with_different_rows() -> None:
    for dtype in MOVED:
        for rest in ((), (3,), (2, 0), (1, 2, 2)):
            given = of_rank(hvd.rank(), (hvd.rank() + 1, *rest), dtype)
            found = hvd.allgather(given)
            wanted = torch.cat([of_rank(rank, (rank + 1, *rest), dtype) for rank in range(hvd.size())])
            assert found.dtype == dtype
            assert torch.equal(found, wanted), (dtype, rest)
    nothing = hvd.allgather(torch.zeros((0, 4)) if hvd.rank() else torch.ones((2, 4)))
    assert torch.equal(nothing, torch.ones((2, 4)))


def check_broadcast_of_every_type_and_shape() -> None:
    for dtype in MOVED:
        for shape in SHAPES:
            for root in (0, hvd.size() - 1):
                given = of_rank(hvd.rank(), shape, dtype)
                found = hvd.broadcast(given, root)
                assert torch.equal(found, of_rank(root, shape, dtype)), (dtype, shape, root)
                assert torch.equal(given, of_rank(hvd.rank(), shape, dtype))
                hvd.broadcast_(given, root)
                assert torch.equal(given, found)


def check_alltoall() -> None:
    size, rank = hvd.size(), hvd.rank()
    for dtype in MOVED:
        splits = [to + 1 for to in range(size)]
        rows = torch.cat([of_rank(rank * 10 + to, (to + 1, 3), dtype) for to in range(size)])
        found, received = hvd.alltoall(rows, splits=torch.tensor(splits), name="rows")
        wanted = torch.cat([of_rank(one * 10 + rank, (rank + 1, 3), dtype) for one in range(size)])
        assert torch.equal(found, wanted)
        assert received.tolist() == [rank + 1] * size
    even = hvd.alltoall(torch.arange(size * 2))
    assert even.tolist() == [2 * rank, 2 * rank + 1] * size
    none, received = hvd.alltoall(torch.ones(size if rank == 0 else 0), splits=[int(rank == 0)] * size)
    assert (none.tolist(), received.tolist()) == ([1.0], [1] + [0] * (size - 1))


def check_reducescatter() -> None:
    rows = 2 * hvd.size() + 1  # the first rank has one more
    given = of_rank(hvd.rank(), (rows, 3), torch.float32)
    whole = torch.stack(all_ranks((rows, 3), torch.float32))
    start = 2 * hvd.rank() + min(hvd.rank(), 1)
    mine = slice(start, start + 2 + (hvd.rank() == 0))
    assert torch.allclose(hvd.reducescatter(given), whole.mean(0)[mine])
    assert torch.allclose(hvd.reducescatter(given, op=hvd.Sum), whole.sum(0)[mine])
    both = hvd.grouped_reducescatter([given, given * 2], op=hvd.Sum)
    assert torch.allclose(both[1], 2 * whole.sum(0)[mine])
    for dtype in REDUCED:
        for rest in ((), (3,), (0,)):
            found = hvd.reducescatter(of_rank(hvd.rank(), (rows, *rest), dtype), op=hvd.Sum)
            wanted = torch.stack(all_ranks((rows, *rest), torch.float64)).sum(0)[mine]
            assert (found.dtype, found.shape) == (dtype, wanted.shape)
            assert torch.allclose(found.double(), wanted, rtol=3e-2 if dtype.itemsize == 2 else 1e-6), (dtype, rest)


def check_sparse() -> None:
    indices = torch.tensor([[hvd.rank(), 9]])
    given = torch.sparse_coo_tensor(indices, torch.tensor([[1.0, 2.0], [3.0, 4.0]]), (10, 2))
    found = hvd.sparse_allreduce_async(given, name="sparse", op=hvd.Average)().to_dense()
    wanted = torch.zeros(10, 2)
    for rank in range(hvd.size()):
        wanted[rank] += torch.tensor([1.0, 2.0]) / hvd.size()
    wanted[9] += torch.tensor([3.0, 4.0])
    assert torch.allclose(found, wanted)


def check_adasum() -> None:
    """Orthogonal gradients add up, equal ones do not; in between, by Horovod's formula."""
    if hvd.size() & (hvd.size() - 1):
        return
    same = hvd.allreduce(torch.tensor([3.0, 4.0]), op=hvd.Adasum)
    assert torch.allclose(same, torch.tensor([3.0, 4.0]))
    crossed = torch.zeros(hvd.size())
    crossed[hvd.rank()] = 2.0
    assert torch.allclose(hvd.allreduce(crossed, op=hvd.Adasum), torch.full((hvd.size(),), 2.0))
    given = [torch.tensor([1.0, float(rank)]) for rank in range(hvd.size())]
    found = hvd.allreduce(given[hvd.rank()], op=hvd.Adasum)
    while len(given) > 1:
        pairs = zip(given[::2], given[1::2], strict=True)
        given = [a * (1 - a @ b / (2 * a @ a)) + b * (1 - a @ b / (2 * b @ b)) for a, b in pairs]
    assert torch.allclose(found, given[0])


def check_adasum_of_every_type_and_odd_sizes() -> None:
    if hvd.size() & (hvd.size() - 1):
        return
    for dtype, close in ((torch.float16, 2e-2), (torch.bfloat16, 1e-1), (torch.float32, 1e-5), (torch.float64, 1e-12)):
        for shape in ((), (0,), (1,), (3,), (7, 5), (1000,)):
            rows = [(of_rank(rank, shape, torch.float64) - 2 * rank).reshape(-1) for rank in range(hvd.size())]
            found = hvd.allreduce(rows[hvd.rank()].reshape(shape).to(dtype), op=hvd.Adasum)
            assert (found.shape, found.dtype) == (torch.Size(shape), dtype)
            assert torch.allclose(found.double().reshape(-1), adasum_of(rows), rtol=close, atol=close), (dtype, shape)
    with refused(hvd.HorovodInternalError, "floating point", "int64"):
        hvd.allreduce(torch.ones(2, dtype=torch.int64), op=hvd.Adasum)


def adasum_of(rows: list[torch.Tensor]) -> torch.Tensor:
    """By the formula, pair by pair; a gradient of zeros changes nothing."""
    while len(rows) > 1:
        pairs = zip(rows[::2], rows[1::2], strict=True)
        rows = [
            a * (1 - a @ b / (2 * a @ a) if a.any() else 1) + b * (1 - a @ b / (2 * b @ b) if b.any() else 1)
            for a, b in pairs
        ]
    return rows[0]


def check_adasum_in_an_optimizer() -> None:
    """Every rank makes its own step, with its own momentum; the steps are combined by the formula."""
    starts = [torch.tensor([1.0, 2.0, 3.0]), torch.tensor([[0.5]])]
    gradients = [[torch.tensor([1.0, rank, -1.0]), torch.tensor([[rank + 1.0]])] for rank in range(hvd.size())]
    held = [torch.nn.Parameter(each.clone()) for each in starts]
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(held, lr=0.1, momentum=0.5),
        named_parameters=[("one", held[0]), ("other", held[1])],
        op=hvd.Adasum,
        backward_passes_per_step=2,
    )
    wanted, factor = [each.clone() for each in starts], [1.0, 1.5]
    for step in range(2):
        optimizer.zero_grad()
        for _ in range(2):
            mine = gradients[hvd.rank()]
            sum((parameter * gradient / 2).sum() for parameter, gradient in zip(held, mine, strict=True)).backward()
        optimizer.step()
        for place in range(2):
            rows = [-0.1 * factor[step] * gradients[rank][place].reshape(-1) for rank in range(hvd.size())]
            wanted[place] += adasum_of(rows).reshape(wanted[place].shape)
    for parameter, value in zip(held, wanted, strict=True):
        assert torch.allclose(parameter.detach(), value, atol=1e-6), (parameter, value)
    with refused(AssertionError, "not supported"), optimizer.skip_synchronize():
        pass


def check_process_sets() -> None:
    """Two sets work side by side, under the same names and at different times; root ranks count all ranks."""
    size, rank = hvd.size(), hvd.rank()
    even, odd = hvd.add_process_set(range(0, size, 2)), hvd.add_process_set(hvd.ProcessSet(range(1, size, 2)))
    mine, other = (odd, even) if rank % 2 else (even, odd)
    ranks = mine.ranks or []
    assert (mine.included(), other.included()) == (True, False)
    assert (mine.rank(), mine.size(), mine.process_set_id) == (rank // 2, size // 2, 1 + rank % 2)
    assert hvd.get_process_set_ids_and_ranks() == {0: list(range(size)), 1: even.ranks, 2: odd.ranks}
    given = torch.tensor([1.0, rank])
    for turn in range(3 if rank % 2 else 1):  # one set may do more than the other
        found = hvd.allreduce(given * (turn + 1), name="x", process_set=mine)
        assert torch.allclose(found, torch.tensor([1.0, sum(ranks) / len(ranks)]) * (turn + 1))
    assert hvd.allreduce(torch.ones(1), op=hvd.Sum, process_set=mine).item() == len(ranks)
    assert hvd.allgather(torch.tensor([rank]), process_set=mine).tolist() == ranks
    assert hvd.broadcast(torch.tensor([rank]), ranks[-1], process_set=mine).item() == ranks[-1]
    assert hvd.alltoall(torch.full((len(ranks),), rank), process_set=mine).tolist() == ranks
    assert hvd.reducescatter(torch.ones(len(ranks)), op=hvd.Sum, process_set=mine).tolist() == [float(len(ranks))]
    assert hvd.grouped_allreduce([given, given], op=hvd.Max, process_set=mine)[1][1].item() == max(ranks)
    assert hvd.broadcast_object(rank, ranks[0], process_set=mine) == ranks[0]
    assert hvd.allgather_object(rank, process_set=mine) == ranks
    hvd.barrier(process_set=mine)
    one = torch.ones(rank + 1, requires_grad=True)
    (hvd.allgather(one, process_set=mine) * (rank + 1)).sum().backward()
    assert one.grad is not None
    assert one.grad.tolist() == [float(sum(each + 1 for each in ranks))] * (rank + 1)
    parameter = torch.nn.Parameter(torch.zeros(1))
    hvd.broadcast_parameters([("p", parameter)], root_rank=ranks[0], process_set=mine)
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD([parameter], lr=1.0), process_set=mine)
    (parameter * rank).sum().backward()
    optimizer.step()
    assert abs(parameter.item() + sum(ranks) / len(ranks)) < 1e-6
    with refused(ValueError, f"Rank {rank} is not in the process set"):
        hvd.allreduce(given, process_set=other)
    with refused(hvd.HorovodInternalError, "among", f"rank {ranks[-1]}"):
        hvd.allreduce(torch.ones(2 + (rank == ranks[-1])), name="y", process_set=mine)
    assert hvd.allreduce(torch.ones(1), op=hvd.Sum).item() == size, "all ranks are still there"
    with refused(ValueError, "already"):
        hvd.add_process_set(even.ranks)
    with refused(ValueError, "from 0 to"):
        hvd.add_process_set([0, size])
    with refused(hvd.HorovodInternalError, "disagree"):
        hvd.add_process_set([rank % 2])
    assert hvd.remove_process_set(odd)
    assert not hvd.remove_process_set(odd)
    with refused(ValueError, "add_process_set"):
        hvd.allreduce(given, process_set=odd)
    again = hvd.add_process_set(range(1, size, 2))
    if again.included():
        assert hvd.allreduce(torch.ones(1), op=hvd.Sum, process_set=again).item() == size // 2


def check_gradients_flow_through() -> None:
    size, rank = hvd.size(), hvd.rank()
    given = torch.full((3,), float(rank + 1), requires_grad=True)
    hvd.allreduce(given, op=hvd.Sum).sum().backward()
    assert given.grad is not None
    assert torch.allclose(given.grad, torch.full((3,), float(size)))
    given = torch.ones(rank + 1, requires_grad=True)
    gathered = hvd.allgather(given)
    (gathered * torch.arange(len(gathered))).sum().backward()
    start = sum(range(1, rank + 1))
    assert given.grad is not None
    assert torch.allclose(given.grad, torch.arange(start, start + rank + 1).float() * size)
    given = torch.ones(2, requires_grad=True)
    hvd.broadcast(given, 1).sum().backward()
    assert given.grad is not None
    assert given.grad.tolist() == ([float(size)] * 2 if rank == 1 else [0.0, 0.0])
    given = torch.ones(size * 2, requires_grad=True)
    (hvd.alltoall(given) * (rank + 1)).sum().backward()
    assert given.grad is not None
    assert given.grad.tolist() == [float(to + 1) for to in range(size) for _ in range(2)]
    given = torch.ones(size, 2, requires_grad=True)
    (hvd.reducescatter(given, op=hvd.Sum) * (rank + 1)).sum().backward()
    assert given.grad is not None
    assert given.grad[:, 0].tolist() == [float(to + 1) for to in range(size)]


def check_join_with_uneven_inputs() -> None:
    """Rank r has r + 1 batches; who is done gives zeros, and the average is over all ranks."""
    for batch in range(hvd.rank() + 1):
        found = hvd.allreduce(torch.ones(2), name=f"batch {batch}")
        assert torch.allclose(found, torch.full((2,), (hvd.size() - batch) / hvd.size()))
        both = hvd.grouped_allreduce([torch.ones(1), torch.ones(2)], op=hvd.Sum, name=f"group {batch}")
        assert both[1].tolist() == [float(hvd.size() - batch)] * 2
    assert hvd.join() == hvd.size() - 1
    assert hvd.allreduce(torch.ones(1), op=hvd.Sum).item() == hvd.size(), "after join, all is as before"


def check_the_default_group_is_the_scripts_own() -> None:
    """A script may use `torch.distributed` for itself, beside the layer."""
    import torch.distributed as dist

    assert not dist.is_initialized()
    port = hvd.broadcast_object(free_port() if hvd.rank() == 0 else None, 0)
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=hvd.rank(), world_size=hvd.size())
    given = torch.ones(1)
    dist.all_reduce(given)
    assert given.item() == hvd.allreduce(torch.ones(1), op=hvd.Sum).item() == hvd.size()
    dist.barrier()
    dist.destroy_process_group()


def check_barrier() -> None:
    hvd.barrier()
    hvd.barrier()


def check_objects() -> None:
    kept = {"rank": hvd.rank(), "text": "ä" * (hvd.rank() + 1), "list": [1, (2, 3)]}
    root = hvd.size() - 1
    assert hvd.broadcast_object(kept if hvd.rank() == root else None, root)["rank"] == root
    assert hvd.broadcast_object("" if hvd.rank() == 0 else None, 0, name="empty") == ""
    found = hvd.allgather_object(kept)
    assert [each["text"] for each in found] == ["ä" * (rank + 1) for rank in range(hvd.size())]


def check_parameters_and_optimizer_state() -> None:
    torch.manual_seed(hvd.rank())
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    hvd.broadcast_parameters(model.state_dict(), root_rank=1)
    weights = hvd.allgather(next(model.parameters()).detach().reshape(1, -1))
    assert bool((weights == weights[0]).all())
    hvd.broadcast_parameters(list(model.named_parameters()), root_rank=0)
    for kind in (torch.optim.SGD, torch.optim.Adam):
        optimizer = kind(model.parameters(), lr=0.1 * (hvd.rank() + 1))
        if hvd.rank() == 0:  # only rank 0 has been restored from a checkpoint
            for _ in range(3):
                model(torch.randn(4, 3)).sum().backward()
                optimizer.step()
        hvd.broadcast_optimizer_state(optimizer, root_rank=0)
        assert abs(optimizer.param_groups[0]["lr"] - 0.1) < 1e-9
        states = hvd.allgather_object(optimizer.state_dict()["state"])
        for state in states:
            assert state.keys() == states[0].keys()
            for key in state:
                for name, value in state[key].items():
                    assert torch.equal(torch.as_tensor(value), torch.as_tensor(states[0][key][name])), name


def trained(distributed: bool, kind: type[torch.optim.Optimizer], passes: int = 1, **options: object) -> torch.Tensor:
    """The weights after some steps: on this rank's share of each batch, or on the whole of it."""
    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).double()
    made = {torch.optim.SGD: {"lr": 0.1, "momentum": 0.9}, torch.optim.Adam: {"lr": 0.01}}[kind]
    optimizer = kind(model.parameters(), **made)  # type: ignore[call-arg,arg-type]
    if distributed:
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
        optimizer = hvd.DistributedOptimizer(
            optimizer, named_parameters=model.named_parameters(), backward_passes_per_step=passes, **options
        )
    share = 4
    for step in range(6):
        torch.manual_seed(100 + step)
        inputs = torch.randn(hvd.size() * share, 6).double()
        wanted = inputs.sum(1, keepdim=True).sin()
        if distributed:
            mine = slice(hvd.rank() * share, (hvd.rank() + 1) * share)
            inputs, wanted = inputs[mine], wanted[mine]
        optimizer.zero_grad(set_to_none=step % 2 == 0)
        for part in range(passes):
            rows = slice(part, None, passes)
            (torch.nn.functional.mse_loss(model(inputs[rows]), wanted[rows]) / passes).backward()
        optimizer.step()
    return torch.cat([each.detach().reshape(-1) for each in model.parameters()])


def check_training_equals_one_process() -> None:
    for kind in (torch.optim.SGD, torch.optim.Adam):
        alone = trained(False, kind)
        assert torch.allclose(trained(True, kind), alone, rtol=1e-9, atol=1e-12), kind
        assert torch.allclose(trained(True, kind, passes=2), alone, rtol=1e-9, atol=1e-12), kind
        assert torch.allclose(trained(True, kind, gradient_predivide_factor=4.0), alone, rtol=1e-9, atol=1e-12)
        assert torch.allclose(trained(True, kind, num_groups=2), alone, rtol=1e-9, atol=1e-12)
        assert torch.allclose(trained(True, kind, compression=hvd.Compression.fp16), alone, rtol=2e-2, atol=2e-3)


def check_gradients_may_be_summed() -> None:
    parameter = torch.nn.Parameter(torch.zeros(2))
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD([parameter], lr=1.0), op=hvd.Sum)
    (parameter * (hvd.rank() + 1)).sum().backward()
    optimizer.step()
    assert parameter.tolist() == [-float(sum(range(1, hvd.size() + 1)))] * 2


def check_clipping_between_synchronize_and_step() -> None:
    parameter = torch.nn.Parameter(torch.zeros(2))
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD([parameter], lr=1.0), named_parameters=[("p", parameter)])
    (parameter * torch.tensor([3.0, 4.0]) * (hvd.rank() + 1) * 10).sum().backward()
    optimizer.synchronize()
    torch.nn.utils.clip_grad_norm_([parameter], 1.0)
    with optimizer.skip_synchronize():
        optimizer.step()
    assert torch.allclose(parameter, torch.tensor([-0.6, -0.8]), atol=1e-4)
    parameter.sum().backward()
    optimizer.synchronize()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        optimizer.step()
    assert any("skip_synchronize" in str(each.message) for each in seen)


def check_a_parameter_that_only_some_ranks_reach() -> None:
    """Its gradient counts as zero where the backward pass has not been."""
    first, second = torch.nn.Parameter(torch.zeros(1)), torch.nn.Parameter(torch.zeros(1))
    named = [("first", first), ("second", second)]
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD([first, second], lr=1.0), named_parameters=named)
    loss = first.sum() + (second.sum() if hvd.rank() == 0 else 0)
    loss.backward()
    optimizer.step()
    assert first.item() == -1.0
    assert abs(second.item() + 1 / hvd.size()) < 1e-6


def check_misuse_of_the_optimizer_is_told() -> None:
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD([parameter], lr=1.0))
    parameter.sum().backward()
    with refused(AssertionError, "prohibited"):
        optimizer.zero_grad()
    with refused(AssertionError, "more than"):
        parameter.sum().backward()
    optimizer.synchronize()
    plain = torch.optim.SGD([parameter], lr=1.0)
    for named in ([("a", parameter), ("a", parameter)], [("other", torch.nn.Parameter(torch.zeros(1)))]):
        with refused(ValueError):
            hvd.DistributedOptimizer(plain, named_parameters=named)


def check_embeddings_with_sparse_gradients() -> None:
    for dense in (False, True):
        torch.manual_seed(0)
        table = torch.nn.Embedding(6, 2, sparse=True)
        torch.nn.init.zeros_(table.weight)
        optimizer = hvd.DistributedOptimizer(
            torch.optim.SGD(table.parameters(), lr=1.0),
            named_parameters=table.named_parameters(),
            sparse_as_dense=dense,
        )
        table(torch.tensor([hvd.rank(), 5])).sum().backward()
        optimizer.step()
        wanted = torch.zeros(6, 2)
        wanted[: hvd.size()] = -1 / hvd.size()
        wanted[5] -= 1
        assert torch.allclose(table.weight.detach(), wanted), dense


def check_learning_rate_schedules_and_state() -> None:
    parameter = torch.nn.Parameter(torch.ones(1))
    plain = torch.optim.SGD([parameter], lr=1.0, momentum=0.5)
    parameter.sum().backward()
    plain.step()
    optimizer = hvd.DistributedOptimizer(plain, named_parameters=[("p", parameter)])
    assert isinstance(optimizer, torch.optim.SGD)
    assert optimizer.state[parameter]["momentum_buffer"].item() == 1.0, "the state is kept"
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.1)
    optimizer.zero_grad()
    parameter.sum().backward()
    optimizer.step()
    schedule.step()
    assert abs(optimizer.param_groups[0]["lr"] - 0.1) < 1e-9
    copied = optimizer.state_dict()
    optimizer.load_state_dict(copied)


def check_batch_norm_over_all_ranks() -> None:
    size, rank = hvd.size(), hvd.rank()
    torch.manual_seed(3)
    whole = torch.randn(sum(range(2, size + 2)), 4, 3).double()
    ends = [sum(range(2, each + 2)) for each in range(size + 1)]
    mine = whole[ends[rank] : ends[rank + 1]].clone().requires_grad_(True)
    synced, plain = hvd.SyncBatchNorm(4).double(), torch.nn.BatchNorm1d(4).double()
    reference = whole.clone().requires_grad_(True)
    factor = torch.linspace(0, 1, whole.numel()).reshape(whole.shape).double()
    (plain(reference) * factor).sum().backward()
    output = synced(mine)
    assert torch.allclose(output, plain(whole)[ends[rank] : ends[rank + 1]].detach())
    (output * factor[ends[rank] : ends[rank + 1]]).sum().backward()
    assert reference.grad is not None
    assert mine.grad is not None
    assert torch.allclose(mine.grad, reference.grad[ends[rank] : ends[rank + 1]], atol=1e-9)
    fresh = torch.nn.BatchNorm1d(4).double()
    fresh(whole)
    assert torch.allclose(synced.running_mean, fresh.running_mean)
    assert torch.allclose(synced.running_var, fresh.running_var)
    synced.eval()
    synced(mine)


def check_elastic_state() -> None:
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    state = hvd.elastic.TorchState(model, optimizer, epoch=hvd.rank())

    @hvd.elastic.run
    def train(state: hvd.elastic.TorchState) -> float:
        assert state.epoch == 0, "the state of rank 0"
        state.commit()
        with torch.no_grad():
            model.weight += 1
        state.epoch = 5
        state.restore()
        assert state.epoch == 0
        state.epoch = 1
        state.commit()
        return float(model.weight.item())

    weights = hvd.allgather(torch.tensor([train(state)]))
    assert bool((weights == weights[0]).all())
    hvd.barrier()
    assert os.path.exists("outputs/horovod_elastic/TorchState.state")
    os.environ["AZUREML_RUN_RESTART_COUNT"] = "1"
    again = hvd.elastic.TorchState(torch.nn.Linear(1, 1), epoch=-1)

    @hvd.elastic.run
    def go_on(state: hvd.elastic.TorchState) -> float:
        return float(state.model.weight.item())

    assert go_on(again) == weights[0].item()
    sampler = hvd.elastic.ElasticSampler(list(range(10)), shuffle=False)
    sampler.record_batch(0, 1)
    shares = hvd.allgather_object(list(sampler))
    assert {each for share in shares for each in share} == set(range(10))


def check_disagreement_is_an_error_on_every_rank() -> None:
    last = hvd.size() - 1
    odd = hvd.rank() == last
    cases = [
        ("shape", lambda: hvd.allreduce(torch.ones(3 if odd else 2), name="x")),
        ("type", lambda: hvd.allreduce(torch.ones(2, dtype=torch.float64 if odd else torch.float32), name="x")),
        ("reduction", lambda: hvd.allreduce(torch.ones(2), name="x", op=hvd.Max if odd else hvd.Sum)),
        ("root rank", lambda: hvd.broadcast(torch.ones(2), 1 if odd else 0, name="x")),
        ("shape", lambda: hvd.allgather(torch.ones(2, 3 if odd else 2), name="x")),
        ("number of tensors", lambda: hvd.grouped_allreduce([torch.ones(1)] * (3 if odd else 2), name="x")),
    ]
    for words, call in cases:
        with refused(hvd.HorovodInternalError, words, "x", f"rank {last}"):
            call()
    assert hvd.allreduce(torch.ones(1), name="x").item() == 1.0, "the next call goes well"


def check_different_names_are_an_error_and_no_hang() -> None:
    with refused(hvd.HorovodInternalError, "rank 0 for 'allreduce.only 0'", "rank 1 for 'allreduce.only 1'"):
        hvd.allreduce(torch.ones(1), name=f"only {hvd.rank() % 2}")


def check_what_the_layer_cannot_do_is_refused_in_words() -> None:
    for call in (lambda: hvd.ProcessSet(object()), lambda: hvd.start_timeline("t.json")):
        with refused(NotImplementedError, "Horovod itself"):
            call()


def check_it_can_be_left_and_entered_again() -> None:
    rank = hvd.rank()
    hvd.shutdown()
    assert not hvd.is_initialized()
    with refused(ValueError, "hvd.init()"):
        hvd.rank()
    hvd.init()
    assert hvd.rank() == rank
    assert hvd.allreduce(torch.ones(1), op=hvd.Sum).item() == hvd.size()


if __name__ == "__main__":
    torch.set_num_threads(1)
    hvd.init()
    run_all(dict(globals()))
