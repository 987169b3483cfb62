"""The lesson's calculator: the intensity and regime of every operator of a Qwen2.5-7B layer."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # a clone's calculator, with nothing installed

from roofline_calc import attention, attn_intensity, gemm_intensity, regime

# --8<-- [start:sweep]
LAYERS = {  # Qwen2.5-7B: input width K and output width N
    "q_proj, o_proj": (3584, 3584),
    "k_proj, v_proj": (3584, 512),
    "gate_proj, up_proj": (3584, 18944),
    "down_proj": (18944, 3584),
}
N_Q, N_KV, HEAD_DIM = 28, 4, 128
CONTEXTS = (128, 512, 2048)


def show(name: str, I: float) -> None:
    print(f"  {name:<20}{regime(I):<13}{I:>9.1f} FLOP/byte")


for M in (1, 256):
    print(f"GEMM, M = {M}")
    for name, (K, N) in LAYERS.items():
        show(name, gemm_intensity(M, K, N))

for phase in ("decode", "prefill"):
    print(f"attention, {phase}, kv-only")
    for S in CONTEXTS:
        show(f"S = {S}", attn_intensity(N_Q, N_KV, phase, S))

ACCOUNTINGS = {
    "kv-only": {"traffic": "kv-only"},
    "q+kv+o": {"traffic": "q+kv+o"},
    "q+kv+o, causal": {"traffic": "q+kv+o", "mask": "causal"},
}
print("attention, corrected  " + "".join(f"{n:>18}" for n in ACCOUNTINGS))
for phase in ("decode", "prefill"):
    for S in CONTEXTS:
        L = 1 if phase == "decode" else S
        line = f"  {phase:<8} S = {S:<6}"
        for options in ACCOUNTINGS.values():
            I = attention(N_Q, N_KV, HEAD_DIM, L, S, **options).intensity
            line += f"{I:>10.1f} {regime(I).removesuffix('-bound'):<7}"
        print(line.rstrip())
# --8<-- [end:sweep]
