"""Uploads and saved runs, damaged at random: each is taken, or refused with reasons.

`KVIZ_EFFORT=long` sends ten thousand of each.
"""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.api.test_bad_input import WHOLE
from tests.effort import examples
from tests.web.cast import CLUSTER, Person, problem
from tests.web.test_saved_runs import opened, saved

DAMAGES = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.binary(max_size=6), st.integers(0, 9)),
    max_size=4,
)
CUTS = st.one_of(st.just(1.0), st.floats(0, 1))


def damaged(whole: bytes, damages: list[tuple[float, bytes, int]], cut: float) -> bytes:
    data = bytearray(whole)
    for where, inserted, removed in damages:
        position = int(len(data) * where)
        data[position : position + removed] = inserted
    return bytes(data[: int(len(data) * cut)])


@pytest.mark.hypothesis
@pytest.mark.parametrize("door", ["rest", "form"])
def test_no_upload_is_too_damaged(owner: Person, door: str) -> None:
    files = {**WHOLE, "cluster": CLUSTER.encode()}

    @examples(200, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(sorted(files)), DAMAGES, CUTS, st.binary(max_size=40))
    def send(name: str, damages: list[tuple[float, bytes, int]], cut: float, more: bytes) -> None:
        sent = (f"dump.{name}", damaged(files[name], damages, cut)), ("more.yaml", more)
        if door == "form":
            named = [SimpleUploadedFile(*each) for each in sent]
            found = owner.client.post("/snapshots/new", {"files": named})
            assert found.status_code == 302 or b'id="problems"' in found.content
            assert found.status_code in {302, 400}
            return
        answer = owner.upload(*sent)
        if answer.status_code == 201:
            assert answer.json()["counts"]
        else:
            assert problem(answer, 400)["errors"]

    send()


@pytest.mark.hypothesis
def test_no_saved_run_is_too_damaged(ada: Person) -> None:
    file = saved(ada.finished())

    @examples(200, suppress_health_check=list(HealthCheck))
    @given(DAMAGES, CUTS)
    def send(damages: list[tuple[float, bytes, int]], cut: float) -> None:
        answer = opened(ada, damaged(file, damages, cut))
        assert answer.status_code == 201 or problem(answer, 400)["detail"]

    send()
