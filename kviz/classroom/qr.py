"""An address as a QR code."""

from __future__ import annotations

import io

import segno
from django.utils.safestring import SafeString, mark_safe


def qr_svg(address: str, label: str) -> SafeString:
    """The code as SVG for a page: dark on light in both themes, or phones would not read it."""
    out = io.BytesIO()
    segno.make(address, error="m", micro=False).save(
        out,
        kind="svg",
        xmldecl=False,
        svgns=True,
        title=label,
        svgclass="qr",
        lineclass=None,
        omitsize=True,
        border=4,
        dark="#000",
        light="#fff",
    )
    return mark_safe(out.getvalue().decode())
