"""kviz installed from its wheel and served, on a machine without Node.js."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import eventually

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
"""
UV = shutil.which("uv") or str(ROOT / ".uv/bin/uv")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [UV, "build", "--quiet", "--wheel", "--out-dir", str(folder)], cwd=ROOT, check=True
    )
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of a fresh environment with the wheel and what is locked, and nothing else."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    uv = [UV, "--quiet"]
    subprocess.run([*uv, "venv", "--python", sys.executable, str(folder)], check=True)
    pip = [*uv, "pip", "install", "--python", str(folder / "bin/python")]
    subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements.lock")], check=True)
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True)
    return folder / "bin"


@pytest.fixture(scope="module")
def address(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    environment = {"PATH": str(installed), "KVIZ_DATA_DIR": str(elsewhere / "data")}
    served = subprocess.Popen(
        [installed / "kviz", "serve", "--port", "0"],
        env=environment,
        cwd=elsewhere,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert served.stdout is not None
    with served.stdout as output:
        found = re.search(r"http://\S+", output.readline())
        assert found, "kviz serve did not start"
        yield found[0]
        served.terminate()
        assert served.wait(60) == 0


def fetch(address: str) -> bytes:
    with urllib.request.urlopen(address) as answer:
        found: bytes = answer.read()
        return found


def test_an_installed_kviz_is_ready_and_has_its_samples(address: str) -> None:
    # Degraded until its worker is up.
    eventually(lambda: json.loads(fetch(f"{address}/readyz"))["status"] == "ok")
    assert b"Six GPU nodes" in fetch(f"{address}/")


def test_every_file_of_the_front_end_is_served(wheel: Path, address: str) -> None:
    with zipfile.ZipFile(wheel) as packed:
        manifest = json.loads(packed.read("kviz/share/static/kviz/manifest.json"))
    built = {entry["file"] for entry in manifest.values()}
    built |= {style for entry in manifest.values() for style in entry.get("css", ())}

    assert any(entry.get("isEntry") for entry in manifest.values())
    assert [name for name in sorted(built) if not fetch(f"{address}/static/kviz/{name}")] == []
    assert b"data-theme" in fetch(f"{address}/static/kviz/theme.js")
    assert b"ConfigurationV1" in fetch(f"{address}/static/kviz/schema/configuration.en.json")


def test_documents_are_there(address: str) -> None:
    assert b"KVIZ_DATABASE_URL" in fetch(f"{address}/docs/operation")


def test_commands_that_need_no_server_work(installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": str(installed)}
    said = subprocess.run(
        [installed / "kviz", "gates"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert "SchedulerAsyncPreemption" in said.stdout


def test_the_base_serves_and_says_what_reads_clusters(wheel: Path, tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    uv = [UV, "--quiet"]
    subprocess.run([*uv, "venv", "--python", sys.executable, str(tmp_path / "venv")], check=True)
    subprocess.run([*uv, "pip", "install", "--python", str(python), str(wheel)], check=True)
    (tmp_path / "config").write_text(KUBECONFIG)
    has_it = subprocess.run([python, "-c", "import kubernetes"], capture_output=True, check=False)
    assert has_it.returncode == 1
    web = "from kviz.project.asgi import application; import kviz.project.urls"
    environment = {"PATH": "/usr/bin", "KVIZ_DATA_DIR": str(tmp_path / "data")}
    subprocess.run([python, "-c", web], check=True, cwd=tmp_path, env=environment)
    said = subprocess.run(
        [python, "-m", "kviz.cli", "import", "--kubeconfig", "config"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert "[cluster]" in said.stderr


def test_the_wheel_has_nothing_that_is_not_needed_to_run(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        top = {tuple(name.split("/")[:2]) for name in packed.namelist()}

    assert {first for first, _ in top} == {"kviz", "scheduler_core"} | {
        first for first, _ in top if first.endswith(".dist-info")
    }
    assert ("kviz", "Chart.yaml") not in top  # of deploy/helm/kviz


@pytest.mark.parametrize("python", ["3.11.2", "3.12", "3.13"])  # of Debian 12, the image, Debian 13
@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-test.lock"])
def test_a_lock_has_all_that_a_python_needs(tmp_path: Path, python: str, lock: str) -> None:
    of = ["--python", sys.executable, "--python-version", python, "--target", str(tmp_path)]
    install = [UV, "pip", "install", "--quiet", "--dry-run", *of]
    subprocess.run([*install, "--require-hashes", "-r", str(ROOT / lock)], check=True)


def test_a_wheel_made_of_the_source_archive_is_the_same(wheel: Path, tmp_path: Path) -> None:
    sources, again = tmp_path / "sources", tmp_path / "again"
    build = [UV, "build", "--quiet"]
    subprocess.run([*build, "--sdist", "--out-dir", str(sources), str(ROOT)], check=True)
    [archive] = sources.glob("*.tar.gz")
    subprocess.run([*build, "--wheel", "--out-dir", str(again), str(archive)], check=True)
    [built] = again.glob("*.whl")

    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(built) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
