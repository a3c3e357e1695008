"""What an entry of the audit log is about, in words that can be translated.

The log holds the English, which its CSV has, too; here it is read back into what it was made of.
"""

from __future__ import annotations

import re
from typing import Final

from kviz.accounts.models import AuditEntry, Role
from scheduler_core.wording import Text, say

What = AuditEntry.What

_ROLES: Final = {
    Role.VIEWER.value: say("viewer"),
    Role.EDITOR.value: say("editor"),
    Role.OWNER.value: say("owner"),
    "-": say("no longer a member"),
}
"""What somebody became, as the log has it."""
_PERSON: Final = r"(?P<person>\S+)"
_NAME: Final = "(?P<name>.*)"
_ABOUT: Final = {
    What.ACCOUNT: (
        say("administrator {person}: made", person=_PERSON),
        say("{person}: made", person=_PERSON),
        say("{person}: another password", person=_PERSON),
        say("{person}: closed", person=_PERSON),
        say("{person}: open", person=_PERSON),
    ),
    What.DELETE: (say("workspace {name}", name=_NAME),),
    What.MEMBER: (say("{person}: {role}", person=_PERSON, role="(?P<role>[a-z]+|-)"),),
    What.REVOKE: (
        say("token of {whose}: {name}", whose=r"(?P<whose>kviz token|\S+)", name=_NAME),
        say("token {name}", name=_NAME),
    ),
    What.UNSHARE: (say("invitation {n}", n=r"(?P<n>\d+)"),),
}
"""What may be said, with patterns in the places of names."""


def about(entry: AuditEntry) -> str:
    """Return what an entry is about, as a text where it is more than a name or an address."""
    if entry.what == What.INVITE:
        return _ROLES.get(entry.about, entry.about)
    for known in _ABOUT.get(What(entry.what), ()):
        if found := re.fullmatch(known, entry.about):
            values = found.groupdict()
            if "role" in values:
                values["role"] = _ROLES.get(values["role"], values["role"])
            return Text(known.template, values)
    return entry.about
