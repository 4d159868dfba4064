"""The `xml.etree.ElementTree` that a program imports: reading and writing of XML in memory.

The parts that open files by a name are left out, and a document that declares entities is refused: a few lines of them
grow into gigabytes, and they may name files. Nothing outside of a document is read in any case.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["element_tree"]

_SAFE = """
    Comment Element ElementTree PI ParseError ProcessingInstruction QName SubElement indent iselement
    register_namespace tostring tostringlist
""".split()


def element_tree() -> dict[str, object]:
    """The names of the module; what opens files in the real one is changed in place."""
    from xml.etree import ElementTree

    def no_files(*_: object, **__: object) -> NoReturn:
        raise ValueError("there are no files; use fromstring(text) and tostring(element)")

    def fromstring(text: str | bytes, parser: None = None) -> Any:
        """Read a document from a text or bytes. Raises: ParseError, ValueError: It declares entities."""
        if parser is not None:
            raise TypeError("a parser of its own is not available; leave it out")
        _refuse_entities(text)
        return ElementTree.fromstring(text)

    def read(self: Any, source: Any, parser: None = None) -> Any:
        """Read a document from an object with a `read` method."""
        self._setroot(fromstring(source.read() if hasattr(source, "read") else no_files(), parser))
        return self.getroot()

    def parse(source: Any, parser: None = None) -> Any:
        """Read a document from an object with a `read` method."""
        tree = ElementTree.ElementTree()
        tree.parse(source, parser)
        return tree

    vars(ElementTree)["open"] = no_files
    ElementTree.ElementTree.parse = read  # type: ignore[method-assign, assignment]
    ours: dict[str, object] = {"XML": fromstring, "fromstring": fromstring, "parse": parse}
    ours["fromstringlist"] = lambda sequence, parser=None: fromstring("".join(sequence), parser)
    return {**{name: getattr(ElementTree, name) for name in _SAFE}, **ours}


def _refuse_entities(text: str | bytes) -> None:
    """Look for declarations of entities before anything is expanded. Raises: ValueError."""
    from xml.parsers import expat

    def refuse(*_: object) -> NoReturn:
        raise ValueError("the XML declares entities, which are refused: they may grow without end or name files")

    # A text is read as UTF-8, whatever encoding it declares: it has been decoded before.
    parser = expat.ParserCreate("utf-8" if isinstance(text, str) else None)
    parser.EntityDeclHandler = parser.UnparsedEntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError:
        return  # the real one says what is wrong, and ends at the same place
