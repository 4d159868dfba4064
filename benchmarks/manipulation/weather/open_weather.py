"""Open Weather: nine functions on five paths of a weather service, all derived from the place and a fixed clock.

The forms of its replies are those of the public API. A place that is asked for by its name, its postal code or its
coordinates has the same weather. A place that is not listed in `places.yaml` is derived from its name.

Two rules of the released evaluator have no counterpart. It adds default parameters unless their names are in the line
somewhere, so that a city such as Langley suppresses one; here the service has the defaults. And it reads every reply as
a Python literal, so that each one in XML fails; here XML is compared as text.

Source: Xu et al. (arXiv:2305.16504), appendix A.1.
"""

from __future__ import annotations

import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import yaml

from benchmarks.manipulation.environment import NOW
from benchmarks.manipulation.http_environment import HTTPEnvironment, LocalService, RefusedRequestError
from protocols.simulator.http.messages import SimulatedReply, SimulatedRequest

__all__ = ["OpenWeather"]

_PATHS = {
    "/data/2.5/weather",
    "/data/2.5/forecast",
    "/data/2.5/air_pollution",
    "/data/2.5/air_pollution/forecast",
    "/geo/1.0/direct",
}
_STEP = 3 * 3600
_STEPS = 40
"""A forecast is of five days, in steps of three hours."""
_HOURS = 24
"""Hours of a forecast of the air."""
_NEAR = 0.02
"""Degrees within which coordinates are those of a known place."""
_POLLUTANTS = ("co", "no", "no2", "o3", "so2", "pm2_5", "pm10", "nh3")
_MOST_PLACES = 5


@dataclass(frozen=True, slots=True)
class _WeatherPlace:
    """A place that the service knows; `country` is a code of two letters."""

    name: str
    country: str
    lat: float
    lon: float
    zip: str
    timezone: int


@dataclass(frozen=True, slots=True)
class _Form:
    """How a reply is to be written."""

    units: str
    lang: str
    seed: int


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Any]:
    content: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("places.yaml").read_text("utf-8"))
    return content


@lru_cache(maxsize=1)
def _places() -> tuple[_WeatherPlace, ...]:
    """All places that the service knows."""
    return tuple(
        _WeatherPlace(name, country, lat, lon, str(zip), hours * 3600)
        for name, country, lat, lon, zip, hours in _data()["places"]
    )


class WeatherService(LocalService):
    """Answers with JSON or XML; its one key is `secret`."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._seed = 0

    def reset(self, state: Mapping[str, Any], seed: int) -> None:
        """Nothing is kept of a request; another seed is another day."""
        self._seed = seed

    def name(self, method: str, path: str) -> str:
        """Method and path, of which none has an identifier."""
        return f"{method} {path}"

    def answer(self, request: SimulatedRequest) -> SimulatedReply:
        """Answer one request; where a parameter is given twice, the last one counts."""
        query = dict(request.query)
        try:
            return self._answer(request, query)
        except RefusedRequestError as error:
            body = {"cod": error.status if error.status == 401 else str(error.status), "message": str(error)}
            return SimulatedReply(error.status, body, "application/json")

    def _answer(self, request: SimulatedRequest, query: Mapping[str, str]) -> SimulatedReply:
        if request.path not in _PATHS:
            raise RefusedRequestError(404, "Internal error: there is nothing at this path")
        if request.method != "GET":
            raise RefusedRequestError(405, f"{request.method} is not allowed, send a GET")
        if query.get("appid") != self._secret:
            raise RefusedRequestError(401, "Invalid API key: send yours as appid")
        if request.path == "/geo/1.0/direct":
            return SimulatedReply(200, _direct(query), "application/json")
        if "air_pollution" in request.path:
            lat, lon = _coordinates(query)
            hours = _HOURS if request.path.endswith("forecast") else 1
            air = {"coord": {"lon": lon, "lat": lat}, "list": _air(lat, lon, hours, self._seed)}
            return SimulatedReply(200, air, "application/json")
        place = _place(query)
        units, lang = query.get("units", "standard"), query.get("lang", "en").lower()
        form = _Form(
            units if units in ("metric", "imperial") else "standard",
            lang if lang in _data()["languages"] else "en",
            self._seed,
        )
        body = _forecast(place, form) if request.path.endswith("forecast") else _current(place, form)
        if query.get("mode") == "xml":
            return SimulatedReply(200, _xml(body), "application/xml; charset=utf-8")
        return SimulatedReply(200, body, "application/json")


# -- places ------------------------------------------------------------------------------------------------------------


def _folded(name: str) -> str:
    """A name in lower case, without accents and double blanks."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return " ".join(letters.lower().split())


