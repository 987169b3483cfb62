"""``::: name`` in a page becomes the entry of a public name of roofline_calc: heading, signature, docstring.

What stands indented beneath is the page's own account, in its language; it comes before the docstring, which is English
everywhere. Of a class's members it speaks in lines of their own, ``.member what it does``. The entry is Markdown like
the rest of the page, so that its formulas, links and headings need nothing else. Sources are read, not imported, and
so are always fresh. (The mkdocstrings plugin, tried first, added a third to the build's time.)
"""

import ast
import difflib
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from project import ROOT, PageError

PACKAGE = ROOT / "roofline_calc"
DIRECTIVE = re.compile(r"^::: (?P<name>\w+)[ ]*\n(?P<own>(?:[ ]*\n|[ ]{4}[^\n]*\n)*)", re.MULTILINE)
SECTION = re.compile(r"(Args|Returns|Raises):(?: (.*))?")
LABELS = {
    "zh": {"Args": "参数", "Returns": "返回", "Raises": "异常"},
    "en": {"Args": "Arguments", "Returns": "Returns", "Raises": "Raises"},
}
LABEL_LANGUAGE = {"zh": " lang=zh-Hans", "en": ""}
OF_MEMBER = re.compile(r"^\.(\w+) (.+)\n?", re.MULTILINE)
VERBATIM = re.compile(r"``.+?``|\$[^$]+\$|`(?P<name>[\w.]+)`|`[^`]*`|\*")


class UnknownNameError(PageError):
    """A page names what is not public."""


@dataclass(frozen=True)
class Entry:
    """A public name: how it is called, what its docstring says, its parameters, and its public members."""

    signature: str
    doc: str = ""
    parameters: tuple[str, ...] = ()
    members: dict[str, "Entry"] = field(default_factory=dict)


# ------------------------------------------------------------------ reading the sources


def public() -> dict[str, Entry]:
    """Every public name of the package, as the sources are now."""
    entries = {}
    for statement in ast.walk(_parse("__init__")):
        if isinstance(statement, ast.ImportFrom) and statement.level == 1 and statement.module:
            found = dict(_defined(_parse(statement.module)))
            entries.update({alias.name: found[alias.name] for alias in statement.names})
    return entries


def _parse(module: str) -> ast.Module:
    return ast.parse((PACKAGE / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))


def _defined(module: ast.Module) -> Iterator[tuple[str, Entry]]:
    for node in module.body:
        match node:
            case ast.FunctionDef(name=name):
                yield name, _function(node)
            case ast.ClassDef(name=name):
                yield name, _class(node, list(_bases(node, module)))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                brief = ast.unparse(value)
                yield name, Entry(f"{name} = {brief}" if len(brief) < 40 else f"{name}: dict")
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                yield name, Entry(f"{name}: {_annotation(annotation)}")


def _function(node: ast.FunctionDef, method: bool = False) -> Entry:
    marks = {ast.unparse(mark) for mark in node.decorator_list}
    doc = ast.get_docstring(node) or ""
    result = _annotation(node.returns) if node.returns else "None"
    if "property" in marks:
        return Entry(f"{node.name}: {result}", doc)
    positional, defaults = node.args.args, node.args.defaults
    padded = [None] * (len(positional) - len(defaults)) + defaults
    shown = [_parameter(*pair) for pair in zip(positional, padded, strict=True)][method:]
    if node.args.kwonlyargs:
        shown += ["*", *map(_parameter, node.args.kwonlyargs, node.args.kw_defaults)]
    names = tuple(argument.arg for argument in (*positional[method:], *node.args.kwonlyargs))
    return Entry(_call(node.name, shown, f" -> {result}"), doc, names)


def _bases(node: ast.ClassDef, module: ast.Module) -> Iterator[ast.ClassDef]:
    """The classes of the package that a class builds on, the nearest first."""
    homes = {
        alias.name: statement.module for statement in module.body
        if isinstance(statement, ast.ImportFrom) and statement.level == 1 for alias in statement.names
    }
    for base in node.bases:
        if isinstance(base, ast.Name) and (home := homes.get(base.id)):
            parsed = _parse(home)
            for part in parsed.body:
                if isinstance(part, ast.ClassDef) and part.name == base.id:
                    yield part
                    yield from _bases(part, parsed)


def _class(node: ast.ClassDef, bases: list[ast.ClassDef]) -> Entry:
    """Fields and what is said of them come from the bases too; of the members, the class's own come first."""
    fields = {
        part.target.id: _parameter(ast.arg(part.target.id, part.annotation), part.value)
        for kind in (*reversed(bases), node)
        for part in kind.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    }
    keyword_only = any("kw_only=True" in ast.unparse(mark) for mark in node.decorator_list)
    members = {
        part.name: _function(part, method=True)
        for kind in (node, *bases)
        for part in kind.body if isinstance(part, ast.FunctionDef) and not part.name.startswith("_")
    }
    signature = _call(node.name, ["*"] * keyword_only + list(fields.values()), "")
    names = tuple(fields)
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            made = _function(part, method=True)
            signature = made.signature.replace("__init__", node.name, 1).removesuffix(" -> None")
            names = made.parameters
    sections = [block for kind in bases for block in _blocks(ast.get_docstring(kind) or "") if SECTION.match(block)]
    doc = "\n\n".join([ast.get_docstring(node) or "", *sections])
    return Entry(signature, doc, names, members)


