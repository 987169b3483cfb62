"""A model from its config.json, on a card from a file of one's own."""

from roofline_calc import analyse, read_accelerators, read_config

model = read_config("snippets/own/config.json", name="my model")
card = read_accelerators("snippets/own/hardware.toml")["my-4090"]
kernels = model.decode_kernels(batch=64, context=2048, fused=True)

print(f"{model.name}: {model.params:,} parameters; ridge point of {card.name}: {card.ridge():.0f} FLOP/byte")
for row in analyse(kernels, card).rows:
    print(f"{row.operator:12} {row.regime:13} {row.cost.intensity:7.2f} FLOP/byte")
