"""`python3 clients/python/pack.py [FOLDER]`: packs the wheel; the same tree gives the same bytes. Standard library only."""

import base64
import hashlib
import pathlib
import re
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
#: The first day that a zip file can have.
DAY = (1980, 1, 1, 0, 0, 0)


def pack(folder: pathlib.Path) -> pathlib.Path:
    version = re.search(r'VERSION = "(.+)"', (HERE / "flock_client/_version.py").read_text())[1]
    info = f"flock_client-{version}.dist-info"
    readme = (HERE / "README.md").read_text()
    files = {f"flock_client/{path.name}": path.read_bytes() for path in sorted((HERE / "flock_client").iterdir()) if path.is_file()}
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: flock-client\nVersion: {version}\nSummary: Client of Flock on the standard library\n"
        f"License: UNLICENSED\nRequires-Python: >=3.9\nProvides-Extra: async\nRequires-Dist: httpx (>=0.23,<1) ; extra == 'async'\nDescription-Content-Type: text/markdown\n\n{readme}"
    ).encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: flock\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files[f"{info}/RECORD"] = "".join([*lines, f"{info}/RECORD,,\n"]).encode()
    wheel = folder / f"flock_client-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, DAY)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return wheel


if __name__ == "__main__":
    print(pack(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
