"""What the run form accepts."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

MAX_CONFIG_CHARS = 1_000_000
MAX_SEED = 2**63 - 1


class RunForm(forms.Form):
    """A run to be made. The texts are checked by `runs.services.run_create`."""

    snapshot = forms.UUIDField(error_messages={"required": _("Choose a cluster.")})
    scheduler_config = forms.CharField(
        required=False, strip=False, max_length=MAX_CONFIG_CHARS, empty_value=""
    )
    scenario = forms.CharField(
        required=False, strip=False, max_length=MAX_CONFIG_CHARS, empty_value=""
    )
    sample = forms.CharField(required=False, max_length=100, empty_value="")
    """The sample scenario that is meant while the editor is empty."""
    seed = forms.IntegerField(required=False, min_value=0, max_value=MAX_SEED)
