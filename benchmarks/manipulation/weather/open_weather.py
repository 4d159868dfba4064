"""Open Weather as an environment: nine functions on five paths, 100 tests, 18 demonstrations, 90 training templates.

Two rules of the released evaluator have no counterpart. It adds default parameters unless their names are in the line
somewhere, so that a city such as Langley suppresses one; here the service has the defaults. And it reads every reply as
a Python literal, so that each one in XML fails; here XML is compared as text.

Source: Xu et al. (arXiv:2305.16504), appendix A.1.
"""

from __future__ import annotations

import unicodedata
from urllib.parse import quote_plus

from benchmarks.manipulation.curl_templates import TaskTemplates, Value, read_templates
from benchmarks.manipulation.http_environment import HTTPEnvironment
from benchmarks.manipulation.weather.weather_service import FOLDER, Place, WeatherService, places

__all__ = ["OpenWeather"]

_SHOWN = frozenset({"Baton Rouge", "Bern", "Eugene", "Salzburg"})
"""Places of the demonstrations, in no test."""


class OpenWeather(HTTPEnvironment):
    """The weather of places; the reply to the one call is compared with that to the label's."""

    name = "weather"
    max_tokens = 128
    origin = "https://api.openweathermap.org"
    secret = "a7c41f0b52e94d6f8b3e6d10c9724e55"
    key_location = "query"
    key_name = "appid"
    single_quoted = True
    folder = FOLDER

    def read_templates(self) -> TaskTemplates:
        """The templates, with pools of the places that the service knows."""
        listed = [place for place in places() if place.name not in _SHOWN]
        pools = {"city": [_city(place) for place in listed], "zip": [_zip(place) for place in listed]}
        return read_templates(FOLDER / "templates.yaml", pools)

    def new_service(self) -> WeatherService:
        """The service; it keeps nothing of a request."""
        return WeatherService(self.secret)


def _city(place: Place) -> Value:
    letters = unicodedata.normalize("NFKD", place.name.lower()).encode("ascii", "ignore").decode()
    return Value(place.name, quote_plus(letters))


def _zip(place: Place) -> Value:
    return Value(f"{place.zip}, {place.country}", f"{place.zip},{place.country.lower()}")
