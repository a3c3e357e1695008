from scheduler_core.api import Service, StorageClass
from scheduler_core.api.meta import ObjectMeta
from scheduler_core.cluster.objects import ObjectStore


def service(name: str) -> Service:
    return Service(metadata=ObjectMeta(name=name, namespace="default"))


def test_a_revision_grows_with_every_change_to_its_kind() -> None:
    objects = ObjectStore()
    assert objects.revision(Service) == 0
    objects.put(service("a"))
    objects.put(service("a"))
    objects.put(StorageClass(metadata=ObjectMeta(name="fast")))
    objects.remove(service("a"))
    assert objects.revision(Service) == 3
    assert objects.revision(StorageClass) == 1


def test_what_changed_since_a_revision() -> None:
    objects = ObjectStore()
    objects.put(service("a"))
    seen = objects.revision(Service)
    assert objects.changed_since(Service, seen) == []
    objects.put(service("b"))
    objects.remove(service("a"))
    assert objects.changed_since(Service, seen) == ["default/b", "default/a"]
    assert objects.changed_since(StorageClass, 0) == []
