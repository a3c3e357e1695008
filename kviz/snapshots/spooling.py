"""Where an upload waits while it is read: in a file without a name.

A file with a name would outlive a process that is killed, and it holds somebody's cluster.
"""

from __future__ import annotations

import tempfile
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler


def unnamed_file() -> BinaryIO:
    """A temporary file that is gone with the process that has it open."""
    return cast("BinaryIO", tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR))


class UnnamedFiles(FileUploadHandler):
    """Writes each uploaded file to a temporary file that nobody else can open."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        # The file outlives this method: the request closes it.
        self.file = unnamed_file()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.file.write(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile:
        self.file.seek(0)
        return UploadedFile(
            file=self.file,
            name=self.file_name,
            content_type=self.content_type,
            size=file_size,
            charset=self.charset,
            content_type_extra=self.content_type_extra,
        )

    def upload_interrupted(self) -> None:
        self.file.close()
