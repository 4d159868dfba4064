"""The README as a package index shows it: pictures and files of the checkout are nowhere there."""

import re
from pathlib import Path

from setuptools import setup

_TEXT = Path(__file__).with_name("README.md").read_text("utf-8")
_ELSEWHERE = r"\((?!https?:|#|mailto:)[^)\s]*\)"
_TEXT = re.sub(rf"!\[[^\]]*\]{_ELSEWHERE}\n*", "", _TEXT)
_TEXT = re.sub(rf"\[((?:[^\[\]]|\[[^\]]*\])*)\]{_ELSEWHERE}", r"\1", _TEXT)
setup(long_description=_TEXT, long_description_content_type="text/markdown")
