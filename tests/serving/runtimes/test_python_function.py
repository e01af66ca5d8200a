"""If these fail, what mlflow.<flavour>.log_model wrote is not served, or not asked as MLflow's own server is."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from tests.support.frameworks import environment
from tests.support.serving import Service

LOG = """
import sys, mlflow, pandas
from sklearn.linear_model import LinearRegression
rows = pandas.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
model = LinearRegression().fit(rows, rows["a"] + 10 * rows["b"])
mlflow.sklearn.save_model(model, sys.argv[1], signature=mlflow.models.infer_signature(rows, model.predict(rows)))
"""


def test_a_model_of_mlflow_is_asked_in_its_forms_and_in_ours(tmp_path: Path) -> None:
    python, path = environment("mlflow"), tmp_path / "model"
    subprocess.run([python, "-c", LOG, str(path)], check=True, capture_output=True)
    model = {"name": "lin", "version": 1, "path": str(path), "framework": "MLflow"}
    with Service(tmp_path / "s", python, models=[model]).ready() as service:
        split = {"columns": ["b", "a"], "data": [[1, 2], [0, 3]]}
        records = [{"a": 2, "b": 1}, {"a": 3, "b": 0}]
        for asked in (
            {"dataframe_split": split},
            {"dataframe_records": records},
            {"instances": records},
            {"inputs": {"a": [2, 3], "b": [1, 0]}},
        ):
            answer = service.ask("/invocations", asked)
            assert answer.status == 200, (asked, answer.body)
            assert [round(value, 6) for value in answer.json()["predictions"]] == [12, 3]
        csv = service.ask("/invocations", b"a,b\n2,1\n3,0\n", headers={"content-type": "text/csv"})
        assert [round(value, 6) for value in csv.json()["predictions"]] == [12, 3]
        assert round(service.ask("/score", {"dataframe_split": split}).json()["predictions"][0], 6) == 12
        assert round(service.ask("/score", {"data": [[2.0, 1.0]]}).json()[0], 6) == 12
        refused: list[dict[str, Any]] = [
            {"rows": []},
            {"instances": records, "params": 5},
            {"dataframe_split": {"columns": ["a"], "data": [[1]]}},
            {"dataframe_split": 5},
        ]
        for wrong in refused:
            assert service.ask("/invocations", wrong).status == 400
        assert service.ask("/invocations", b"a,b\nx,y\n", headers={"content-type": "text/csv"}).status == 400
        assert service.drain() == 0


ODD = """
import sys, mlflow, numpy, pandas

class Odd(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input, params=None):
        rows = len(model_input)
        return {
            "numbers": lambda: numpy.full((rows, 2), params["factor"]),
            "table": lambda: pandas.DataFrame({"a": range(rows), "at": pandas.Timestamp("2020-01-02")}),
            "series": lambda: pandas.Series(["x"] * rows, name="said"),
            "dictionary": lambda: {"scores": numpy.ones(rows), "label": "yes"},
            "texts": lambda: ["a"] * rows,
            "one": lambda: numpy.float32(0.5),
        }[params["kind"]]()

given = pandas.DataFrame({"a": [1.0]})
signature = mlflow.models.infer_signature(given, [1.0], params={"kind": "numbers", "factor": 1.5})
mlflow.pyfunc.save_model(sys.argv[1], python_model=Odd(), signature=signature)
"""


def test_params_reach_the_model_and_whatever_it_gives_is_answered(tmp_path: Path) -> None:
    python, path = environment("mlflow"), tmp_path / "model"
    subprocess.run([python, "-c", ODD, str(path)], check=True, capture_output=True)
    model = {"name": "odd", "version": 1, "path": str(path), "framework": "MLflow"}
    answers: list[tuple[dict[str, Any], Any]] = [
        ({}, [[1.5, 1.5], [1.5, 1.5]]),
        ({"factor": 2.0}, [[2.0, 2.0], [2.0, 2.0]]),
        ({"kind": "table"}, [{"a": number, "at": "2020-01-02T00:00:00"} for number in range(2)]),
        ({"kind": "series"}, [{"said": "x"}, {"said": "x"}]),
        ({"kind": "dictionary"}, {"scores": [1.0, 1.0], "label": "yes"}),
        ({"kind": "texts"}, ["a", "a"]),
        ({"kind": "one"}, 0.5),
    ]
    with Service(tmp_path / "s", python, models=[model]).ready() as service:
        for params, predictions in answers:
            asked = {"dataframe_records": [{"a": 1.0}, {"a": 2.0}], "params": params}
            answer = service.ask("/invocations", asked)
            assert (answer.status, answer.body and answer.json()) == (200, {"predictions": predictions}), params
        wrong = service.ask("/invocations", {"inputs": {"a": [1.0]}, "params": {"factor": "much"}})
        assert wrong.status == 400
        assert b"factor" in wrong.body
        assert service.drain() == 0


def test_a_folder_that_mlflow_has_not_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "model.pkl").write_bytes(b"x")
    model = {"name": "lin", "version": 1, "path": str(tmp_path / "m"), "framework": "MLflow"}
    with Service(tmp_path / "s", environment("mlflow"), models=[model]) as service:
        assert service.ended() == 3
        assert "MLmodel" in service.log_path.read_text()
