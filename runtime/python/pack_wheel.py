"""Packs a wheel (PyPA, "Binary distribution format"): the package beside this file, and
what stands in FOLDER: `native`, with the library and the tools, and licenses. The bytes of
the wheel depend on these alone. Prints its name.

usage: pack_wheel.py FOLDER
"""

import base64
import hashlib
import pathlib
import re
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
#: `heddle` is another project's on PyPI; programs import it all the same.
NAME = "heddle-transformers"
TAG = "py3-none-manylinux_2_34_x86_64"
#: A zip has no time before.
DATE = (1980, 1, 1, 0, 0, 0)
MOST_BYTES, MOST_INSTALLED = 36_000_000, 100_000_000


def version():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(\w+\s+VERSION ([0-9.]+)", text).group(1)


def metadata(number):
    return f"""Metadata-Version: 2.3
Name: {NAME}
Version: {number}
Summary: Compiles transformers ahead of time, and runs them
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: vectors
Requires-Dist: numpy; extra == "vectors"
"""


WHEEL = f"""Wheel-Version: 1.0
Generator: Heddle
Root-Is-Purelib: false
Tag: {TAG}
"""
ENTRY_POINTS = """[console_scripts]
heddle = heddle.__main__:main
"""


def list_files(folder, number):
    """Name in the wheel: bytes."""
    files = {}
    for path in (HERE / "heddle").rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            files[str(path.relative_to(HERE))] = path.read_bytes()
    for path in (folder / "native").rglob("*"):
        if path.is_file():
            files[f"heddle/{path.relative_to(folder)}"] = path.read_bytes()
    info = f"{NAME.replace('-', '_')}-{number}.dist-info"
    licenses = {"LICENSE": ROOT / "LICENSE", "notices.txt": ROOT / "tools" / "notices.txt"}
    licenses |= {path.name: path for path in folder.iterdir() if path.is_file()}
    for name, path in licenses.items():
        files[f"{info}/licenses/{name}"] = path.read_bytes()
    files[f"{info}/METADATA"] = metadata(number).encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    files[f"{info}/RECORD"] = record(files, f"{info}/RECORD")
    return files


def record(files, own):
    lines = []
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        lines.append(f"{name},sha256={digest.decode().rstrip('=')},{len(data)}\n")
    return "".join([*lines, f"{own},,\n"]).encode()


def main():
    folder = pathlib.Path(sys.argv[1])
    number = version()
    files = list_files(folder, number)
    path = folder / f"{NAME.replace('-', '_')}-{number}-{TAG}.whl"
    unfinished = path.with_suffix(".unfinished")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            # Tools can be run.
            mode = 0o755 if "/native/" in name else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, data)
    size, installed = unfinished.stat().st_size, sum(map(len, files.values()))
    if size > MOST_BYTES or installed > MOST_INSTALLED:
        sys.exit(
            f"pack_wheel.py: the wheel has {size} bytes and {installed} unpacked, expected "
            f"at most {MOST_BYTES} and {MOST_INSTALLED}"
        )
    unfinished.rename(path)
    print(path)


main()
