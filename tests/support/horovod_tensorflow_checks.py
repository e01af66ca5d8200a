"""What every rank checks of `horovod.tensorflow` and of Keras: against what the mathematics say."""

from __future__ import annotations

import importlib
import os
import time
from typing import Any

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf
from tests.support.horovod_checks import refused, run_all

REDUCED = ["uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
MOVED = [*REDUCED, "bool", "int16", "complex64"]
SHAPES = [(), (1,), (0,), (7,), (3, 0), (5, 3), (2, 3, 4)]


def of_rank(rank: int, shape: tuple[int, ...], dtype: str) -> tf.Tensor:
    """A tensor that any rank can make for any other."""
    made = (np.arange(int(np.prod(shape))) % 5 + rank + 1).reshape(shape)
    return tf.cast(tf.constant(made % 2 if dtype == "bool" else made), dtype)


def stack(shape: tuple[int, ...]) -> np.ndarray:
    return np.stack([of_rank(rank, shape, "float64").numpy() for rank in range(hvd.size())])


def check_every_name_is_there() -> None:
    for name in ["horovod.tensorflow", "horovod.tensorflow.keras", "horovod.keras"]:
        module = importlib.import_module(name)
        assert not [each for each in module.__all__ if not hasattr(module, each)]


def check_who_is_who() -> None:
    assert hvd.is_initialized()
    assert (hvd.rank(), hvd.size()) == (int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    assert int(hvd.rank_op()) == hvd.rank()
    assert int(hvd.size_op()) == hvd.size()
    assert hvd.gloo_enabled()
    assert not hvd.mpi_built()


def check_allreduce_of_every_type_and_shape() -> None:
    for dtype in REDUCED:
        for shape in SHAPES:
            given, all_of = of_rank(hvd.rank(), shape, dtype), stack(shape)
            for op, wanted in (
                (hvd.Sum, all_of.sum(0)),
                (hvd.Min, all_of.min(0)),
                (hvd.Max, all_of.max(0)),
                (hvd.Average, all_of.mean(0)),
            ):
                found = hvd.allreduce(given, op=op)
                assert found.dtype == given.dtype
                assert found.shape == given.shape
                whole = given.dtype.is_integer
                wanted = np.floor(wanted) if op == hvd.Average and whole else wanted
                close = {"float16": 1e-2, "bfloat16": 3e-2}.get(dtype, 1e-6)
                assert np.allclose(tf.cast(found, "float64").numpy(), wanted, rtol=close), (dtype, shape, op)
    product = hvd.allreduce(tf.constant([2.0, 3.0]), op=hvd.Product)
    assert np.allclose(product, [2.0 ** hvd.size(), 3.0 ** hvd.size()])
    scaled = hvd.allreduce(tf.ones(2), op=hvd.Sum, prescale_factor=0.5, postscale_factor=3.0)
    assert np.allclose(scaled, [1.5 * hvd.size()] * 2)
    assert np.allclose(hvd.allreduce(tf.ones(2), average=False), [float(hvd.size())] * 2)
    large = hvd.allreduce(tf.range(1_000_003, dtype=tf.float64), op=hvd.Sum)
    assert np.array_equal(large, np.arange(1_000_003, dtype=np.float64) * hvd.size())


def check_gather_broadcast_and_alltoall_of_every_type() -> None:
    size, rank = hvd.size(), hvd.rank()
    for dtype in MOVED:
        for rest in ((), (3,), (2, 0)):
            found = hvd.allgather(of_rank(rank, (rank + 1, *rest), dtype))
            wanted = tf.concat([of_rank(each, (each + 1, *rest), dtype) for each in range(size)], 0)
            assert np.array_equal(found.numpy(), wanted.numpy()), (dtype, rest)
        for shape in SHAPES:
            found = hvd.broadcast(of_rank(rank, shape, dtype), size - 1)
            assert np.array_equal(found.numpy(), of_rank(size - 1, shape, dtype).numpy()), (dtype, shape)
        rows = tf.concat([of_rank(rank * 10 + to, (to + 1, 3), dtype) for to in range(size)], 0)
        found, received = hvd.alltoall(rows, splits=[to + 1 for to in range(size)])
        wanted = tf.concat([of_rank(one * 10 + rank, (rank + 1, 3), dtype) for one in range(size)], 0)
        assert np.array_equal(found.numpy(), wanted.numpy()), dtype
        assert received.numpy().tolist() == [rank + 1] * size
    even = hvd.alltoall(tf.range(size * 2))
    assert even.numpy().tolist() == [2 * rank, 2 * rank + 1] * size
    both = hvd.grouped_allgather([tf.fill([rank + 1], 1.0), tf.fill([2], rank)])
    assert len(both[0]) == sum(range(1, size + 1))


def check_reducescatter_of_every_type() -> None:
    rows = 2 * hvd.size() + 1
    start = 2 * hvd.rank() + min(hvd.rank(), 1)
    mine = slice(start, start + 2 + (hvd.rank() == 0))
    found = hvd.reducescatter(of_rank(hvd.rank(), (rows, 3), "float32"))
    assert np.allclose(found, stack((rows, 3)).mean(0)[mine])
    for dtype in REDUCED:
        for rest in ((), (3,), (0,)):
            found = hvd.reducescatter(of_rank(hvd.rank(), (rows, *rest), dtype), op=hvd.Sum)
            wanted = stack((rows, *rest)).sum(0)[mine]
            assert (found.dtype.name, tuple(found.shape)) == (dtype, wanted.shape)
            assert np.allclose(tf.cast(found, "float64"), wanted, rtol=3e-2 if "16" in dtype else 1e-6), (dtype, rest)
    both = hvd.grouped_reducescatter([tf.ones([rows]), tf.ones([rows, 2])], op=hvd.Sum)
    assert np.allclose(both[1], hvd.size())


def check_calls_that_return_at_once() -> None:
    size, rank = hvd.size(), hvd.rank()
    names = [f"at once {number}" for number in range(10)]
    handles = {name: hvd.allreduce_async(tf.fill([3], float(rank)), name=name) for name in names[rank:] + names[:rank]}
    for name in names:
        assert np.allclose(hvd.synchronize(handles[name]), sum(range(size)) / size)
    with refused(ValueError, "synchronized already"):
        hvd.synchronize(handles[names[0]])
    begun = {
        "group": hvd.grouped_allreduce_async([tf.ones(2), tf.ones(3, tf.int32)], op=hvd.Sum),
        "gathered": hvd.allgather_async(tf.fill([rank + 1], rank)),
        "many": hvd.grouped_allgather_async([tf.ones([1]), tf.ones([2])]),
        "sent": hvd.broadcast_async(tf.constant(rank), root_rank=1),
        "even": hvd.alltoall_async(tf.range(size)),
        "rows": hvd.alltoall_async(tf.range(size), splits=[1] * size),
        "scattered": hvd.reducescatter_async(tf.ones([size]), op=hvd.Sum),
        "parts": hvd.grouped_reducescatter_async([tf.ones([size]), tf.ones([size, 2])]),
    }
    found = {name: hvd.synchronize(handle) for name, handle in begun.items()}
    assert [each.dtype for each in found["group"]] == [tf.float32, tf.int32]
    assert np.allclose(found["group"][1], size)
    assert found["gathered"].numpy().tolist() == [each for each in range(size) for _ in range(each + 1)]
    assert [len(each) for each in found["many"]] == [size, 2 * size]
    assert int(found["sent"]) == 1
    assert found["even"].numpy().tolist() == [rank] * size
    assert [each.numpy().tolist() for each in found["rows"]] == [[rank] * size, [1] * size]
    assert found["scattered"].numpy().tolist() == [float(size)]
    assert found["parts"][1].shape == (1, 2)
    last = hvd.allreduce_async(tf.ones(1), name="asked for")
    deadline = time.monotonic() + 60
    while not hvd.poll(last):
        assert time.monotonic() < deadline
        time.sleep(0.001)
    hvd.synchronize(last)
    with refused(RuntimeError, "use hvd.allreduce there"):
        tf.function(lambda: hvd.allreduce_async(tf.ones(1)))()


def check_process_sets() -> None:
    """Two sets work side by side under the same names, eager and in functions; root ranks count all ranks."""
    size, rank = hvd.size(), hvd.rank()
    even, odd = hvd.add_process_set(range(0, size, 2)), hvd.add_process_set(hvd.ProcessSet(range(1, size, 2)))
    mine, other = (odd, even) if rank % 2 else (even, odd)
    ranks = mine.ranks or []
    assert (mine.rank(), mine.size(), int(hvd.size_op(mine.process_set_id))) == (rank // 2, size // 2, size // 2)
    assert int(hvd.process_set_included_op(other.process_set_id)) == 0
    for _ in range(3 if rank % 2 else 1):
        found = hvd.allreduce(tf.constant([1.0, rank]), name="x", process_set=mine)
        assert np.allclose(found, [1.0, sum(ranks) / len(ranks)])
    reduced = tf.function(lambda given: hvd.grouped_allreduce([given], op=hvd.Max, process_set=mine, name="f")[0])
    assert int(reduced(tf.constant(rank))) == max(ranks)
    assert hvd.allgather(tf.constant([rank]), process_set=mine).numpy().tolist() == ranks
    assert int(hvd.broadcast(tf.constant(rank), ranks[-1], process_set=mine)) == ranks[-1]
    assert hvd.alltoall(tf.fill([len(ranks)], rank), process_set=mine).numpy().tolist() == ranks
    assert np.allclose(hvd.reducescatter(tf.ones([len(ranks)]), op=hvd.Sum, process_set=mine), len(ranks))
    assert np.allclose(hvd.synchronize(hvd.allreduce_async(tf.ones(1), op=hvd.Sum, process_set=mine)), len(ranks))
    assert hvd.broadcast_object(rank, ranks[0], process_set=mine) == ranks[0]
    assert hvd.allgather_object(rank, process_set=mine) == ranks
    variable = tf.Variable(float(rank))
    hvd.broadcast_variables([variable], root_rank=ranks[0], process_set=mine)
    with tf.GradientTape() as tape:
        loss = variable * float(rank)
    gradient = hvd.DistributedGradientTape(tape, process_set=mine).gradient(loss, variable)
    assert (float(variable.numpy()), float(gradient)) == (float(ranks[0]), sum(ranks) / len(ranks))
    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(1.0), process_set=mine)
    variable.assign(0.0)
    optimizer.apply_gradients([(tf.constant(float(rank)), variable)])
    assert np.allclose(variable, -sum(ranks) / len(ranks))
    hvd.barrier(process_set=mine)
    with refused(ValueError, f"Rank {rank} is not in the process set"):
        hvd.allreduce(tf.ones(1), process_set=other)
    assert np.allclose(hvd.allreduce(tf.ones(1), op=hvd.Sum), size)
    assert hvd.remove_process_set(even)
    assert hvd.remove_process_set(odd)


def adasum_of(rows: list[np.ndarray]) -> np.ndarray:
    """By the formula, pair by pair."""
    while len(rows) > 1:
        pairs = zip(rows[::2], rows[1::2], strict=True)
        rows = [a * (1 - a @ b / (2 * a @ a)) + b * (1 - a @ b / (2 * b @ b)) for a, b in pairs]
    return rows[0]


def check_adasum() -> None:
    rows = [np.array([1.0, rank - 2.0, 3.0]) for rank in range(hvd.size())]
    mine, wanted = rows[hvd.rank()], adasum_of(rows)
    for dtype, close in (("float16", 1e-2), ("float32", 1e-5), ("float64", 1e-12)):
        found = hvd.allreduce(tf.constant(mine, dtype), op=hvd.Adasum)
        assert found.dtype.name == dtype
        assert np.allclose(found, wanted, rtol=close, atol=close), dtype
    variable = tf.Variable(np.zeros(3))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(variable * mine)
    assert np.allclose(hvd.DistributedGradientTape(tape, op=hvd.Adasum).gradient(loss, variable), wanted)
    with refused(hvd.HorovodInternalError, "floating point"):
        hvd.allreduce(tf.ones(2, tf.int32), op=hvd.Adasum)
    v1 = tf.compat.v1
    for resource in (True, False):
        with tf.Graph().as_default():
            held = v1.get_variable("held", initializer=np.ones(3), use_resource=resource)
            optimizer = hvd.DistributedOptimizer(v1.train.MomentumOptimizer(0.5, 0.5), op=hvd.Adasum)
            train = optimizer.minimize(tf.reduce_sum(held * mine))
            with v1.Session() as session:
                session.run(v1.global_variables_initializer())
                session.run(train)
                session.run(train)  # each step is combined: -0.5, then with momentum -0.75 of the gradients
                assert np.allclose(session.run(held), 1 - 1.25 * wanted), resource


def check_groups_and_slices() -> None:
    one, other = hvd.grouped_allreduce([tf.ones(3), tf.ones([2, 2], tf.float64)], op=hvd.Sum)
    assert np.allclose(one, hvd.size())
    assert np.allclose(other, hvd.size())
    slices = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([hvd.rank(), 5]), tf.constant([6, 2]))
    found = tf.convert_to_tensor(hvd.allreduce(slices)).numpy()
    assert np.allclose(found[: hvd.size()], 1 / hvd.size())
    assert np.allclose(found[5], 1)
    small = hvd.allreduce(tf.fill([4], 0.5), op=hvd.Sum, compression=hvd.Compression.fp16)
    assert small.dtype == tf.float32
    assert np.allclose(small, 0.5 * hvd.size())


def check_gradients_flow_through() -> None:
    size, rank = hvd.size(), hvd.rank()
    given = tf.Variable(tf.fill([3], float(rank + 1)))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(hvd.allreduce(given, op=hvd.Sum))
    assert np.allclose(tape.gradient(total, given), size)
    given = tf.Variable(tf.ones([rank + 1]))
    with tf.GradientTape() as tape:
        gathered = hvd.allgather(given)
        total = tf.reduce_sum(gathered * tf.range(len(gathered), dtype=tf.float32))
    start = sum(range(1, rank + 1))
    assert np.allclose(tape.gradient(total, given), np.arange(start, start + rank + 1) * size)
    given = tf.Variable(tf.ones([2]))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(hvd.broadcast(given, 1))
    assert np.allclose(tape.gradient(total, given), size if rank == 1 else 0)


def check_functions_and_graphs() -> None:
    """The same inside `tf.function`, with shapes that are known only when it runs."""

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def reduced(given: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return hvd.allreduce(given, op=hvd.Sum, name="in a function"), hvd.allgather(given, name="gathered")

    for rows in (1, 3):
        total, gathered = reduced(tf.ones([rows, 2]))
        assert np.allclose(total, np.full((rows, 2), hvd.size()))
        assert gathered.shape == (rows * hvd.size(), 2)


def check_join_with_uneven_inputs() -> None:
    for batch in range(hvd.rank() + 1):
        found = hvd.allreduce(tf.ones(2), name=f"batch {batch}")
        assert np.allclose(found, (hvd.size() - batch) / hvd.size())
    assert hvd.join() == hvd.size() - 1


def check_objects_and_variables() -> None:
    root = hvd.size() - 1
    assert hvd.broadcast_object({"rank": hvd.rank()} if hvd.rank() == root else None, root)["rank"] == root
    assert hvd.allgather_object("x" * hvd.rank()) == ["x" * rank for rank in range(hvd.size())]
    variables = [tf.Variable(float(hvd.rank())), tf.Variable(tf.fill([2, 2], hvd.rank()))]
    hvd.broadcast_variables(variables, root_rank=root)
    assert variables[0].numpy() == root
    assert (variables[1].numpy() == root).all()
    with refused(RuntimeError, "eager"):
        hvd.broadcast_global_variables(0)


def check_disagreement_is_an_error_on_every_rank() -> None:
    odd = hvd.rank() == hvd.size() - 1
    with refused(hvd.HorovodInternalError, "shape", f"rank {hvd.size() - 1}"):
        hvd.allreduce(tf.ones(3 if odd else 2), name="x")
    with refused(hvd.HorovodInternalError, "type"):
        hvd.allreduce(tf.ones(2, tf.float64 if odd else tf.float32), name="x")
    assert np.allclose(hvd.allreduce(tf.ones(1), name="x"), 1)


def batch(step: int) -> tuple[np.ndarray, np.ndarray]:
    made = np.random.default_rng(step)
    inputs = made.normal(size=(4 * hvd.size(), 6)).astype(np.float32)
    return inputs, np.sin(inputs.sum(1, keepdims=True))


def share(whole: np.ndarray) -> np.ndarray:
    return whole[hvd.rank() * 4 : (hvd.rank() + 1) * 4]


def dense_model(keras: Any) -> Any:
    keras.utils.set_random_seed(3)
    return keras.Sequential(
        [keras.layers.Input((6,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)]
    )


def check_the_tape_trains_as_one_process() -> None:
    keras = tf.keras
    for make, compression, close in (
        (lambda: keras.optimizers.SGD(0.1, momentum=0.9), hvd.Compression.none, 1e-5),
        (lambda: keras.optimizers.Adam(0.01), hvd.Compression.none, 1e-5),
        (lambda: keras.optimizers.SGD(0.1, momentum=0.9), hvd.Compression.fp16, 5e-3),
    ):
        weights = []
        for distributed in (False, True):
            model, optimizer = dense_model(keras), make()
            optimizer.build(model.trainable_variables)

            @tf.function
            def step(  # type: ignore[no-untyped-def]
                inputs, wanted, distributed=distributed, model=model, optimizer=optimizer, compression=compression
            ):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(model(inputs) - wanted))
                if distributed:
                    tape = hvd.DistributedGradientTape(tape, compression=compression)
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

            for number in range(5):
                inputs, wanted = batch(number)
                if distributed:
                    inputs, wanted = share(inputs), share(wanted)
                step(tf.constant(inputs), tf.constant(wanted))
            weights.append(np.concatenate([each.numpy().reshape(-1) for each in model.trainable_variables]))
        assert np.allclose(weights[0], weights[1], rtol=1e-3, atol=close), np.abs(weights[0] - weights[1]).max()


def fit(module: str, keras: Any, with_callbacks: bool = True) -> None:
    """`model.fit` on shares gives what it gives on the whole, with all callbacks."""
    of_keras = importlib.import_module(module)
    weights = []
    for distributed in (False, True):
        model = dense_model(keras)
        if distributed and with_callbacks:
            for each in model.weights:
                each.assign(each * (1.0 + of_keras.rank()))  # the broadcast puts it right
        optimizer = keras.optimizers.SGD(0.1)
        callbacks = []
        if distributed:
            optimizer = of_keras.DistributedOptimizer(optimizer)
        if distributed and with_callbacks:
            callbacks = [
                of_keras.callbacks.BroadcastGlobalVariablesCallback(0),
                of_keras.callbacks.MetricAverageCallback(),
            ]
        model.compile(optimizer, "mse", metrics=["mae"])
        parts = [batch(number) for number in range(4)]
        chosen = share if distributed else (lambda whole: whole)
        inputs = np.concatenate([chosen(one) for one, _ in parts])
        wanted = np.concatenate([chosen(one) for _, one in parts])
        size = 4 if distributed else 4 * of_keras.size()
        seen = model.fit(inputs, wanted, batch_size=size, epochs=2, shuffle=False, verbose=0, callbacks=callbacks)
        weights.append(np.concatenate([each.numpy().reshape(-1) for each in model.trainable_variables]))
        if distributed and with_callbacks:
            losses = of_keras.allgather_object([seen.history["loss"], seen.history["mae"]])
            assert all(each == losses[0] for each in losses), "the averages are the same everywhere"
    assert np.allclose(weights[0], weights[1], rtol=1e-3, atol=1e-5), np.abs(weights[0] - weights[1]).max()
    assert of_keras.allreduce(1.0, average=False) == of_keras.size()
    assert of_keras.broadcast(float(of_keras.rank()), 1) == 1.0
    assert len(of_keras.allgather(np.ones(2))) == 2 * of_keras.size()


def check_fit_of_keras() -> None:
    import keras

    fit("horovod.keras", keras)


def check_fit_of_tensorflows_keras() -> None:
    fit("horovod.tensorflow.keras", tf.keras)


def check_fit_of_legacy_keras() -> None:
    """Its callbacks are those of `tf.keras` where TF_USE_LEGACY_KERAS is set, so the optimizer alone is tried here."""
    import tf_keras

    fit("horovod.tensorflow.keras", tf_keras, with_callbacks=False)
    legacy = hvd.DistributedOptimizer(tf_keras.optimizers.legacy.SGD(1.0))
    variable = tf.Variable(0.0)
    legacy.apply_gradients([(tf.constant(float(hvd.rank())), variable)])
    assert np.allclose(variable, -(hvd.size() - 1) / 2)


def check_warm_up_and_schedule() -> None:
    import horovod.tensorflow.keras as of_keras

    keras = tf.keras
    model = dense_model(keras)
    model.compile(of_keras.DistributedOptimizer(keras.optimizers.SGD(0.1 * hvd.size())), "mse")
    rates: list[float] = []

    class Note(keras.callbacks.Callback):  # type: ignore[name-defined]
        def on_train_batch_begin(self, batch: int, logs: object = None) -> None:
            rates.append(float(self.model.optimizer.learning_rate.numpy()))

    warmed = of_keras.callbacks.LearningRateWarmupCallback(0.1 * hvd.size(), warmup_epochs=2, verbose=1)
    later = of_keras.callbacks.LearningRateScheduleCallback(0.1 * hvd.size(), 0.5, start_epoch=2)
    inputs, wanted = batch(0)
    model.fit(share(inputs), share(wanted), batch_size=2, epochs=3, verbose=0, callbacks=[warmed, later, Note()])
    size = hvd.size()
    by_hand = [0.1 * (1 + (size - 1) * step / 4) for step in range(1, 5)] + [0.05 * size] * 2
    assert np.allclose(rates, by_hand), (rates, by_hand)


def check_a_saved_model_goes_on_without_horovod_and_with_it() -> None:
    import horovod.tensorflow.keras as of_keras

    keras = tf.keras
    model = dense_model(keras)
    model.compile(of_keras.DistributedOptimizer(keras.optimizers.SGD(0.1)), "mse")
    inputs, wanted = batch(0)
    model.fit(share(inputs), share(wanted), verbose=0)
    path = f"model_{hvd.rank()}.keras"
    model.save(path)
    plain = keras.models.load_model(path)
    assert not getattr(type(plain.optimizer), "_horovod", False)
    again = of_keras.load_model(path)
    assert type(again.optimizer)._horovod
    again.fit(share(inputs), share(wanted), verbose=0)


def check_graphs_of_tensorflow_1() -> None:
    v1 = tf.compat.v1
    weights = []
    for distributed in (False, True):
        with tf.Graph().as_default():
            v1.set_random_seed(5)
            inputs, wanted = v1.placeholder(tf.float32, [None, 6]), v1.placeholder(tf.float32, [None, 1])
            start = np.random.default_rng(1).normal(size=(6, 1)).astype(np.float32)
            weight = v1.get_variable("w", initializer=start * (1.0 + hvd.rank() if distributed else 1.0))
            loss = tf.reduce_mean(tf.square(tf.matmul(inputs, weight) - wanted))
            optimizer = v1.train.MomentumOptimizer(0.05, 0.9)
            if distributed:
                optimizer = hvd.DistributedOptimizer(optimizer)
            train = optimizer.minimize(loss, global_step=v1.train.get_or_create_global_step())
            hooks = [hvd.BroadcastGlobalVariablesHook(0)] if distributed else []
            with v1.train.MonitoredTrainingSession(hooks=hooks) as session:
                for number in range(5):
                    one, other = batch(number)
                    if distributed:
                        one, other = share(one), share(other)
                    session.run(train, {inputs: one, wanted: other})
                weights.append(session.run(weight))
    assert np.allclose(weights[0], weights[1], rtol=1e-4, atol=1e-6), weights
    with tf.Graph().as_default():
        held = v1.get_variable("held", initializer=float(hvd.rank()))
        operation = hvd.broadcast_global_variables(1)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(operation)
            assert session.run(held) == 1.0
            assert session.run(hvd.allreduce(held, op=hvd.Sum)) == float(hvd.size())


def check_elastic_state() -> None:
    variable = tf.Variable(float(hvd.rank()))
    state = hvd.elastic.TensorFlowState(variables=[variable], epoch=hvd.rank())

    @hvd.elastic.run
    def train(state: hvd.elastic.TensorFlowState) -> float:
        state.commit()
        variable.assign(7.0)
        state.restore()
        return float(variable.numpy())

    assert (train(state), state.epoch) == (0.0, 0)


def check_what_the_layer_cannot_do_is_refused_in_words() -> None:
    with refused(NotImplementedError, "Horovod itself"):
        hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1), backward_passes_per_step=2)
    with refused(NotImplementedError, "Keras", "DistributedGradientTape"):
        hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1), op=hvd.Adasum)


if __name__ == "__main__":
    hvd.init()
    run_all(dict(globals()))
