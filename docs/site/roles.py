# Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0
"""Docstrings' references as mkdocstrings has them: ``:func:`sparqr.lstsq``` becomes a link where there is a page."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

ROLE = re.compile(r":(?:func|class|meth|mod|attr):`~?([\w.]+)`")


class Roles(Extension):
    """The extension that mkdocs.yml names."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called with every object that is found."""
        if obj.docstring:
            obj.docstring.value = ROLE.sub(lambda m: self.link(m[1]), obj.docstring.value)

    @staticmethod
    def link(name: str) -> str:
        """A link if the name has a page of its own, otherwise the name alone."""
        return f"[`{name}`][{name}]" if name.startswith("sparqr.") else f"`{name}`"
