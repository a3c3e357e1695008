"""What each role may do, at every address there is, in their own workspace and in another one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone
from pytest_django import Settings

from kviz.accounts import members
from kviz.accounts.middleware import FOR_VIEWERS
from kviz.accounts.models import ApiToken, Invitation, Membership, Role, Workspace
from kviz.accounts.services import person_add, token_create, workspace_create
from kviz.by_hand.models import Game
from kviz.by_hand.services import game_of_run
from kviz.classroom.models import Room
from kviz.classroom.services import room_open_run
from kviz.clusters.followed.models import FollowedCluster
from kviz.experiments.models import Experiment
from kviz.experiments.services import experiment_create
from kviz.extenders.models import ExtenderSession
from kviz.extenders.services import session_create
from kviz.lessons.homework import homework_give
from kviz.lessons.selectors import lessons
from kviz.live.consumers import NOT_FOUND
from kviz.runs.models import Run, ShareLink
from kviz.runs.sharing import run_share
from kviz.snapshots.models import Snapshot
from tests.web.cast import API, NODES, Person
from tests.web.test_live import connect

PASSWORD = "a long enough password"
UNSAFE = ("post", "put", "patch", "delete")
OWN_DOOR = {
    "api-class-answer",
    "api-class-board",
    "api-class-control",
    "api-class-propose",
    "api-extender",
}
"""A class asks who sits in it, a scheduler shows its token: whatever workspace they work in."""


@pytest.fixture(autouse=True)
def _server(settings: Settings, db: None) -> None:
    settings.MODE = "server"


def signed_in(name: str) -> tuple[User, Client]:
    person = person_add(name=name, password=PASSWORD)
    browser = Client(raise_request_exception=False)
    browser.force_login(person)
    return person, browser


@pytest.fixture
def olga() -> tuple[User, Client, Workspace]:
    """An owner of a workspace."""
    person, browser = signed_in("olga")
    return person, browser, workspace_create(person=person, name="Platform")


@pytest.fixture
def ids(olga: tuple[User, Client, Workspace]) -> dict[str, Any]:
    """What there is in the owner's workspace, by the name it has in addresses."""
    workspace = olga[2]
    run = Person(workspace, token_create(workspace=workspace)).finished()
    observed = Run.objects.create(workspace=workspace, kind=Run.Kind.OBSERVED)
    members.invitation_create(workspace=workspace, role=Role.VIEWER, made_by=olga[0])
    invited = Invitation.objects.get()
    token_create(workspace=workspace, person=olga[0], days=7)
    asked = {"of": "zones"}
    experiment = experiment_create(
        workspace=workspace, beginning=run, kind="survive", asked=asked, name=""
    )
    return {
        "run_id": run.pk,
        "other_id": run.pk,
        "snapshot_id": run.snapshot_id,
        "experiment_id": experiment.pk,
        "session_id": session_create(workspace=workspace).pk,
        "followed_id": FollowedCluster.objects.create(run=observed).pk,
        "game_id": game_of_run(workspace=workspace, run=run, name="").pk,
        "homework_id": homework_give(workspace=workspace, stored_lesson=lessons().lessons[0]).pk,
        "room_id": room_open_run(workspace=workspace, run=run, cycle=1).pk,
        "link_id": run_share(run=run).pk,
        "workspace_id": workspace.pk,
        "membership_id": Membership.objects.get(workspace=workspace, role=Role.OWNER).pk,
        "invitation_id": invited.pk,
        "sha256": ApiToken.objects.get(person=olga[0]).pk,
        "person_id": olga[0].pk,
    }


def member(workspace: Workspace, role: Role) -> Client:
    person, browser = signed_in(str(role))
    members.member_add(workspace=workspace, name=person.username, role=role)
    return browser


def uploaded_by(browser: Client) -> bool:
    answer = browser.post(f"{API}/snapshots/", NODES, content_type="application/yaml")
    return answer.status_code == 201


