"""From the package's docstrings, which are plain text that help() shows, to the markup that Sphinx reads.

A docstring is paragraphs between empty lines. What a paragraph is follows from where its lines begin:

    all indented               an example, kept line by line
    some indented              a list: each line further out begins an entry, the lines further in go on with it
    NAME  TEXT                 a list, too: two spaces or more, or a column, between a term and what it means
    else                       running text
"""

from __future__ import annotations

import re
import textwrap
from typing import Optional


def markup(docstring: str) -> list[str]:
    """Returns the lines of reStructuredText for a docstring whose common indentation is gone."""
    lines = []
    for paragraph in _paragraphs(docstring):
        lines += [*_paragraph(paragraph), ""]
    return lines


def _paragraphs(docstring: str) -> list[list[str]]:
    """The lines of each; an example may have empty lines."""
    found: list[list[str]] = []
    for text in re.split(r"\n\s*\n", docstring.strip("\n")):
        lines = text.split("\n")
        if found and _is_indented(lines) and _is_indented(found[-1]):
            found[-1] += ["", *lines]
        else:
            found.append(lines)
    return found


def _paragraph(lines: list[str]) -> list[str]:
    if _is_indented(lines):
        lines = textwrap.dedent("\n".join(lines)).split("\n")
        return _entries(lines) if _is_table(lines) else ["::", "", *("    " + line for line in lines)]
    if lines[0].endswith(":") and _is_indented(lines[1:]):
        return [_inline(lines[0]), "", *_entries(textwrap.dedent("\n".join(lines[1:])).split("\n"))]
    columns = {len(line) - len(line.lstrip()) for line in lines if line.startswith(" ")}
    if columns or _is_table(lines):
        return _entries(lines, columns.pop() if len(columns) == 1 else None)
    return [_inline(" ".join(lines))]


def _is_indented(lines: list[str]) -> bool:
    return any(lines) and all(line.startswith(" ") for line in lines if line)


def _is_table(lines: list[str]) -> bool:
    """Whether two columns stand side by side; the second one of code is a comment."""
    return all(re.search(r"\S {2,}[^\s#]", line) for line in lines)


def _entries(lines: list[str], column: Optional[int] = None) -> list[str]:
    """A list of lines that begin at the margin and of those further in that go on with them."""
    entries: list[list[str]] = []
    for line in lines:
        if line.startswith(" ") and entries:
            entries[-1].append(line.strip())
        else:
            entries.append(list(_split(line, column)))
    return [f"* **{_escaped(term)}**: {_inline(' '.join(text))}" if term else f"* {_inline(' '.join(text))}" for term, *text in entries]


def _split(line: str, column: Optional[int]) -> tuple[str, str]:
    """The term and the text of a list's entry; the term is empty where there is none."""
    spaces = re.match(r"(\S.*?) {2,}(\S.*)$", line)
    if spaces:
        return spaces[1], spaces[2]
    if column and len(line) > column and line[column - 1] == " " and line[column] != " ":
        return line[: column - 1].rstrip(), line[column:]
    named = re.match(r"(\**\w+(?:=[^\s:]+)?(?:(?:,| or| and)? \**\w+(?:=[^\s:]+)?)*): (.*)$", line)
    return (named[1], named[2]) if named else ("", line)


def _escaped(text: str) -> str:
    return re.sub(r"([\\*|`]|_(?=\W|$))", r"\\\1", text)


def _inline(text: str) -> str:
    """Text with what is in backquotes as code and with functions, of which `name()` is said, as links."""
    pieces = re.split(r"(`[^`]+`|(?<![\w.`])(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*\(\))", text)
    out = _escaped(pieces[0])
    for code, after in zip(pieces[1::2], pieces[2::2]):
        link = f":py:obj:`{code} <{code[:-2]}>`"
        # Markup must stand apart from letters next to it.
        out += ("\\ " if out[-1:].isalnum() else "") + (f"`{code}`" if code.startswith("`") else link)
        out += ("\\ " if after[:1].isalnum() else "") + _escaped(after)
    return out
