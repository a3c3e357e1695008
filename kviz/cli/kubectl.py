"""`kubectl kviz`: a pod of a real cluster, without files in between.

kubectl finds the command `kubectl-kviz` and hands over what follows. Context and namespace count as
they do for kubectl.
"""

from __future__ import annotations

import argparse
import sys
import webbrowser
from collections.abc import Callable, Sequence

from kviz.cli.django_setup import start_django
from kviz.cli.real_cluster import add_target_options, check_mode, imported, target_of_options
from kviz.command_line.arguments import Subparsers
from kviz.command_line.problems import CommandFailed
from kviz.project.serve_lock import served_at
from scheduler_core.api.ingest import Ingested
from scheduler_core.framework.plugin_calls import PluginFailure

MORE = "further options are those of `kviz %s --help`, such as --change or --config"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code: 0 fine, 1 failed, 2 wrong usage."""
    options, more = _parser().parse_known_args(arguments)
    try:
        return int(options.run(options, more))
    except CommandFailed as problem:
        print(f"kubectl kviz: {problem}", file=sys.stderr)
        return problem.exit_code
    except PluginFailure as problem:
        print(f"kubectl kviz: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(
        prog="kubectl kviz",
        description="Why pods of this cluster are pending, and what would help. kviz only reads.",
        allow_abbrev=False,
    )
    commands = root.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_pod_command(commands, "why", "say why a pod is pending", "explain").set_defaults(run=_why)
    _add_pod_command(
        commands, "unblock", "say what would let a pending pod bind", "unblock"
    ).set_defaults(run=_unblock)
    opened = commands.add_parser(
        "open",
        help="import the cluster, run the scheduler over it, and watch in the browser",
        allow_abbrev=False,
    )
    add_target_options(opened)
    opened.add_argument("--port", type=int, default=8000, help="if kviz is not being served yet")
    opened.add_argument("--no-browser", action="store_true", help="print the address only")
    opened.set_defaults(run=_open)
    return root


def _add_pod_command(
    commands: Subparsers, name: str, says: str, like: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=says, epilog=MORE % like, allow_abbrev=False)
    command.add_argument("pod", metavar="POD")
    command.add_argument("-n", "--namespace", default="", help="default: the context's")
    add_target_options(command)
    return command


def _why(options: argparse.Namespace, more: Sequence[str]) -> int:
    from kviz.questions.why.command import add_parser, explain_cluster

    return explain_cluster(*_asked("explain", "why", add_parser, options, more))


def _unblock(options: argparse.Namespace, more: Sequence[str]) -> int:
    from kviz.questions.unblock.command import add_parser, unblock_cluster

    return unblock_cluster(*_asked("unblock", "unblock", add_parser, options, more))


def _asked(
    command: str,
    called: str,
    add_parser: Callable[[Subparsers], None],
    options: argparse.Namespace,
    more: Sequence[str],
) -> tuple[argparse.Namespace, Ingested]:
    """A question of `kviz` with its options, and the cluster as it is now.

    `called` is what kubectl's users call the command; its usage says so.
    """
    target = target_of_options(options)
    name = options.pod.removeprefix("pods/").removeprefix("pod/")
    root = argparse.ArgumentParser(prog="kubectl kviz", allow_abbrev=False)
    commands = root.add_subparsers(required=True)
    add_parser(commands)
    parser = commands.choices[command]
    parser.prog = f"kubectl kviz {called}"
    pod = f"{options.namespace or target.namespace}/{name}"
    asked = parser.parse_args([target.name, "--pod", pod, *more])
    return asked, imported(target).ingested


def _open(options: argparse.Namespace, more: Sequence[str]) -> int:
    if more:
        raise CommandFailed(f"open does not know {' '.join(more)}")
    check_mode()
    target = target_of_options(options)
    found = imported(target)
    folder = start_django(migrate=True)
    from django.urls import reverse

    from kviz.accounts.services import local_workspace_ensure
    from kviz.runs.services import run_create
    from kviz.snapshots.services import snapshot_import

    workspace = local_workspace_ensure()
    snapshot = snapshot_import(workspace=workspace, ingested=found.ingested, name=target.name)
    run = run_create(workspace=workspace, snapshot=snapshot)
    path = reverse("run-explore", args=[run.pk])

    def show(address: str) -> None:
        print(f"{address}{path}", flush=True)
        if not options.no_browser:
            webbrowser.open(f"{address}{path}")

    if address := served_at(folder):
        show(address)
        return 0
    from kviz.cli.serve import serve_at

    return serve_at("127.0.0.1", options.port, show)


if __name__ == "__main__":
    sys.exit(main())
