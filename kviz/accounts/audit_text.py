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
    Role.VIEWER.value: say("audit.viewer", "viewer"),
    Role.EDITOR.value: say("audit.editor", "editor"),
    Role.OWNER.value: say("audit.owner", "owner"),
    "-": say("audit.no_member", "no longer a member"),
}
"""What somebody became, as the log has it."""
_PERSON: Final = r"(?P<person>\S+)"
_NAME: Final = "(?P<name>.*)"
_ABOUT: Final = {
    What.ACCOUNT: (
        say("audit.administrator_made", "administrator {person}: made", person=_PERSON),
        say("audit.person_made", "{person}: made", person=_PERSON),
        say("audit.other_password", "{person}: another password", person=_PERSON),
        say("audit.person_closed", "{person}: closed", person=_PERSON),
        say("audit.person_open", "{person}: open", person=_PERSON),
    ),
    What.DELETE: (say("audit.workspace_name", "workspace {name}", name=_NAME),),
    What.MEMBER: (
        say("audit.role", "{person}: {role}", person=_PERSON, role="(?P<role>[a-z]+|-)"),
    ),
    What.REVOKE: (
        say(
            "audit.token_of",
            "token of {whose}: {name}",
            whose=r"(?P<whose>kviz token|\S+)",
            name=_NAME,
        ),
        say("audit.token_name", "token {name}", name=_NAME),
    ),
    What.UNSHARE: (say("audit.invitation_n", "invitation {n}", n=r"(?P<n>\d+)"),),
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
            return Text(known.id, known.template, values)
    return entry.about
