"""Of Sphinx: the reference of the Python package, from its docstrings. tools/reference_docs.sh builds it."""

import importlib.util
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import plain_text
import poet

project = "poet"
author = "the poet authors"
project_copyright = ""
release = version = poet.__version__

extensions = ["sphinx.ext.autodoc"]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_type_aliases = {"Array": "ndarray", "Path": "PathLike", "Amount": "Amount"}
autodoc_mock_imports = [name for name in ("torch", "functorch", "lightning", "pytorch_lightning", "transformers") if importlib.util.find_spec(name) is None]

# What their constructors take is no caller's.
MADE_BY_POET = ("poet.Page", "poet.Plan", "poet.Result", "poet.Schedule", "poet.torch.Step")

smartquotes = False  # "300KiB" is to be copied
html_theme = "alabaster"
html_static_path = ["static"]
html_css_files = ["signatures.css"]
html_theme_options = {"description": "Training within little memory, in Python", "page_width": "1100px", "fixed_sidebar": True}
html_sidebars = {"**": ["about.html", "searchbox.html", "globaltoc.html", "localtoc.html"]}
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False


def setup(app):
    def as_markup(_app, _what, _name, _thing, _options, lines):
        if lines and lines[0].startswith("Alias for field number"):  # of a named tuple, whose own text says what they are
            lines[:] = []
        lines[:] = plain_text.markup("\n".join(lines))

    def of_callers(_app, _what, name, _thing, _options, signature, returned):
        if name in MADE_BY_POET:
            return "", None
        # Of a dataclass; what is no code would leave the whole signature as it is.
        return signature and signature.replace("<factory>", "..."), returned

    app.connect("autodoc-process-docstring", as_markup)
    app.connect("autodoc-process-signature", of_callers)
