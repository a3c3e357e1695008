from scheduler_core.framework.interface import BindPlugin
from scheduler_core.framework.status import SUCCESS
from scheduler_core.plugins.default_binder import DefaultBinder

from .harness import World, pod


def test_binding_succeeds():
    binder = DefaultBinder()
    assert isinstance(binder, BindPlugin)
    assert binder.bind(None, World().info(pod()), "n") == SUCCESS
