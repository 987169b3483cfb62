"""Every expression that a page computes, letter for letter, with its value as typed by hand: a module for each page.

The values come from exact rational arithmetic (oracles.json), from spec sheets and config files, from the longhand sums
in the tests of the same page, or, for the lab, from its results file. A number that several pages compute stands with
the first of them.
"""

from claims import accounting, interview, lab, lesson, primer_phases, primer_roofline

BY_PAGE = [page.CLAIMS for page in (lesson, primer_roofline, primer_phases, interview, accounting, lab)]
CLAIMS = {field: value for claims in BY_PAGE for field, value in claims.items()}
