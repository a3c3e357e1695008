"""A small OpenID provider for tests: it grants codes to whom the test says, and takes each once."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt

CLIENT_ID, CLIENT_SECRET = "kviz", "a secret of kviz and its provider"
SIGNING_KEY = "what the tokens of this provider are signed with"


class Provider:
    """What it granted, by code: the query it was asked with and the claims it will make."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.granted: dict[str, tuple[dict[str, str], dict[str, Any]]] = {}

    def grant(self, address: str, **claims: Any) -> str:
        """Let in whoever was sent to this address; the code that proves it, for the callback."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert address.startswith(f"{self.issuer}/authorize?")
        assert (asked["client_id"], asked["response_type"]) == (CLIENT_ID, "code")
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe()
        now = int(time.time())
        usual = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 60}
        self.granted[code] = (asked, usual | claims)
        return code

    def token(self, form: dict[str, str]) -> dict[str, str] | None:
        """What a code is worth; nothing if anything about it is wrong."""
        asked, claims = self.granted.pop(form.get("code", ""), ({}, {}))
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET)
            or challenge != asked.get("code_challenge")
            or form.get("redirect_uri") != asked.get("redirect_uri")
        ):
            return None
        id_token = jwt.encode(claims, SIGNING_KEY)
        return {"access_token": "unused", "token_type": "Bearer", "id_token": id_token}


@contextmanager
def openid_provider() -> Iterator[Provider]:
    """A provider on a port of its own."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            methods = ["client_secret_post"]
            self.say({
                "issuer": provider.issuer,
                "authorization_endpoint": f"{provider.issuer}/authorize",
                "token_endpoint": f"{provider.issuer}/token",
                "jwks_uri": f"{provider.issuer}/keys",
                "token_endpoint_auth_methods_supported": methods,
            })  # fmt: skip

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.say(provider.token({name: each[0] for name, each in parse_qs(sent).items()}))

        def say(self, document: object) -> None:
            body = json.dumps(document or {"error": "invalid_grant"}).encode()
            self.send_response(200 if document else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    provider = Provider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
