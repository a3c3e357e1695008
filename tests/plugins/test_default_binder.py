from scheduler_core.framework.interface import BindPlugin
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.plugins.default_binder import DefaultBinder
from tests.builders import make_pod
from tests.plugins.harness import World


def test_the_api_server_binds_the_pod() -> None:
    world = World()
    binder = DefaultBinder(world)
    assert isinstance(binder, BindPlugin)
    assert binder.bind(None, world.info(make_pod("web").obj()), "n") == SUCCESS
    assert world.bound == {"default/web": "n"}


def test_a_refusal_of_the_api_server_is_an_error() -> None:
    world = World()
    world.refusal = 'pods "web" not found'
    status = DefaultBinder(world).bind(None, world.info(make_pod("web").obj()), "n")
    assert status == Status(Code.ERROR, ('pods "web" not found',))
