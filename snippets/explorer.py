"""The step that the explorer shows at first; with its knobs turned, the explorer writes this program anew."""

from roofline_calc import ACCELERATORS, MODELS, Precision, analyse

model = MODELS["qwen2.5-7b"]
accelerator = ACCELERATORS["rtx-4090"]
dtype = "bf16"
mask = "causal"
traffic = "q+kv+o"
fused = False
batch = 256
context = 512
query_tokens = 1
# bytes per element; None: as the checkpoint stores them
weights = None
activations = 2
kv = None

stored = model.precision.on(accelerator.peak)
widths = Precision(
    weights=weights or stored.weights, kv=kv or stored.kv,
    activations=activations, others=activations,
    modules={} if weights else stored.modules,
)
step = model.step(
    {(query_tokens, context): batch},
    fused=fused, mask=mask, traffic=traffic, precision=widths,
)
report = analyse(step, accelerator, dtype)

print("operator        ,     GFLOP,        MB, FLOP/byte, "
      "limit        ,        ms,   share")
for row in report.rows:
    cost = row.cost
    print(f"{row.operator:16}, {cost.flops / 1e9:9.1f}, {cost.bytes / 1e6:9.1f}",
          f"{cost.intensity:9.1f}, {row.regime:13}, {row.seconds * 1e3:9.3f}",
          f"{report.share(row):7.1%}", sep=", ")
print()
for name in ("lower_bound", "kernel_by_kernel", "no_overlap"):
    seconds = getattr(report, name)
    speed = batch * query_tokens / seconds
    print(f"{name:16} {seconds * 1e3:9,.3f} ms, {speed:8,.0f} tokens/s")

needed = (model.weight_bytes(widths)
          + batch * model.cache_bytes([context], widths))
fits = "fits" if needed <= accelerator.memory else "does not fit"
print(f"memory           {needed / 1e9:9,.3f} GB",
      f"of {accelerator.memory / 1e9:,.3f} GB: {fits}")
