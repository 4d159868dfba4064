"""What is wrong with a program, found before it runs."""

from atc import check_program
from protocols.samples import sample

PROGRAM = """\
film = GET_films_top_rated()["films"][0]
print(film["directer"])
print(GET_film(film["filmId"]))
"""

for diagnostic in check_program(sample("cinema"), PROGRAM):
    print(f"line {diagnostic.line}: {diagnostic.message}")
