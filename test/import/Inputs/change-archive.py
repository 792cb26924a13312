"""Replaces bytes in the files of a zip archive, which keeps its checksums right.

usage: change-archive.py FILE FROM TO
"""

import sys
import zipfile

path, old, new = sys.argv[1:]
with zipfile.ZipFile(path) as archive:
    files = [(name, archive.read(name)) for name in archive.namelist()]
with zipfile.ZipFile(path, "w") as archive:
    for name, data in files:
        archive.writestr(name, data.replace(old.encode(), new.encode()))
