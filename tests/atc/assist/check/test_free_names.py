"""Names of functions that follow no rule: tool records name their own."""

from __future__ import annotations

from atc.assist.check import apply_edits, check
from protocols import load
from protocols.contracts.contract import Contract
from protocols.dataflow.graph import ProtocolGraph

RECORDS = {
    "title": "Weather",
    "endpoints": [
        {"name": "current_weather_for_skies", "method": "GET", "url": "https://skies.invalid/now?city={city}"},
        {"name": "forecast_for_skies", "method": "GET", "url": "https://skies.invalid/next?city={city}"},
    ],
}


def test_the_nearest_function_is_meant_whatever_it_is_called() -> None:
    """An unknown function is told with the nearest, and replaced where the arguments fit."""
    protocol = load(RECORDS)
    program = 'print(current_weather_of_skies(city="Oslo"))\n'
    diagnostics = check(program, Contract(protocol), None, None, ProtocolGraph(protocol))

    assert [diagnostic.rule for diagnostic in diagnostics] == ["unknown-tool"]
    assert diagnostics[0].message.endswith('did you mean "current_weather_for_skies"?')
    assert apply_edits(program, diagnostics) == 'print(current_weather_for_skies(city="Oslo"))\n'
