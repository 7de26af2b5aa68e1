"""Whether the system tells of changes in a folder: on many shared file systems it does not."""

import os
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")

SILENT = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "drvfs",
        "fakeowner",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "prl_fs",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
    }
    | {
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.grpcfuse",
        "fuse.osxfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "fuse.vmhgfs-fuse",
    }
)
"""File systems that others can write to, without this machine being told."""


def silent_file_system(folder: str, mounts: str | None = None) -> str | None:
    """The type of the file system of a folder, if it is one that changes without a word."""
    type_ = _type_of(os.path.realpath(folder), _mounts() if mounts is None else mounts)
    return type_ if type_ in SILENT else None


def _mounts() -> str:
    try:
        return MOUNTS.read_text(errors="replace")
    except OSError:
        return ""  # only Linux has it


def _type_of(path: str, mounts: str) -> str:
    """The type of the innermost mount that holds a path. A later mount covers an earlier one."""
    deepest, type_ = -1, ""
    for line in mounts.splitlines():
        fields, _, system = line.partition(" - ")
        point = _unescaped(fields.split(" ")[4]).rstrip("/") if fields.count(" ") > 4 else None
        if point is not None and len(point) >= deepest and f"{path}/".startswith(f"{point}/"):
            deepest, type_ = len(point), system.partition(" ")[0]
    return type_


def _unescaped(text: str) -> str:
    """A path as it is; the kernel writes blanks and backslashes in octal."""
    for code, character in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        text = text.replace(code, character)
    return text
