"""Bounds on an upload, so that a small file cannot cost a server its memory."""

from dataclasses import dataclass

from scheduler_core.api.errors import LimitError
from scheduler_core.wording import say

_MIB = 1 << 20
UNPACKS_TOO_LARGE = "upload.unpacks_too_large"
"""The id of what is said of an upload that unpacks to more than it may."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What an upload may weigh. Nesting is bounded by the decoders themselves."""

    uploaded_bytes: int = 512 * _MIB
    decompressed_bytes: int = 1536 * _MIB
    # Dumps of many equal pods compress well, by 50 and more; deflate itself ends at 1032.
    compression_ratio: int = 400
    objects: int = 1_000_000
    archive_entries: int = 100_000
    nested_archives: int = 2
    reported_errors: int = 50


@dataclass(kw_only=True)
class Budget:
    """What is left of the limits while an upload is being read."""

    limits: Limits
    uploaded_bytes: int = 0
    decompressed_bytes: int = 0
    archive_entries: int = 0
    objects: int = 0

    def upload(self, size_bytes: int) -> None:
        """Counts bytes as they were sent. Raises :class:`LimitError`."""
        self.uploaded_bytes += size_bytes
        if self.uploaded_bytes > self.limits.uploaded_bytes:
            shown = self.limits.uploaded_bytes // _MIB
            raise LimitError(
                say("upload.too_large", "the upload is larger than {shown} MiB", shown=shown)
            )

    def decompress(self, size_bytes: int) -> None:
        """Counts bytes that came out of an archive. Raises :class:`LimitError`."""
        self.decompressed_bytes += size_bytes
        if self.decompressed_bytes > self.limits.decompressed_bytes:
            shown = self.limits.decompressed_bytes // _MIB
            raise LimitError(
                say(
                    "upload.unpacks_too_large",
                    "the upload unpacks to more than {shown} MiB",
                    shown=shown,
                )
            )

    def archive_entry(self) -> None:
        """Counts an entry of an archive. Raises :class:`LimitError`."""
        self.archive_entries += 1
        if self.archive_entries > self.limits.archive_entries:
            shown = self.limits.archive_entries
            raise LimitError(
                say(
                    "upload.too_many_entries",
                    "the archives hold more than {shown:,} entries",
                    shown=shown,
                )
            )

    def document(self) -> None:
        """Counts an object. Raises :class:`LimitError`."""
        self.objects += 1
        if self.objects > self.limits.objects:
            raise LimitError(
                say(
                    "upload.too_many_objects",
                    "the upload holds more than {objects:,} objects",
                    objects=self.limits.objects,
                )
            )
