"""What selectors say of devices. Cases and messages are upstream's (compile_test.go)."""

import pytest

from scheduler_core.api import Device, DeviceAttribute
from scheduler_core.devices.cel import CelProblem, unknown_functions
from scheduler_core.devices.device_selection import evaluate

from .factories import DRIVER, device

DOMAIN = f'device.attributes["{DRIVER}"]'
GPU = device(
    "gpu-0",
    capacity={"memory": "40Gi"},
    model="a100",
    index=3,
    ecc=True,
    driverVersion="v:1.5.1",
    allow_multiple_allocations=True,
)


def answer(expression: str, of: Device = GPU) -> bool | str:
    shareable = of.allow_multiple_allocations
    found = evaluate(expression, of, DRIVER, shareable=shareable, lists=False)
    return found.text if isinstance(found, CelProblem) else found


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (f'device.driver == "{DRIVER}"', True),
        (f'{DOMAIN}.model == "a100"', True),
        (f'{DOMAIN}["model"] in ["l4", "h200"]', False),
        (f"{DOMAIN}.ecc", True),
        (f"{DOMAIN}.index < 3", False),
        (f"{DOMAIN}.index < 3.5", True),
        (f'"{DRIVER}" in device.attributes', True),
        ('"elsewhere.example.com" in device.attributes', False),
        ('"model" in device.attributes["elsewhere.example.com"]', False),
        ('has(device.attributes["elsewhere.example.com"].model)', False),
        (f'"nope" in {DOMAIN} && {DOMAIN}.nope == 1', False),
        (f"has({DOMAIN}.model)", True),
        (f'cel.bind(gpu, {DOMAIN}, gpu.ecc && gpu.model == "a100")', True),
        (f'cel.bind(d, device, d.driver == "{DRIVER}")', True),
        (f'{DOMAIN}.?nope.orValue("none") == "none"', True),
        ("device.allowMultipleAllocations", True),
        (f'{DOMAIN}.model.startsWith("a") && {DOMAIN}.model.lowerAscii() == "a100"', True),
        (f'{DOMAIN}.model.includes("a100")', True),
        (f"{DOMAIN}.ecc.includes(1)", False),
    ],
)
def test_selectors(expression: str, expected: bool) -> None:
    assert answer(expression) is expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) == 0', True),
        (f'device.capacity["{DRIVER}"].memory.isGreaterThan(quantity("41Gi"))', False),
        (f'device.capacity["{DRIVER}"].memory == quantity("40960Mi")', True),
        ('quantity("50k").add(quantity("20k")) == quantity("70k")', True),
        ('quantity("50k").add(20).sub(quantity("100k")).sub(-50000) == quantity("20")', True),
        ('quantity("50k").asInteger() == 50000 && !quantity("0.5").isInteger()', True),
        ('sign(quantity("-5")) == -1 && isQuantity("1.3Gi") && !isQuantity("Three")', True),
        (f'{DOMAIN}.driverVersion.isGreaterThan(semver("1.5.0"))', True),
        (f'{DOMAIN}.driverVersion == semver("1.5.1+build.7")', True),
        ('semver("1.0.0-alpha.2").isLessThan(semver("1.0.0-alpha.10"))', True),
        ('semver("1.0.0-alpha.1").compareTo(semver("1.0.0")) == -1', True),
        ('semver("v01.2", true) == semver("1.2.0") && semver("1.2.3").minor() == 2', True),
        ('isSemver("1.0") || isSemver("v1.0.0") || !isSemver("v1.0", true)', False),
    ],
)
def test_quantities_and_versions(expression: str, expected: bool) -> None:
    assert answer(expression) is expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (f"{DOMAIN}.nope == 1", "CEL runtime error: no such key: nope"),
        ('device.attributes["else.example.com"].x', "CEL runtime error: no such key: x"),
        (f'{DOMAIN}.index < "three"', "CEL runtime error: no such overload"),
        ('[1, 2][5] == 1 || quantity("x").isInteger()', "CEL runtime error: "),
        (
            f"{DOMAIN}.index",
            "CEL runtime error: CEL result of type int could not be converted to bool: "
            "unsupported type conversion from 'int' to bool",
        ),
        ("1", "CEL compile error: must evaluate to bool or the unknown type, not int"),
        (
            "nonsense",
            "CEL compile error: compilation failed: ERROR: <input>:1:1: undeclared reference to "
            "'nonsense' (in container '')\n | nonsense\n | ^",
        ),
        (
            "device.nonsense == 1",
            "CEL compile error: compilation failed: ERROR: <input>:1:7: undefined field "
            "'nonsense'\n | device.nonsense == 1\n | ......^",
        ),
        ("?!", "CEL compile error: compilation failed: ERROR: <input>:1:1: Syntax error"),
    ],
)
def test_errors_read_as_upstreams(expression: str, message: str) -> None:
    assert str(answer(expression)).startswith(message)


def test_a_version_that_is_none_is_an_error() -> None:
    broken = Device(name="x", attributes={"v": DeviceAttribute(version_value="1.0")})
    assert answer("true", broken) == (
        "CEL runtime error: attribute v: parse semantic version: "
        "No Major.Minor.Patch elements found"
    )


def test_an_expression_without_end_is_stopped() -> None:
    tens = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    expression = f"{DOMAIN}.index < 100"
    for letter in "abcdefgh":
        expression = f"{tens}.all({letter}, {expression})"
    assert "error" in str(answer(expression))


def test_functions_that_kviz_lacks_are_named() -> None:
    assert unknown_functions('url("http://x").getHost() == "find(y)"') == ["url"]
    assert unknown_functions('sets.contains([1], [1]) && "a".find("b") == ""') == [
        "find",
        "sets.contains",
    ]
    assert unknown_functions('device.driver.startsWith("a")') == []
