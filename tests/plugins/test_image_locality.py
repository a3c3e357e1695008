from collections.abc import Sequence

import pytest

from scheduler_core.api import ImageVolumeSource, Node, Pod, Volume
from scheduler_core.plugins.image_locality import ImageLocality, normalized_image_name
from tests.builders import container, make_node, make_pod
from tests.plugins.harness import World

MIB = 1024 * 1024


def holding(name: str, *sizes: int) -> Node:
    """Return a node with images called after their size in MiB."""
    return make_node(name).images({f"gcr.io/{size}:latest": size * MIB for size in sizes}).obj()


def running(*images: int, init: Sequence[int] = (), volumes: Sequence[int] = ()) -> Pod:
    return (
        make_pod("incoming")
        .containers(*(container(image=f"gcr.io/{size}") for size in images))
        .init_containers(*(container(image=f"gcr.io/{size}") for size in init))
        .volumes(
            *(
                Volume(name=f"v{size}", image=ImageVolumeSource(reference=f"gcr.io/{size}"))
                for size in volumes
            )
        )
        .obj()
    )


def scores(incoming: Pod, *nodes: Node) -> list[int]:
    world = World(*nodes)
    return list(ImageLocality(world).score(None, world.info(incoming), world.all_nodes()))


@pytest.mark.parametrize(
    ("incoming", "nodes", "expected"),
    [
        (running(40, 250), [(40, 300, 2000), (250, 10)], [0, 5]),
        (running(40, 300), [(40, 300, 2000), (250, 10)], [7, 0]),
        (running(10, 4000), [(4000, 30), (250, 10)], [100, 0]),
        (running(10, 4000), [(4000, 30), (250, 10), ()], [66, 0, 0]),
        (running(300, 600, 900), [(600, 40, 900), (300, 600, 900), ()], [32, 36, 0]),
        (running(30, 40), [(20, 30, 40), (4000, 30)], [1, 0]),
        (running(30, init=[300]), [(40, 300, 2000), (20, 30, 40)], [6, 0]),
        (running(30, volumes=[300]), [(300, 600, 900), (4000, 30)], [12, 0]),
        (running(600, 600), [(600,), ()], [29, 0]),
        (running(), [(600,), ()], [0, 0]),
    ],
)
def test_larger_and_more_widespread_images_score_higher(
    incoming: Pod, nodes: Sequence[Sequence[int]], expected: Sequence[int]
) -> None:
    assert (
        scores(incoming, *(holding(f"n{i}", *sizes) for i, sizes in enumerate(nodes))) == expected
    )


@pytest.mark.parametrize(
    ("reference", "normalized"),
    [
        ("root", "root:latest"),
        ("root:tag", "root:tag"),
        ("gcr.io:5000/root", "gcr.io:5000/root:latest"),
        ("gcr.io:5000/root:tag", "gcr.io:5000/root:tag"),
        ("root@sha256:0123", "root@sha256:0123"),
        ("", ":latest"),
    ],
)
def test_names_without_a_tag_mean_latest(reference: str, normalized: str) -> None:
    assert normalized_image_name(reference) == normalized
