"""The step that the explorer shows at first; with its knobs turned, the explorer writes this program anew."""

# --8<-- [start:setting]
from roofline_calc import ACCELERATORS, MODELS, Precision, analyse

model = MODELS["qwen2.5-7b"]
card = ACCELERATORS["rtx-4090"]
widths = Precision(weights=2, activations=2, kv=2, others=2)
step = model.matrix_kernels({(1, 512): 256}, mask="causal", traffic="q+kv+o", precision=widths)
report = analyse(step, card, "bf16")
tokens = 256 * 1
# --8<-- [end:setting]

# --8<-- [start:report]
print(f"{'':17}{'GFLOP':>12}{'MB':>12}{'FLOP/byte':>12}  {'limit':13}{'ms':>10}{'share':>8}")
for row in report.rows:
    cost = row.cost
    print(f"{row.operator:17}{cost.flops / 1e9:12,.1f}{cost.bytes / 1e6:12,.1f}{cost.intensity:12,.1f}  "
          f"{row.regime:13}{row.seconds * 1e3:10,.3f}{report.share(row):8.1%}")
print(f"step {report.seconds * 1e3:,.3f} ms, {report.tokens_per_second(tokens):,.0f} tokens/s")
# --8<-- [end:report]
