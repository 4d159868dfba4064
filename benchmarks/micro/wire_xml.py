"""Reads a body of XML by the `xml` of its schema: names, attributes, wrapped lists, namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.micro.wire_schema import WireSchemas, cast, types

__all__ = ["xml_value"]


def xml_value(body: bytes, schema: Any, schemas: WireSchemas) -> Any:
    """The value of a document. Raises: ValueError: Its root or a part is not as the schema says."""
    from xml.parsers.expat import ExpatError

    import xmltodict

    try:
        tree = xmltodict.parse(body, process_namespaces=True, namespace_separator="|", strip_whitespace=False)
    except ExpatError as error:
        raise ValueError(str(error)) from None
    (root, node), *_ = tree.items()
    form = _xml(schema, schemas)
    wanted = _qualified(form.get("name") or schemas.name(schema), form)
    if wanted and root != wanted:
        raise ValueError(f"the root is {root}, not {wanted}")
    return _value(node, schema, schemas)


def _xml(schema: Any, schemas: WireSchemas) -> Mapping[str, Any]:
    schema = schemas.deref(schema)
    form = schema.get("xml") if isinstance(schema, Mapping) else None
    return form if isinstance(form, Mapping) else {}


def _qualified(name: str, form: Mapping[str, Any]) -> str:
    return f"{form['namespace']}|{name}" if form.get("namespace") and name else name


def _value(node: Any, schema: Any, schemas: WireSchemas) -> Any:
    kinds = types(schema, schemas)
    if "array" in kinds:
        return _items(node, schema, schemas)
    if "object" in kinds:
        return _object(node if isinstance(node, Mapping) else {}, schema, schemas)
    text = node.get("#text") if isinstance(node, Mapping) else node
    return cast(text or "", schema, schemas)


def _object(node: Mapping[str, Any], schema: Any, schemas: WireSchemas) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    taken = {"#text", "@xmlns"}
    for name, of_name in schemas.properties(schema).items():
        form = _xml(of_name, schemas)
        listed = "array" in types(of_name, schemas)
        if listed and not form.get("wrapped"):
            inner = _xml(schemas.items(of_name), schemas)
            key = _qualified(inner.get("name") or name, inner)
        else:
            key = _qualified(form.get("name") or name, form)
        key = f"@{key}" if form.get("attribute") else key
        taken.add(key)
        if key in node:
            value = node[key]
            if listed and not form.get("wrapped"):
                value = value if isinstance(value, list) else [value]
                whole[name] = [_value(item, schemas.items(of_name), schemas) for item in value]
            else:
                whole[name] = _value(value, of_name, schemas)
    left = [key for key in node if key not in taken and not key.startswith("@xmlns")]
    blank = not str(node.get("#text") or "").strip()
    if left or not blank:
        raise ValueError(f"undocumented {', '.join(left) or 'text'}")
    return whole


def _items(node: Any, schema: Any, schemas: WireSchemas) -> list[Any]:
    """The items of a wrapped list, or those of a list that is the root."""
    form = _xml(schemas.items(schema), schemas)
    inside = {key: value for key, value in (node or {}).items() if key not in ("#text", "@xmlns")}
    name = _qualified(form.get("name") or "", form)
    if len(inside) > 1 or (inside and name and name not in inside):
        raise ValueError(f"a list of {', '.join(inside)}, not {name}")
    value: Any = next(iter(inside.values()), [])
    return [_value(item, schemas.items(schema), schemas) for item in (value if isinstance(value, list) else [value])]
