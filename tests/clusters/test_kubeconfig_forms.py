"""The recorded forms of kubeconfig: kviz does as kubectl does, or refuses in clear words.

`data/kubeconfig-forms.json` says what the official Python client and kubectl make of each. Where
the client goes on as somebody else, or as nobody, kviz does not.
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kviz.clusters.reading.connection import Connection
from kviz.clusters.reading.problems import ClusterProblem
from kviz.clusters.reading.resources import RESOURCES
from kviz.clusters.reading.targets import chosen_target
from tests.clusters.api_server import DATA, TOKEN, ApiServer, Json
from tests.clusters.cluster import kubeconfig, small_cluster, written
from tests.clusters.connect_proxy import ConnectProxy

FORMS = json.loads((DATA / "kubeconfig-forms.json").read_text())["result"]
CA = DATA / "ca.crt"
V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    with ApiServer(small_cluster(), tls=True) as server:
        yield server


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "ALL_PROXY", "KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def data_of(name: str) -> str:
    return b64encode((DATA / name).read_bytes()).decode()


def plugin(folder: Path, status: Json, *, answers_as: str = V1, fails: bool = False) -> str:
    """A program that hands out credentials."""
    credential = {"apiVersion": answers_as, "kind": "ExecCredential", "status": status}
    path = folder / "get-credentials"
    code = "import sys; sys.exit('no session for ' + 'a-secret-name')" if fails else ""
    path.write_text(f"#!{sys.executable}\n{code}\nprint({json.dumps(credential)!r})\n")
    path.chmod(0o700)
    return str(path)


def with_plugin(command: str, api_version: str = V1, **more: object) -> Json:
    return {"exec": {"apiVersion": api_version, "command": command, "args": None} | more}


CERTIFICATE = {
    "clientCertificateData": (DATA / "client.crt").read_text(),
    "clientKeyData": (DATA / "client.key").read_text(),
}
Form = Callable[[str, Path], Json]
"""A kubeconfig for a server, with its files in a folder."""


def relative_ca(url: str, folder: Path) -> Json:
    (folder / "certs").mkdir()
    (folder / "certs" / "ca.crt").write_bytes(CA.read_bytes())
    return kubeconfig(url, cluster={"certificate-authority": "certs/ca.crt"})


def token_file(url: str, folder: Path, **more: str) -> Json:
    (folder / "token").write_text(f"{TOKEN}\n")
    return kubeconfig(url, user={"tokenFile": str(folder / "token")} | more)


def relative_token_file(url: str, folder: Path) -> Json:
    (folder / "token").write_text(f"{TOKEN}\n")
    return kubeconfig(url, user={"tokenFile": "token"})


WORKS: dict[str, Form] = {
    "token, CA file": lambda url, _: kubeconfig(url, cluster={"certificate-authority": str(CA)}),
    "token, CA data": lambda url, _: kubeconfig(url),
    "token, CA file relative": relative_ca,
    "token, insecure-skip-tls-verify": lambda url, _: kubeconfig(
        url, cluster={"insecure-skip-tls-verify": True}
    ),
    "tokenFile": token_file,
    "tokenFile relative": relative_token_file,
    "token and tokenFile (tokenFile wins in kubectl)": lambda url, folder: token_file(
        url, folder, token="another"
    ),
    "client cert files": lambda url, _: kubeconfig(
        url,
        user={
            "client-certificate": str(DATA / "client.crt"),
            "client-key": str(DATA / "client.key"),
        },
    ),
    "client cert data": lambda url, _: kubeconfig(
        url,
        user={
            "client-certificate-data": data_of("client.crt"),
            "client-key-data": data_of("client.key"),
        },
    ),
    "exec token": lambda url, folder: kubeconfig(
        url, user=with_plugin(plugin(folder, {"token": TOKEN}), provideClusterInfo=True)
    ),
    "exec relative command": lambda url, folder: kubeconfig(
        url, user=with_plugin("./" + Path(plugin(folder, {"token": TOKEN})).name)
    ),
    "exec client cert": lambda url, folder: kubeconfig(
        url, user=with_plugin(plugin(folder, CERTIFICATE))
    ),
    "tls-server-name": lambda url, _: kubeconfig(
        url,
        cluster={
            "certificate-authority": str(CA),
            "tls-server-name": "kubernetes.default.svc",
        },
    ),
    "server with path and slash": lambda url, _: kubeconfig(f"{url}/"),
    "server by name localhost": lambda url, _: kubeconfig(url.replace("127.0.0.1", "localhost")),
    "disable-compression": lambda url, _: kubeconfig(
        url, cluster={"certificate-authority": str(CA), "disable-compression": True}
    ),
    "preferences and extensions": lambda url, _: kubeconfig(
        url, preferences={"colors": True}, extensions=[{"name": "x", "extension": {"y": 1}}]
    ),
}

REFUSED: dict[str, tuple[Form, str]] = {
    "token, no CA (must fail)": (
        lambda url, _: kubeconfig(url, cluster={}),
        "could not prove to be the API server of context prod",
    ),
    "exec missing command (must fail)": (
        lambda url, _: kubeconfig(url, user=with_plugin("no-such-plugin")),
        "The exec plugin no-such-plugin of user u is not installed.",
    ),
    "exec interactiveMode Always": (
        lambda url, folder: kubeconfig(
            url, user=with_plugin(plugin(folder, {"token": TOKEN}), interactiveMode="Always")
        ),
        "wants a terminal",
    ),
    "exec v1beta1": (
        lambda url, folder: kubeconfig(
            url, user=with_plugin(plugin(folder, {"token": TOKEN}, answers_as=V1BETA1))
        ),
        f"is configured as {V1} and answered as {V1BETA1}",
    ),
    "tls-server-name wrong (must fail)": (
        lambda url, _: kubeconfig(
            url,
            cluster={"certificate-authority": str(CA), "tls-server-name": "wrong.example"},
        ),
        "could not prove to be the API server",
    ),
    "proxy-url dead (must fail)": (
        lambda url, _: kubeconfig(
            url,
            cluster={"certificate-authority": str(CA), "proxy-url": "http://127.0.0.1:9"},
        ),
        "The proxy on the way to .* does not answer",
    ),
    "no current-context (must fail)": (
        lambda url, _: kubeconfig(url) | {"current-context": ""},
        "No context is current; choose one of: prod",
    ),
    "context names missing user (must fail)": (
        lambda url, _: kubeconfig(url, users=None),
        "names the user 'u', who is not there: kviz would ask as nobody",
    ),
    "no user credentials (anonymous)": (
        lambda url, _: kubeconfig(url, user={}),
        "User u has no credentials: kviz would ask as nobody",
    ),
    "wrong token (401)": (
        lambda url, _: kubeconfig(url, user={"token": "a-wrong-token"}),
        "does not accept the credentials",
    ),
    "username/password": (
        lambda url, _: kubeconfig(url, user={"username": "admin", "password": "hunter2hunter2"}),
        "user name and password; Kubernetes 1.19 removed them",
    ),
    "as (impersonation)": (
        lambda url, _: kubeconfig(url, user={"token": TOKEN, "as": "somebody"}),
        "acts as somebody else",
    ),
    "auth-provider (removed)": (
        lambda url, _: kubeconfig(url, user={"auth-provider": {"name": "gcp"}}),
        "auth-provider; Kubernetes 1.26 removed them",
    ),
}

ELSEWHERE = {
    "proxy-url",
    "HTTPS_PROXY set to a dead proxy",
    "... and NO_PROXY=127.0.0.1",
    "KUBECONFIG of two files",  # test_kubeconfig.py
    "in-cluster",  # test_kubeconfig.py
    "in-cluster, not in a pod",  # test_kubeconfig.py
}


def nodes_of(path: Path) -> int:
    with Connection(chosen_target(path, "", {})) as connection:
        return connection.page(RESOURCES["Node"]).data.count(b"allocatable")


def test_every_recorded_form_is_tried() -> None:
    assert len(FORMS) == 36
    assert set(FORMS) == {*WORKS, *REFUSED, *ELSEWHERE}


@pytest.mark.parametrize("form", WORKS)
def test_what_kubectl_does_kviz_does(server: ApiServer, tmp_path: Path, form: str) -> None:
    assert FORMS[form]["kubectl"] == "ok"
    assert nodes_of(written(tmp_path, WORKS[form](server.url, tmp_path))) == 2


@pytest.mark.parametrize("form", REFUSED)
def test_what_is_not_safe_is_refused_in_words(
    server: ApiServer, tmp_path: Path, form: str, caplog: pytest.LogCaptureFixture
) -> None:
    make, words = REFUSED[form]
    with pytest.raises(ClusterProblem, match=words) as caught:
        nodes_of(written(tmp_path, make(server.url, tmp_path)))
    told = f"{caught.value!r} {caplog.text}"
    for secret in (TOKEN, "a-wrong-token", "hunter2"):
        assert secret not in told


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"user": {"token": "two\nlines"}}, "holds characters that no token has"),
        ({"user": {"token": "  "}}, "is empty"),
        ({"user": {"tokenFile": "/no/such/file"}}, "No such file"),
        ({"user": {"client-certificate-data": "bm8=", "client-key-data": "bm8="}}, "certificates"),
        ({"user": {"client-certificate-data": "!", "client-key-data": "!"}}, "is not base64"),
        ({"user": {"client-certificate-data": "bm8="}}, "not both"),
        ({"user": with_plugin("x", "client.authentication.k8s.io/v1alpha1")}, "kviz knows"),
        ({"cluster": {"certificate-authority-data": "bm8=", "insecure-skip-tls-verify": True}},
         "both a certificate authority and"),
        ({"clusters": [{"name": "c", "cluster": {"server": "https://me:pw@host"}}]},
         "credentials in its address"),
        ({"clusters": [{"name": "c", "cluster": {"server": "ftp://host"}}]}, "not an http"),
        ({"clusters": []}, "names the cluster 'c', which is not there"),
        ({"contexts": "none"}, "is not a kubeconfig file: Expected `array"),
    ],
)  # fmt: skip
def test_what_else_is_refused(
    server: ApiServer, tmp_path: Path, changes: dict[str, Json], words: str
) -> None:
    with pytest.raises(ClusterProblem, match=words) as caught:
        nodes_of(written(tmp_path, kubeconfig(server.url, **changes)))
    assert "two" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("users: [{user: {token: a-secret", r"is not valid YAML at line \d"),
        ("\xff\xfe\x00", "is not UTF-8"),
        ("- a-secret", "is not a kubeconfig file"),
    ],
)
def test_a_broken_file_is_not_quoted(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "config"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ClusterProblem, match=words) as caught:
        nodes_of(path)
    assert "a-secret" not in str(caught.value)


def test_a_failing_plugin_is_not_quoted(server: ApiServer, tmp_path: Path) -> None:
    command = plugin(tmp_path, {}, fails=True)
    with pytest.raises(ClusterProblem, match=r"failed \(exit status 1\)") as caught:
        nodes_of(written(tmp_path, kubeconfig(server.url, user=with_plugin(command))))
    assert "a-secret-name" not in str(caught.value)


def test_a_token_that_is_over_is_asked_for_again(server: ApiServer, tmp_path: Path) -> None:
    command = plugin(tmp_path, {"token": "old", "expirationTimestamp": "2020-01-01T00:00:00Z"})
    target = chosen_target(
        written(tmp_path, kubeconfig(server.url, user=with_plugin(command))), "", {}
    )
    plugin(tmp_path, {"token": TOKEN})
    with Connection(target) as connection:
        assert connection.page(RESOURCES["Node"])


def test_a_proxy_is_used_with_its_credentials(server: ApiServer, tmp_path: Path) -> None:
    with ConnectProxy() as proxy:
        cluster = {"proxy-url": f"http://me:open-sesame@{proxy.address}"}
        config = kubeconfig(server.url, cluster=cluster | {"certificate-authority": str(CA)})
        assert nodes_of(written(tmp_path, config)) == 2
        [tunnel] = proxy.tunnels
        assert tunnel.endswith(b64encode(b"me:open-sesame").decode())


def test_the_environments_proxy_counts_unless_it_says_no(
    server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, kubeconfig(server.url))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with pytest.raises(ClusterProblem, match="The proxy on the way"):
        nodes_of(path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert nodes_of(path) == 2
