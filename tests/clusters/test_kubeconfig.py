"""kubeconfig files and in-cluster configuration: what is used, what is refused, in which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from kviz.clusters.reading.connection import Connection
from kviz.clusters.reading.kubeconfig import kubeconfig_paths, read_kubeconfig
from kviz.clusters.reading.problems import ContextRefused
from kviz.clusters.reading.resources import RESOURCES
from kviz.clusters.reading.targets import in_cluster_target, target_of
from tests.clusters.api_server import DATA, TOKEN, ApiServer, compact


def test_the_cluster_that_kviz_runs_in(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "ca.crt").write_bytes((DATA / "ca.crt").read_bytes())
    (tmp_path / "namespace").write_text("tools")
    with ApiServer({"nodes": [{"metadata": {"name": "n1"}}]}, tls=True) as server:
        host, _, port = server.url.removeprefix("https://").partition(":")
        environment = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
        target = in_cluster_target(environment, tmp_path)
        assert (target.namespace, target.protection) == ("tools", "verified")
        with Connection(target) as connection:
            assert b"n1" in connection.page(RESOURCES["Node"]).data
    with pytest.raises(ContextRefused, match="does not run in a pod"):
        in_cluster_target({}, tmp_path)


def test_of_several_files_the_first_counts(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    user = {"name": "u", "user": {"token": "first"}}
    cluster = {"name": "c", "cluster": {"server": "https://127.0.0.1:1/"}}
    context = {"name": "one", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}
    first.write_text(compact({"clusters": [cluster], "users": [user], "current-context": ""}))
    user["user"] = {"token": "second"}
    second.write_text(compact({"contexts": [context], "users": [user], "current-context": "one"}))
    missing = tmp_path / "missing"
    environment = {"KUBECONFIG": f"{first}:{missing}:{second}"}
    paths = kubeconfig_paths(None, environment)
    assert paths == (first, second)
    target = target_of(read_kubeconfig(paths))
    assert (target.name, target.server) == ("one", "https://127.0.0.1:1")
    assert target.namespace == "shop"
    assert target.bearer is not None
    assert target.bearer.token() == "first"
