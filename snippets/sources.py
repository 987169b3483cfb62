"""Where each entry of the catalogue comes from."""

import textwrap

from roofline_calc import ACCELERATORS, MODELS

for name, entry in (ACCELERATORS | MODELS).items():
    print(name)
    print(textwrap.fill(entry.source, 88, initial_indent="    ", subsequent_indent="    "))
