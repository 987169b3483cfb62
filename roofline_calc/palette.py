"""The colours of the charts, in the light and in the dark palette of the page."""

# role: (light, dark). Blue and vermilion of Okabe and Ito's colour-blind-safe set, darkened or lightened until
# text in them has a contrast of 4.5:1 on the page.
PALETTE = {
    "ink": ("#1f2933", "#e3e7eb"),
    "muted": ("#55606b", "#a9b3bd"),
    "grid": ("#dfe3e8", "#3b424d"),
    "memory-bound": ("#00629b", "#5cb8ee"),
    "compute-bound": ("#b04a00", "#ff9d5c"),
}


def in_dark(svg: str) -> str:
    """The same chart in the dark palette."""
    for light, dark in PALETTE.values():
        svg = svg.replace(light, dark)
    return svg
