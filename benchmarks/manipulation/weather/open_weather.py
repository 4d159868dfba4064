"""Open Weather as an environment: nine functions on five paths, 100 tests, 18 demonstrations.

Two rules of the released evaluator have no counterpart. It adds default parameters unless their names are in the line
somewhere, so that a city such as Langley suppresses one; here the service has the defaults. And it reads every reply as
a Python literal, so that each one in XML fails; here XML is compared as text.

Source: Xu et al. (arXiv:2305.16504), appendix A.1.
"""

from __future__ import annotations

from benchmarks.manipulation.http_environment import HTTPEnvironment
from benchmarks.manipulation.weather.weather_service import FOLDER, WeatherService

__all__ = ["OpenWeather"]


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

    def new_service(self) -> WeatherService:
        """The service; it keeps nothing of a request."""
        return WeatherService(self.secret)