def addresses(ids: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """Name and path of every address; whether it names something of the workspace."""
    some: dict[str, object] = {"uuid": UUID(int=0), "int": 1}
    for name, route in _routes(get_resolver().url_patterns, ""):
        path, is_theirs = f"/{route}", False
        for kind, wanted in re.findall(r"<(?:(\w+):)?(\w+)>", route):
            value = ids.get(wanted, some.get(kind, "x"))
            path = re.sub(rf"<(\w+:)?{wanted}>", str(value), path)
            is_theirs |= wanted in ids
        yield name, path, is_theirs


def _routes(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[tuple[str, str]]:
    for each in patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _routes(each.url_patterns, route)
        else:
            yield each.name or route, route


def stored() -> list[int]:
    kinds = (Snapshot, Run, Experiment, ExtenderSession, Workspace, Membership, Invitation)
    kept = [kind._base_manager.count() for kind in (*kinds, ApiToken, Game, Room, FollowedCluster)]
    return [*kept, ShareLink.objects.open().count()]


@pytest.mark.slow("asks every address")
def test_a_viewer_changes_nothing_at_any_address(
    olga: tuple[User, Client, Workspace], ids: dict[str, Any]
) -> None:
    viewer = member(olga[2], Role.VIEWER)
    before = stored()
    let_in = []
    for name, path, _ in addresses(ids):
        if name in FOR_VIEWERS | OWN_DOOR or path.startswith("/account/"):
            continue
        for method in UNSAFE:
            answer = getattr(viewer, method)(path)
            if answer.status_code not in (403, 405):
                let_in.append((method, path, answer.status_code))
    assert let_in == []
    assert stored() == before


def test_a_viewer_reads_and_an_editor_changes(
    olga: tuple[User, Client, Workspace], ids: dict[str, Any]
) -> None:
    viewer, editor = member(olga[2], Role.VIEWER), member(olga[2], Role.EDITOR)
    for browser in (viewer, editor):
        for path in (f"/runs/{ids['run_id']}", f"{API}/runs/{ids['run_id']}/cycles/"):
            assert browser.get(path).status_code == 200
    page = f"/runs/{ids['run_id']}"
    assert b"/delete" not in viewer.get(page).content
    assert b"/delete" in editor.get(page).content
    refused = viewer.post(f"{page}/rename", {"name": "mine"})
    assert refused.status_code == 403
    assert b"you read it, and change nothing" in refused.content
    assert viewer.delete(f"{API}{page}/").json()["detail"].startswith("You are a viewer")

    assert editor.post(f"{page}/rename", {"name": "ours"}).status_code == 302
    assert Run.objects.get(pk=ids["run_id"]).name == "ours"
    assert uploaded_by(editor)


NOBODYS = {
    "against", "code", "cycle", "name", "namespace", "node", "number", "page", "path", "slug",
    "token", "upload_id", "verb",
}  # fmt: skip
"""What addresses name that belongs to nobody, is a part of what does, or opens a door by itself."""


def test_every_id_that_an_address_names_is_tried(ids: dict[str, Any]) -> None:
    routes = [route for _, route in _routes(get_resolver().url_patterns, "")]
    named = {each for route in routes for each in re.findall(r"<(?:\w+:)?(\w+)>", route)}
    assert named - NOBODYS == set(ids)


@pytest.mark.slow("asks every address")
@pytest.mark.parametrize("role", [Role.OWNER, "guest"])
def test_who_is_in_another_workspace_finds_nothing(
    olga: tuple[User, Client, Workspace], ids: dict[str, Any], role: str
) -> None:
    if role == "guest":
        stranger = Client(raise_request_exception=False)
        assert uploaded_by(stranger)
    else:
        _, stranger = signed_in("stranger")
        elsewhere = workspace_create(person=signed_in("ulli")[0], name="Elsewhere")
        members.member_add(workspace=elsewhere, name="stranger", role=Role(role))
    before = stored()
    found = []
    for name, path, is_theirs in addresses(ids):
        if name == "token-revoke":  # says the same of tokens of others as of none: see `stored`
            assert stranger.post(path).status_code == 302
            continue
        for method in ("get", *UNSAFE) if is_theirs else ():
            answer = getattr(stranger, method)(path)
            is_led_to_sign_in = answer.headers.get("Location", "").startswith("/account/sign-in?")
            if answer.status_code not in (400, 403, 404, 405, 415) and not is_led_to_sign_in:
                found.append((method, path, answer.status_code))
    assert found == []
    assert stored() == before


@pytest.mark.parametrize("role", Role.values)
def test_only_owners_say_who_the_members_are(
    olga: tuple[User, Client, Workspace], role: str
) -> None:
    workspace = olga[2]
    browser = member(workspace, Role(role))
    signed_in("nina")
    theirs = Membership.objects.get(person=olga[0])
    at = f"/account/workspaces/{workspace.pk}"
    asked = {
        at: {"name": "Renamed"},
        f"{at}/members": {"name": "nina", "role": "viewer"},
        f"{at}/invitations": {"role": "owner"},
        f"{at}/members/{theirs.pk}/role": {"role": "viewer"},
        f"{at}/members/{theirs.pk}/remove": {},
    }
    assert browser.get(at).status_code == 200
    if role != Role.OWNER:
        for path, said in asked.items():
            assert browser.post(path, said).status_code == 403
        assert [each.role for each in members_now(workspace)] == ["owner", role]
        return
    for path, said in asked.items():
        assert browser.post(path, said).status_code in (200, 302)
    assert {(each.person.username, each.role) for each in members_now(workspace)} == {
        ("owner", "owner"), ("nina", "viewer"),
    }  # fmt: skip


def members_now(workspace: Workspace) -> list[Membership]:
    return list(workspace.memberships.select_related("person").order_by("pk"))


def test_members_of_others_are_not_mine_to_name(olga: tuple[User, Client, Workspace]) -> None:
    """The owner of one workspace asks for members and links of another below the own address."""
    thief, browser = signed_in("thief")
    mine = workspace_create(person=thief, name="Mine")
    theirs = Membership.objects.get(person=olga[0])
    members.invitation_create(workspace=olga[2], role=Role.EDITOR, made_by=olga[0])
    link = Invitation.objects.get()

    browser.post(f"/account/workspaces/{mine.pk}/members/{theirs.pk}/remove")
    browser.post(f"/account/workspaces/{mine.pk}/members/{theirs.pk}/role", {"role": "viewer"})
    browser.post(f"/account/workspaces/{mine.pk}/invitations/{link.pk}/withdraw")
    for path in ("", "/use", "/members", "/invitations"):
        assert browser.post(f"/account/workspaces/{olga[2].pk}{path}").status_code == 404
    assert browser.get(f"/account/workspaces/{olga[2].pk}").status_code == 404

    theirs.refresh_from_db()
    assert theirs.role == Role.OWNER
    assert Invitation.objects.count() == 1


def test_the_last_owner_stays(olga: tuple[User, Client, Workspace]) -> None:
    _, browser, workspace = olga
    own = Membership.objects.get()
    at = f"/account/workspaces/{workspace.pk}/members/{own.pk}"
    member(workspace, Role.EDITOR)

    for path, said in ((f"{at}/remove", {}), (f"{at}/role", {"role": "editor"})):
        page = browser.post(path, said, follow=True)
        assert b"The last owner must stay." in page.content
    own.refresh_from_db()
    assert own.role == Role.OWNER


def test_who_is_let_go_sees_nothing_any_more(
    olga: tuple[User, Client, Workspace], ids: dict[str, Any]
) -> None:
    editor = member(olga[2], Role.EDITOR)
    editor.post(f"/account/workspaces/{olga[2].pk}/use")
    path = f"/runs/{ids['run_id']}"
    assert editor.get(path).status_code == 200
    gone = Membership.objects.get(person__username="editor")

    olga[1].post(f"/account/workspaces/{olga[2].pk}/members/{gone.pk}/remove")

    assert editor.get(path).status_code == 404
    assert editor.get("/runs/").status_code == 200


def test_one_works_in_the_workspace_one_chose(olga: tuple[User, Client, Workspace]) -> None:
    person, browser, first = olga
    second = workspace_create(person=person, name="Second")
    assert uploaded_by(browser)

    browser.post(f"/account/workspaces/{second.pk}/use")
    assert uploaded_by(browser)

    owners = Snapshot.objects.filter(is_sample=False).order_by("created_at")
    assert [each.workspace for each in owners] == [first, second]
    assert len(browser.get("/snapshots/").context["page"]) == 1
    browser.post("/account/workspaces/", {"name": "Third"})
    assert Workspace.objects.get(name="Third").memberships.get().person == person


def test_a_link_invites_until_it_expires_or_is_withdrawn(
    olga: tuple[User, Client, Workspace],
) -> None:
    _, browser, workspace = olga
    at = f"/account/workspaces/{workspace.pk}/invitations"
    page = browser.post(at, {"role": "editor"})
    link = str(page.context["link"]).removeprefix("http://testserver")
    assert link not in str(list(Invitation.objects.values()))
    assert link not in browser.get(f"/account/workspaces/{workspace.pk}").content.decode()
    stranger = Client().get(link)
    assert stranger["Location"] == f"/account/sign-in?next={link}"

    _, nina = signed_in("nina")
    assert b"Platform" in nina.get(link).content
    assert [each.person.username for each in members_now(workspace)] == ["olga"]
    nina.post(link)
    joined = [(each.person.username, each.role) for each in members_now(workspace)]
    assert joined == [("olga", "owner"), ("nina", "editor")]
    browser.post(link)
    assert Membership.objects.get(person=olga[0]).role == Role.OWNER

    _, late = signed_in("late")
    Invitation.objects.update(expires_at=timezone.now())
    assert late.post(link).status_code == 404
    again = str(browser.post(at, {"role": "viewer"}).context["link"])
    browser.post(f"{at}/{Invitation.objects.latest('pk').pk}/withdraw")
    assert late.get(again.removeprefix("http://testserver")).status_code == 404


def test_a_name_or_a_role_that_is_not_there_adds_nobody(
    olga: tuple[User, Client, Workspace],
) -> None:
    _, browser, workspace = olga
    signed_in("nina")
    at = reverse("member-add", args=[workspace.pk])
    assert (
        b"Nobody here has this name."
        in browser.post(at, {"name": "ghost", "role": "viewer"}, follow=True).content
    )
    assert browser.post(at, {"name": "nina", "role": "god"}).status_code == 404
    assert workspace.memberships.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_run_is_followed_by_members_alone(
    olga: tuple[User, Client, Workspace], ids: dict[str, Any]
) -> None:
    async def followed_by(browser: Client) -> bool:
        cookie = f"kviz_session={browser.cookies['kviz_session'].value}".encode()
        headers = [(b"origin", b"http://testserver"), (b"host", b"testserver"), (b"cookie", cookie)]
        communicator, _ = await connect(f"/ws/runs/{ids['run_id']}/?after=-1", headers)
        message = await communicator.receive_output(timeout=30)
        await communicator.send_input({"type": "websocket.disconnect", "code": 1000})
        await communicator.wait(timeout=30)
        return bool(message.get("code") != NOT_FOUND)

    viewer, stranger = member(olga[2], Role.VIEWER), signed_in("stranger")[1]
    assert async_to_sync(followed_by)(olga[1])
    assert async_to_sync(followed_by)(viewer)
    assert not async_to_sync(followed_by)(stranger)
    Membership.objects.filter(person__username="viewer").delete()
    assert not async_to_sync(followed_by)(viewer)