@lru_cache(maxsize=1)
def _by_name() -> dict[str, _WeatherPlace]:
    return {_folded(place.name): place for place in _places()}


@lru_cache(maxsize=1)
def _by_zip() -> dict[tuple[str, str], _WeatherPlace]:
    return {(place.zip.lower(), place.country.lower()): place for place in _places()}


def _derived(name: str, country: str, zip: str) -> _WeatherPlace:
    """A place that is not listed."""
    draws = _draws(_folded(name), country, zip, "place")
    lat, lon = round(draws[0] / 255 * 120 - 50, 4), round(draws[1] / 255 * 340 - 170, 4)
    return _WeatherPlace(name, country, lat, lon, zip, round(lon / 15) * 3600)


def _named(text: str) -> _WeatherPlace:
    """The place of `name`, `name,country` or `name,state,country`; a state is not looked at."""
    name, *rest = (part.strip() for part in text.split(","))
    country = rest[-1].upper() if rest else ""
    listed = _by_name().get(_folded(name))
    return listed if listed and country in (listed.country, "") else _derived(name, country, "")


def _place(query: Mapping[str, str]) -> _WeatherPlace:
    """The place that is asked for, by the first of name, postal code and coordinates."""
    if "q" in query:
        return _named(query["q"])
    if "zip" in query:  # without a country it is in the United States
        code, _, country = (part.strip() for part in query["zip"].partition(","))
        country = country.upper() or "US"
        return _by_zip().get((code.lower(), country.lower())) or _derived("", country, code)
    lat, lon = _coordinates(query)
    near = [place for place in _places() if abs(place.lat - lat) <= _NEAR and abs(place.lon - lon) <= _NEAR]
    return near[0] if near else _WeatherPlace("", "", lat, lon, "", round(lon / 15) * 3600)


def _coordinates(query: Mapping[str, str]) -> tuple[float, float]:
    missing = [name for name in ("lat", "lon") if not query.get(name)]
    if missing:
        raise RefusedRequestError(400, "Nothing to geocode" if len(missing) == 2 else f"{missing[0]} is missing")
    for name, most in (("lat", 90), ("lon", 180)):
        try:
            valid = abs(float(query[name])) <= most
        except ValueError:
            valid = False
        if not valid:
            raise RefusedRequestError(400, f"wrong {'latitude' if name == 'lat' else 'longitude'}")
    return round(float(query["lat"]), 4), round(float(query["lon"]), 4)


def _direct(query: Mapping[str, str]) -> list[Any]:
    """Places of a name, the known one first, then namesakes elsewhere."""
    if not query.get("q"):
        raise RefusedRequestError(400, "Nothing to geocode")
    limit = query.get("limit", "1")
    if not limit.isdecimal() or not 1 <= int(limit) <= _MOST_PLACES:
        raise RefusedRequestError(400, f"limit is a number from 1 to {_MOST_PLACES}")
    place = _named(query["q"])
    listed = [{"name": place.name, "lat": place.lat, "lon": place.lon, "country": place.country}]
    countries = _data()["countries"]
    for number in range(1, _MOST_PLACES):
        country = countries[_draws(place.name, "namesake", number)[2] % len(countries)]
        namesake = _derived(place.name, country, str(number))
        listed.append({"name": place.name, "lat": namesake.lat, "lon": namesake.lon, "country": country})
    return listed[: int(limit)]


# -- weather -----------------------------------------------------------------------------------------------------------


def _draws(*purpose: object) -> bytes:
    """32 numbers from 0 to 255 that follow from their purpose."""
    return blake2b("/".join(map(str, purpose)).encode(), digest_size=32).digest()


def _identity(place: _WeatherPlace) -> str:
    return f"{_folded(place.name)},{place.country}" if place.name else f"{place.lat},{place.lon}"


def _number(place: _WeatherPlace) -> int:
    """The id of a place."""
    return 1_000_000 + int.from_bytes(_draws(_identity(place), "id")[:3], "big")


