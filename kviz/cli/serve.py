"""`kviz serve`: web pages, REST, websockets and a worker, in one go."""

from __future__ import annotations

import argparse
import contextlib
import errno
import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from kviz import environment
from kviz.cli.django_setup import one_at_a_time, start_django
from kviz.command_line.arguments import Subparsers
from kviz.command_line.problems import CommandFailed
from kviz.common.mode import Mode
from kviz.project import serve_lock


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser("serve")
    command.add_argument("--host", default="127.0.0.1", help="address (default: %(default)s)")
    command.add_argument(
        "--port", type=_port, default=8000, help="port, 0 for any (default: %(default)s)"
    )
    command.add_argument(
        "--workers",
        type=int,
        choices=(0, 1),
        default=1,
        help="0: runs are executed by `kviz worker` elsewhere (default: %(default)s)",
    )
    command.add_argument(
        "--lessons", type=_folder, metavar="FOLDER", help="lessons of your own (docs/lessons.md)"
    )
    command.set_defaults(run=run)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port")
    return int(text)


def _folder(text: str) -> str:
    path = Path(text).absolute()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is not a folder")
    return str(path)


def run(options: argparse.Namespace) -> int:
    if options.lessons:
        os.environ["KVIZ_LESSONS_DIR"] = options.lessons
    return serve_at(options.host, options.port, n_workers=options.workers)


def serve_at(
    host: str, port: int, ready: Callable[[str], None] | None = None, *, n_workers: int = 1
) -> int:
    """Serve until interrupted; `ready` is called with the address once it takes connections.

    Raises CommandFailed.
    """
    _check_host(host)
    folder = environment.prepare_data_dir()
    with _held(folder) as lock, _listen(host, port) as listener:
        address = _address(host, listener.getsockname()[1])
        lock.say(address)
        start_django(migrate=True)
        from kviz.accounts.services import local_token_ensure
        from kviz.classroom.services import classes_begin
        from kviz.project.serving import serve
        from kviz.snapshots.services import samples_load

        with one_at_a_time():
            local_token_ensure(folder=folder)
            samples_load()
            classes_begin()
        if ready is not None:
            ready(address)
        serve(listener, host=host, n_workers=n_workers)
    return 0


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[serve_lock.Held]:
    try:
        with serve_lock.hold(folder) as lock:
            yield lock
    except serve_lock.FolderInUse as problem:
        raise CommandFailed(str(problem)) from None


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _check_host(host: str) -> None:
    """Local mode trusts everyone who can connect, so nobody from outside may."""
    if environment.choice("KVIZ_MODE", tuple(Mode)) == Mode.LOCAL and not _is_loopback(host):
        raise CommandFailed(
            f"{host} can be reached from other machines, and in local mode everyone who reaches "
            "kviz owns its data. For others, set KVIZ_MODE=server and KVIZ_ALLOWED_HOSTS."
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named TCP, the event loop turns Nagle's algorithm off; else small answers take 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as problem:
        listener.close()
        if problem.errno == errno.EADDRINUSE:
            raise CommandFailed(
                f"Port {port} on {host} is in use. Stop the program that uses it, "
                f"or choose another port: kviz serve --port {port + 1 if port < 65535 else 8000}"
            ) from None
        reason = os.strerror(problem.errno) if problem.errno else str(problem)
        raise CommandFailed(f"kviz cannot listen on {host} port {port}: {reason}.") from None
    return listener
