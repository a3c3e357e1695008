"""Devices in the Explorer: which went to whom, and why each other was refused."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.axe import serious_findings
from tests.e2e.conftest import Api
from tests.e2e.test_explorer import explore, inspector


def test_who_got_which_devices_and_why_others_wait(page: Page, api: Api) -> None:
    lab = api.finished_run(api.sample("devices"))
    explore(page, lab, "?c=1")
    page.keyboard.press("8")
    tab = inspector(page)
    expect(tab).to_contain_text("What lab/train-0 claims")
    expect(tab).to_contain_text("gets gpu.example.com/room-2/gpu-0, gpu.example.com/room-2/gpu-1")
    expect(tab).to_contain_text("taint gpu.example.com/unhealthy=ecc:NoSchedule is not tolerated")
    assert serious_findings(page) == []

    explore(page, lab, "?c=8&tab=devices&n=room-1")
    held = tab.get_by_text(re.compile("in use by claim lab/best of pod lab/serve-0"))
    expect(held).to_be_visible()
    expect(tab.get_by_role("group").first).to_contain_text("room-1")
    page.locator("#cluster-map").hover(position={"x": 60, "y": 60})
    card = page.locator(".popup")
    expect(card).to_contain_text("room-1/gpu-0")
    expect(card).to_contain_text("lab/serve-0")
    page.keyboard.press("ArrowLeft")
    expect(tab).to_contain_text("What lab/batch-0 claims")
