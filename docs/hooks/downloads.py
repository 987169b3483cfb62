"""The lab as one archive: unpack it anywhere, on a rented card for instance, and run it with nothing else but torch."""

import io
import zipfile
from pathlib import Path

from project import ROOT

PARTS = ("LICENSE", "snippets/gpu_lab.py", "roofline_calc/**/*.py", "roofline_calc/*.toml")


def lab_archive(language: str) -> bytes:
    """The calculator, the lab and its notebook; the same bytes for the same files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in PARTS:
            for path in sorted(ROOT.glob(part)):
                _add(archive, path, path.relative_to(ROOT).as_posix())
        _add(archive, ROOT / "docs" / language / "lab-notebook.ipynb", "lab-notebook.ipynb")
    return out.getvalue()


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    entry = zipfile.ZipInfo(f"roofline-lab/{name}", (1980, 1, 1, 0, 0, 0))
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    archive.writestr(entry, path.read_bytes())