def _blocks(doc: str) -> list[str]:
    """A docstring's paragraphs, sections and examples."""
    return re.split(r"\n{2,}(?! )", doc)


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    text = f"{argument.arg}: {_annotation(argument.annotation)}" if argument.annotation else argument.arg
    return text if default is None else f"{text} = {ast.unparse(default)}"


def _annotation(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)


def _call(name: str, shown: list[str], result: str) -> str:
    """The call on one line where it is short, else a line for each parameter."""
    line = f"{name}({', '.join(shown)}){result}"
    if len(line) <= 64:
        return line
    return "\n".join([f"{name}(", *(f"    {parameter}," for parameter in shown), f"){result}"])


# --------------------------------------------------------------------- writing Markdown


def entry(
    name: str, own: str, language: str, address: Callable[[str], str | None], entries: dict[str, Entry] | None = None
) -> str:
    """The Markdown of one entry with its members.

    Args:
        own: the page's own account of it.
        address: where a name that a docstring mentions is described, or None.
        entries: what is public, where the caller knows it already.

    Raises:
        UnknownNameError: the package has no such public name.
    """
    entries = entries or public()
    if name not in entries:
        hint = difflib.get_close_matches(name, entries, n=1, cutoff=0.4)
        meant = f"; did you mean {hint[0]!r}?" if hint else ""
        raise UnknownNameError(f"::: {name} is no public name of roofline_calc{meant}")
    return _entry("###", name, entries[name], own, language, address)


def _entry(
    level: str, name: str, found: Entry, own: str, language: str, address: Callable[[str], str | None]
) -> str:
    said = dict(OF_MEMBER.findall(own))
    if unknown := said.keys() - found.members.keys():
        raise UnknownNameError(f"::: {name} has no public member {min(unknown)!r}")
    own = OF_MEMBER.sub("", own).strip()
    # A member's short signature stays plain: colouring them all would double the page and take a second of the build.
    plain = level == "####" and "\n" not in found.signature
    signature = f"`{found.signature}`" if plain else f"```python\n{found.signature}\n```"
    parts = [f"{level} `{name}` {{ #{name} .api }}", signature, own]
    if found.doc:
        body = "\n\n".join(_sections(found, language, address))
        parts.append(f'<div class="docstring" lang="en" markdown="1">\n\n{body}\n\n</div>')
    parts += [
        _entry("####", f"{name}.{member}", it, said.get(member, ""), language, address)
        for member, it in found.members.items()
    ]
    return "\n\n".join(part for part in parts if part) + "\n\n"


def _sections(found: Entry, language: str, address: Callable[[str], str | None]) -> Iterator[str]:
    for block in _blocks(found.doc):
        section = SECTION.match(block)
        if section:
            text = textwrap.dedent(block[section.end() :]).strip() or section[2]
            yield f"**{LABELS[language][section[1]]}**{{ .label{LABEL_LANGUAGE[language]} }}"
            yield _described(section[1], text, found.parameters, address)
        elif block.startswith(">>>"):
            yield f"```pycon\n{block}\n```"
        else:
            yield _prose(block, address)


def _described(section: str, text: str, parameters: tuple[str, ...], address: Callable[[str], str | None]) -> str:
    """Terms and what is said of each, as a definition list; several of them may share a line of the docstring."""
    known = {"Args": "|".join(parameters) or "-", "Raises": r"\w+Error", "Returns": "-"}[section]
    start = re.compile(rf"(?:^|(?<=[.;)?] ))(?P<terms>(?:{known})(?:, (?:{known}))*|Others[\w, ]*): ", re.MULTILINE)
    pieces = start.split(text)
    if len(pieces) == 1:
        return _prose(text, address)
    terms = []
    for term, said in zip(pieces[1::2], pieces[2::2], strict=True):
        title = term if term.startswith("Others") else ", ".join(f"`{name}`" for name in term.split(", "))
        terms.append(f"{title}\n:   {_prose(said.strip(), address)}")
    return "\n\n".join(terms)


def _prose(text: str, address: Callable[[str], str | None]) -> str:
    """A docstring's paragraph as Markdown: its stars are no emphasis, and names that the pages describe are links."""

    def replace(found: re.Match[str]) -> str:
        if found[0] == "*":
            return r"\*"
        to = found["name"] and address(found["name"])
        return f"[{found[0]}]({to})" if to else found[0]

    return VERBATIM.sub(replace, " ".join(text.split()))


def written(
    markdown: str, here: str, docs: Path, language: str, entries: Callable[[], dict[str, Entry]]
) -> str:
    """The page with an entry in place of each directive.

    Args:
        here: the page's name. docs: the folder of all pages, which the entries link to.

    Raises:
        UnknownNameError: the package has no such public name.
    """
    if not DIRECTIVE.search(markdown + "\n"):
        return markdown
    home, known = _homes(docs), entries()

    def address(name: str) -> str | None:
        owner, _, member = name.partition(".")
        if owner not in home or (member and member not in known[owner].members):
            return None
        return f"#{name}" if home[owner] == here else f"{home[owner]}#{name}"

    def write(directive: re.Match[str]) -> str:
        return entry(directive["name"], textwrap.dedent(directive["own"]), language, address, known)

    return DIRECTIVE.sub(write, markdown + "\n")


def _homes(docs: Path) -> dict[str, str]:
    """The page on which each name is described."""
    return {
        name: page.name for page in docs.glob("*.md")
        for name in re.findall(r"^::: (\w+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
