"""Inputs that the tests of this folder share."""

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

from scheduler_core.api.ingest import Ingested, ingest

SHOP = (Path(__file__).parent / "data" / "shop.yaml").read_bytes()


def pod(name: str = "web", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "registry.example.com/web:1"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"containers": containers, **spec},
    }


def node(name: str = "ada", **status: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def listed(*items: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def tar_of(files: dict[str, bytes], mode: str = "w") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return packed.getvalue()


def zip_of(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def gz_of(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def ingest_one(data: bytes, name: str = "upload") -> Ingested:
    return ingest([(name, data)])


def error_of(data: bytes, name: str = "upload") -> str:
    """The one error of a file."""
    result = ingest_one(data, name)
    assert not len(result.objects), result.objects
    (error,) = result.errors
    return str(error)
