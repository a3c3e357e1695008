"""A real `kviz serve` for tests: started, found, asked for its token, stopped."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

READY = re.compile(r"kviz is ready: (http://\S+)")


@dataclass(frozen=True)
class Server:
    """A running `kviz serve` with its own data folder."""

    base_url: str
    token: str
    data_dir: Path
    process: subprocess.Popen[str]

    @property
    def ws_url(self) -> str:
        return self.base_url.replace("http", "ws", 1)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kviz.cli", *arguments]


def environment(data_dir: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KVIZ_")}
    return {**kept, "KVIZ_DATA_DIR": str(data_dir), "PYTHONWARNINGS": "default", **more}


def start_server(data_dir: Path, **more: str) -> Server:
    """Start `kviz serve` on a free port and wait until it says where it is."""
    with (data_dir / "serve.log").open("w") as log:
        process = subprocess.Popen(
            command("serve", "--port", "0"),
            env=environment(data_dir, **more),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = READY.search(line)
    if found is None:
        process.kill()
        process.wait()
        raise AssertionError(f"kviz serve did not start: {(data_dir / 'serve.log').read_text()}")
    token = (data_dir / "token").read_text().strip()
    return Server(found[1], token, data_dir, process)


def stop_server(server: Server) -> int:
    server.process.terminate()
    try:
        code = server.process.wait(60)
    finally:
        server.process.kill()
        if server.process.stdout is not None:
            server.process.stdout.close()
    return code
