"""Uploading a cluster the way a person does."""

from __future__ import annotations

import re

from playwright.sync_api import FilePayload, Page, expect

from kviz.reference import kubectl

GOOD = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: north}
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
- apiVersion: v1
  kind: Pod
  metadata: {name: web, namespace: shop}
  spec: {containers: [{name: c, env: [{name: PASSWORD, value: hunter2}]}]}
"""
BAD_FIELD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: c, resources: {requests: {cpu: lots}}}]}
"""


def file(name: str, text: str) -> FilePayload:
    return {"name": name, "mimeType": "application/yaml", "buffer": text.encode()}


def test_a_file_is_uploaded_and_summarised(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="Explain my cluster").click()
    page.get_by_label("Files").set_input_files([file("cluster.yaml", GOOD)])
    expect(page.get_by_text("cluster.yaml (")).to_be_visible()
    page.get_by_label("Name").fill("the shop")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="the shop", level=1)).to_be_visible()
    pending = page.get_by_role("region", name="Pods without a node")
    expect(pending.get_by_role("rowheader", name="shop/web")).to_be_visible()
    expect(page.get_by_text("Environment variables of 1 pod dropped")).to_be_visible()
    expect(page.get_by_text("hunter2")).to_have_count(0)


def test_a_broken_file_alone_is_refused_in_place(page: Page) -> None:
    page.goto("/snapshots/new")
    page.get_by_label("Name").fill("keep this")
    page.get_by_label("Files").set_input_files([file("pod.yaml", BAD_FIELD)])
    page.get_by_role("button", name="Upload").click()
    alert = page.get_by_role("alert")
    expect(alert).to_be_focused()
    expect(alert).to_contain_text("pod.yaml")
    expect(alert).to_contain_text("spec.containers[0].resources.requests")
    expect(page.get_by_label("Name")).to_have_value("keep this")
    expect(page.get_by_role("button", name="Upload")).to_be_enabled()
    expect(page).to_have_url(re.compile("/snapshots/new$"))


def test_the_command_is_copied_and_a_dropped_file_taken(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/snapshots/new")
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == kubectl.SHELL
    transfer = page.evaluate_handle(
        """text => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], "dropped.yaml"));
            return transfer;
        }""",
        GOOD,
    )
    page.locator("[data-drop]").dispatch_event("drop", {"dataTransfer": transfer})
    expect(page.get_by_text("dropped.yaml (")).to_be_visible()
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="dropped", level=1)).to_be_visible()