def _current(place: _WeatherPlace, form: _Form) -> dict[str, Any]:
    draws = _draws(_identity(place), "/data/2.5/weather", form.seed)
    now = int(NOW.timestamp())
    return {
        "coord": {"lon": place.lon, "lat": place.lat},
        **_conditions(place, draws, form),
        "base": "stations",
        "dt": now,
        "sys": {
            "country": place.country,
            "sunrise": now - 21600 - draws[30] * 10,
            "sunset": now + 21600 + draws[31] * 10,
        },
        "timezone": place.timezone,
        "id": _number(place),
        "name": place.name,
        "cod": 200,
    }


def _forecast(place: _WeatherPlace, form: _Form) -> dict[str, Any]:
    start = int(NOW.timestamp()) + _STEP
    entries = []
    for moment in range(start, start + _STEPS * _STEP, _STEP):
        draws = _draws(_identity(place), "/data/2.5/forecast", form.seed, moment)
        text = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S")
        entries.append({"dt": moment, **_conditions(place, draws, form), "pop": draws[29] % 101 / 100, "dt_txt": text})
    city = {
        "id": _number(place),
        "name": place.name,
        "coord": {"lat": place.lat, "lon": place.lon},
        "country": place.country,
        "timezone": place.timezone,
    }
    return {"cod": "200", "message": 0, "cnt": len(entries), "list": entries, "city": city}


def _conditions(place: _WeatherPlace, draws: bytes, form: _Form) -> dict[str, Any]:
    """Temperature, wind and sky of one moment, in the units and the language of a request."""
    kelvin = 300 - abs(place.lat) * 0.4 + (draws[0] - 128) / 12
    sky = draws[1] % len(_data()["skies"])
    code, main, icon = _data()["skies"][sky]
    wind = draws[2] / 16
    return {
        "weather": [{"id": code, "main": main, "description": _data()["languages"][form.lang][sky], "icon": icon}],
        "main": {
            "temp": _temperature(kelvin, form.units),
            "feels_like": _temperature(kelvin - wind / 4, form.units),
            "temp_min": _temperature(kelvin - draws[3] / 100, form.units),
            "temp_max": _temperature(kelvin + draws[4] / 100, form.units),
            "pressure": 985 + draws[5] % 50,
            "humidity": 20 + draws[6] % 80,
        },
        "visibility": 1000 + draws[7] % 10 * 1000,
        "wind": {"speed": round(wind * 2.23694 if form.units == "imperial" else wind, 2), "deg": draws[8] * 360 // 256},
        "clouds": {"all": draws[9] % 101},
    }


def _temperature(kelvin: float, units: str) -> float:
    if units == "metric":
        return round(kelvin - 273.15, 2)
    return round((kelvin - 273.15) * 1.8 + 32 if units == "imperial" else kelvin, 2)


def _air(lat: float, lon: float, hours: int, seed: int) -> list[Any]:
    start = int(NOW.timestamp())
    kind = "/data/2.5/air_pollution/forecast" if hours > 1 else "/data/2.5/air_pollution"
    entries = []
    for moment in range(start, start + hours * 3600, 3600):
        draws = _draws(lat, lon, kind, seed, moment)
        components = {name: round(draws[index] / 7, 2) for index, name in enumerate(_POLLUTANTS)}
        entries.append({"main": {"aqi": 1 + draws[20] % 5}, "components": components, "dt": moment})
    return entries


def _xml(body: Mapping[str, Any]) -> str:
    """A reply as XML: a member is an element, and an item of a list one of its list's name."""
    root = ElementTree.Element("weatherdata" if "list" in body else "current")
    _add(root, body)
    return ElementTree.tostring(root, encoding="unicode")


def _add(parent: ElementTree.Element, body: Mapping[str, Any]) -> None:
    for name, value in body.items():
        for item in value if isinstance(value, list) else [value]:
            child = ElementTree.SubElement(parent, name)
            if isinstance(item, Mapping):
                _add(child, item)
            else:
                child.text = str(item)


class OpenWeather(HTTPEnvironment):
    """The weather of places; the reply to the one call is compared with that to the label's."""

    name = "weather"
    max_tokens = 128
    origin = "https://api.openweathermap.org"
    secret = "a7c41f0b52e94d6f8b3e6d10c9724e55"
    key_location = "query"
    key_name = "appid"
    single_quoted = True
    folder = Path(__file__).parent

    def new_service(self) -> WeatherService:
        """The service; it keeps nothing of a request."""
        return WeatherService(self.secret)
