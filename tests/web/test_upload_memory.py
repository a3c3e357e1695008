"""What uploads cost the web process: the most that it held, beyond what it has when it is idle."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.running_server import Server, serving

MIB: Final = 1 << 20
MOST_MIB: Final = 600
LIST: Final = '{"apiVersion":"v1","kind":"List","items":['
SPEC: Final = '{"containers":[{"name":"c"}]}'
POD: Final = f'{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p%d"}},"spec":{SPEC}}}'
BUDGET: Final = (
    '{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b%d"},'
    '"spec":{"selector":{"matchExpressions":[{"key":"x","operator":"DoesNotExist"}]}}}'
)
YAML_POD: Final = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n"


def many(n: int) -> bytes:
    return f"{LIST}{','.join(POD % i for i in range(n))}]}}".encode()


def budgets() -> bytes:
    rows = [BUDGET % i for i in range(300)] + [POD % i for i in range(20_000)]
    return f"{LIST}{','.join(rows)}]}}".encode()


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(4):
            archive.writestr(f"{i}.json", many(200_000))
    return out.getvalue()


def labels() -> bytes:
    pairs = ",".join(f'"k{i}":"v"' for i in range(5_000_000))
    metadata = f'{{"name":"x","labels":{{{pairs}}}}}'
    return f'{{"apiVersion":"v1","kind":"Pod","metadata":{metadata}}}'.encode()


def aliases() -> bytes:
    anchored = "".join(f"    k{i}: v\n" for i in range(200_000))
    head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n  labels: &l\n"
    return f"{head}{anchored}  annotations: *l\nspec:\n  containers: [{{name: c}}]\n".encode()


CASES: Final[dict[str, Callable[[], bytes]]] = {
    "800,000 pods.json.gz": lambda: gzip.compress(many(800_000), 1),
    "800,000 pods.zip": zipped,
    "100,000 pods.json.gz": lambda: gzip.compress(many(100_000), 1),
    "budgets that cover all pods.json.gz": lambda: gzip.compress(budgets(), 1),
    "5,000,000 labels.json.gz": lambda: gzip.compress(labels(), 1),
    "2,000,000 containers.yaml.gz": lambda: gzip.compress(
        (YAML_POD + "  - name: c\n" * 2_000_000).encode(), 1
    ),
    "a hundred million brackets.json.gz": lambda: gzip.compress(b"[" * 30_000_000, 1),
    "an image of 300 MiB.json.gz": lambda: gzip.compress(
        b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"containers":[{"name":"c",'
        b'"image":"' + os.urandom(15 * MIB).hex().encode() * 10 + b'"}]}}',
        1,
    ),
    "an alias.yaml.gz": lambda: gzip.compress(aliases(), 1),
}


def peak_mib(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) >> 10


def sent(client: httpx.Client, door: str, name: str, token: str) -> tuple[int, str]:
    """Upload a case; the status, and the address of what was made of it, empty if nothing was."""
    files = {"files": (name, CASES[name]())}
    if door == "form":
        client.get("/snapshots/new")
        data = {"csrfmiddlewaretoken": client.cookies["kviz_csrf"]}
        answer = client.post("/snapshots/new", files=files, data=data)
        return answer.status_code, answer.headers.get("Location", "")
    headers = {"Authorization": f"Bearer {token}"}
    answer = client.post("/api/v1/snapshots/", files=files, headers=headers)
    made = answer.json().get("id")
    return answer.status_code, f"/snapshots/{made}" if made else ""


DOORS: Final = {"rest": sorted(CASES), "form": ["100,000 pods.json.gz", "800,000 pods.zip"]}
"""Both hand the same files to the same reader; the form receives them and shows what became."""


@pytest.mark.long
@pytest.mark.parametrize("door", DOORS)
def test_the_web_process_stays_small_whatever_is_uploaded(
    data_dir: Path, door: str, tmp_path: Path
) -> None:
    with (
        serving(data_dir, KVIZ_TEMP_DIR=str(tmp_path)) as server,
        httpx.Client(base_url=server.base_url, timeout=600) as client,
    ):
        client.get("/snapshots/")
        idle = peak_mib(server)
        for name in DOORS[door]:
            status, address = sent(client, door, name, server.token)
            assert status in {201, 302, 400}, name
            if address:
                assert client.get(address).status_code == 200
            assert peak_mib(server) - idle < MOST_MIB, name
