"""Two small APIs for tests: a shop whose orders name a customer, and a CRM that has the customers."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CRM", "SHOP", "document"]

_TEXT: Mapping[str, object] = {"type": "string"}
_NUMBER: Mapping[str, object] = {"type": "integer"}


def _object(**properties: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _operation(schema: Mapping[str, object], *parameters: str, **more: object) -> dict[str, object]:
    content = {"application/json": {"schema": schema}}
    return {
        "parameters": [{"name": name, "in": "path", "required": True, "schema": _NUMBER} for name in parameters],
        "responses": {"200": {"description": "ok", "content": content}},
        **more,
    }


def _body(schema: Mapping[str, object]) -> dict[str, object]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


_ORDER = _object(id=_NUMBER, customer_id=_NUMBER, total=_NUMBER)
_CUSTOMER = _object(id=_NUMBER, name=_TEXT, email=_TEXT)
_NODE = {"$ref": "#/components/schemas/Node"}

SHOP: Mapping[str, object] = {
    "/orders": {
        "get": _operation({"type": "array", "items": _ORDER}, operationId="listOrders", summary="List all orders"),
        "post": _operation(_ORDER, requestBody=_body(_object(customer_id=_NUMBER)), summary="Add an order"),
    },
    "/orders/{order_id}": {"get": _operation(_ORDER, "order_id", summary="Get an order")},
    "/tree": {"get": _operation(_NODE, summary="Get the tree of the categories")},
}
CRM: Mapping[str, object] = {
    "/customers": {
        "get": _operation({"type": "array", "items": _CUSTOMER}, operationId="listCustomers", summary="List customers")
    },
    "/customers/{customer_id}": {"get": _operation(_CUSTOMER, "customer_id", summary="Get a customer")},
    "/orders": {"get": _operation({"type": "array", "items": _object(note=_TEXT)}, summary="List notes on orders")},
    "/tree": {"get": _operation(_NODE, summary="Get the tree of the teams")},
}


def document(paths: Mapping[str, object], server: str, title: str) -> dict[str, object]:
    """An OpenAPI document; `Node` refers to itself, in each API with other properties."""
    node = {"type": "object", "properties": {title: _TEXT, "children": {"type": "array", "items": _NODE}}}
    return {
        "openapi": "3.0.3",
        "info": {"title": title, "version": "1"},
        "servers": [{"url": server}] if server else [],
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Node": node},
        },
        "paths": paths,
    }
