"""`python3 clients/go/pack.py [FOLDER]`: a module proxy in files, for `GOPROXY=file://FOLDER`; the same tree gives the same
bytes. Standard library only."""

import json
import pathlib
import re
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
#: The first day that a zip file can have.
DAY = (1980, 1, 1, 0, 0, 0)


def pack(folder: pathlib.Path) -> pathlib.Path:
    manifest = (HERE / "go.mod").read_text()
    module = re.search(r"^module (\S+)$", manifest, re.M)[1]
    version = "v" + re.search(r'Version = "(.+)"', (HERE / "version.go").read_text())[1]
    place = folder / module / "@v"
    place.mkdir(parents=True, exist_ok=True)
    names = ["README.md", "go.mod", *sorted(path.name for path in HERE.glob("*.go") if not path.name.endswith("_test.go"))]
    archive = place / f"{version}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name in names:
            entry = zipfile.ZipInfo(f"{module}@{version}/{name}", DAY)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            zipped.writestr(entry, (HERE / name).read_bytes())
    (place / f"{version}.mod").write_text(manifest)
    (place / f"{version}.info").write_text(json.dumps({"Version": version, "Time": "2020-01-01T00:00:00Z"}) + "\n")
    (place / "list").write_text(f"{version}\n")
    return archive


if __name__ == "__main__":
    print(pack(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
