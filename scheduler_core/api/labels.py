"""Which label keys and values are valid, in upstream's words.

Upstream: v1.36 staging/src/k8s.io/apimachinery/pkg/api/validate/content.
"""

import re

_MAX_LENGTH = 63
_MAX_PREFIX_LENGTH = 253
_NAME_PATTERN = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_PREFIX_PATTERN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_NAME = re.compile(_NAME_PATTERN)
_PREFIX = re.compile(_PREFIX_PATTERN)

_KEY_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{_NAME_PATTERN}')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    f"or '12345', regex used for validation is '({_NAME_PATTERN})?')"
)
_PREFIX_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_PREFIX_PATTERN}')"
)


def label_key_problems(key: str) -> list[str]:
    """What is wrong with a label key, nothing when it is valid."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {_KEY_RULE} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        ]
    problems = _prefix_problems(prefix) if slash else []
    if not name:
        problems.append("name part must be non-empty")
    elif len(name.encode()) > _MAX_LENGTH:
        problems.append(f"name part must be no more than {_MAX_LENGTH} bytes")
    if not _NAME.fullmatch(name):
        problems.append(f"name part {_KEY_RULE}")
    return problems


def label_value_problems(value: str) -> list[str]:
    """What is wrong with a label value, nothing when it is valid."""
    problems = []
    if len(value.encode()) > _MAX_LENGTH:
        problems.append(f"must be no more than {_MAX_LENGTH} bytes")
    if value and not _NAME.fullmatch(value):
        problems.append(_VALUE_RULE)
    return problems


def _prefix_problems(prefix: str) -> list[str]:
    if not prefix:
        return ["prefix part must be non-empty"]
    problems = []
    if len(prefix) > _MAX_PREFIX_LENGTH:
        problems.append(f"prefix part must be no more than {_MAX_PREFIX_LENGTH} bytes")
    if not _PREFIX.fullmatch(prefix):
        problems.append(f"prefix part {_PREFIX_RULE}")
    return problems
