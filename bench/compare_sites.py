"""Which files of two built sites differ, for a change that should change nothing:

    python bench/compare_sites.py BEFORE AFTER

prints each file that only one of them has or that differs, and for text the first lines that do; ends with status 1 if
there are any. Archives are compared by what they hold.
"""

import difflib
import gzip
import io
import sys
import zipfile
from pathlib import Path

SHOWN = 6  # lines of a text's difference


def files(site: Path) -> dict[str, bytes]:
    """Every file of a site; an archive's by their names in it."""
    found: dict[str, bytes] = {}
    for path in sorted(site.rglob("*")):
        name = path.relative_to(site).as_posix()
        if path.suffix == ".zip":
            with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
                found |= {f"{name}/{entry}": archive.read(entry) for entry in archive.namelist()}
        elif path.suffix == ".gz":
            found[name] = gzip.decompress(path.read_bytes())
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def differences(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """A line for each file that differs, and some of how."""
    said = [f"only before: {name}" for name in before.keys() - after.keys()]
    said += [f"only after: {name}" for name in after.keys() - before.keys()]
    for name in before.keys() & after.keys():
        if before[name] != after[name]:
            said.append("\n    ".join([f"differs: {name}", *_lines(before[name], after[name])]))
    return sorted(said)


def _lines(before: bytes, after: bytes) -> list[str]:
    try:
        old, new = before.decode().splitlines(), after.decode().splitlines()
    except UnicodeDecodeError:
        return [f"{len(before)} bytes, {len(after)} bytes"]
    changed = [line for line in difflib.unified_diff(old, new, n=0, lineterm="") if line[:2] not in ("--", "++", "@@")]
    return [line[:160] for line in changed[:SHOWN]]


def main() -> int:
    """Compare the two folders that the command line names."""
    if len(sys.argv) != 3 or not all(Path(name).is_dir() for name in sys.argv[1:]):
        print("usage: python bench/compare_sites.py BEFORE AFTER, two folders", file=sys.stderr)
        return 2
    said = differences(*(files(Path(name)) for name in sys.argv[1:]))
    print("\n".join(said) or "the same, file by file")
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
