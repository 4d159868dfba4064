"""The attribute and dunder names that a program may use, for the compiler's policy and for the guards.

An attribute whose name is a literal is decided when the program is compiled; one whose name is computed (`getattr`,
format strings, `operator.attrgetter`) is decided by the same functions while it runs.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

__all__ = ["CAREFUL", "DATA_DUNDERS", "GUARDS", "METHOD_DUNDERS", "NAMEDTUPLE", "TRACKER", "WRITABLE_DUNDERS"]
__all__ += ["is_dunder", "is_plain", "refusal"]

TRACKER = "_track_"
"""The name of the tracker in a tracked run; see sandbox.child.tracker."""

GUARDS = frozenset({"_getattr_", "_private_", TRACKER, "_type_", "_write_"})
"""Names that the compiled program uses for our guards; a program may neither read nor bind them."""

_OPERATORS = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or".split()

METHOD_DUNDERS = frozenset(
    f"__{name}__"
    for name in (
        "init new repr str bytes format lt le eq ne gt ge hash bool call len length_hint getitem setitem delitem "
        "missing iter reversed next contains neg pos abs invert complex int float index round trunc floor ceil enter "
        "exit getattr getattribute setattr delattr dir get set delete set_name init_subclass class_getitem "
        "post_init copy deepcopy"
    ).split()
    + _OPERATORS
    + ["r" + name for name in _OPERATORS]
    + ["i" + name for name in _OPERATORS]
)
"""The ordinary special methods: a class of the program may define them and anyone may call them by name.

`__subclasshook__` is none: asked about a class, it would be handed the real `type`.
"""

DATA_DUNDERS = frozenset(
    f"__{name}__"
    for name in (
        "cause class context dataclass_fields dict doc members module name notes qualname suppress_context version"
    ).split()
)
"""Special attributes that may be read: they lead to strings, to exceptions, or (`__class__`, `__dict__`) to a guard."""

WRITABLE_DUNDERS = frozenset(f"__{name}__" for name in "cause context doc name qualname suppress_context".split())
"""Special attributes that may be assigned, as decorators do."""

CAREFUL = frozenset(
    {"format", "format_map", "obj", "__class__", "__dataclass_fields__", "__dict__", "__init__", "__members__"}
    | {"__getattr__", "__getattribute__", "__setattr__", "__delattr__"}
)
"""Names that are fine on most objects and a way out on some: the guard looks at the object each time."""

NAMEDTUPLE = frozenset({"_asdict", "_fields", "_field_defaults", "_make", "_replace"})
"""Public names of named tuples in spite of the underscore."""

_INSPECTED = frozenset(
    "tb_frame tb_next f_back f_builtins f_code f_generator f_globals f_locals f_trace f_trace_lines f_trace_opcodes "
    "co_code co_consts co_names co_varnames co_cellvars co_freevars co_filename co_lines co_positions "
    "gi_frame gi_code gi_yieldfrom cr_await cr_frame cr_code cr_origin ag_await ag_frame ag_code".split()
)

_BY_NAME = frozenset({"_convert_", "_create_"})
"""Methods of every enumeration that copy a module's contents, or make a class with any attribute."""


def is_dunder(name: str) -> bool:
    """True for one of Python's special names, `__like_this__`."""
    return name.startswith("__") and name.endswith("__") and len(name) > 4


def refusal(name: str) -> str | None:
    """The reason against reading an attribute of that name from any object; None if it may be read.

    Names with one leading underscore pass here: whose they are is known only at run time.
    """
    if is_dunder(name):
        if name in METHOD_DUNDERS or name in DATA_DUNDERS:
            return None
        if name == "__traceback__":
            return "use str(error) or type(error).__name__"
        return "it leads into the interpreter"
    if name in _INSPECTED:
        return "it leads into the interpreter's frames"
    if name in _BY_NAME:
        return "write a class statement"
    return None


def is_plain(name: str) -> bool:
    """True if an attribute of that name may be read from any object, without a guard."""
    return not name.startswith("_") and name not in CAREFUL and refusal(name) is None
