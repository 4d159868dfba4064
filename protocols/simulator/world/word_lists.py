"""Words for fields without examples: names of people, firms, works and places, and plain sentences.

All of them are invented or common property; the words of a field's name decide which list serves it.
"""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

from protocols.simulator.world.seeded_rng import SeededRNG
from protocols.text.words import singular, words

__all__ = [
    "city",
    "country",
    "invent_name",
    "is_venue",
    "nouns",
    "organisation",
    "person",
    "place",
    "sentence",
    "title",
]

_FIRST = (
    "Ada Aino Amara Anders Beatriz Boris Camille Carmen Chen Clara Dario Dilek Edith Elena Emeka Farid Fiona Greta "
    "Hana Hugo Ingrid Isaac Jonas Jun Kaia Kofi Lars Leila Liam Lucia Malik Maren Mateo Mina Nadia Nils Noor Olga "
    "Oscar Paolo Priya Rafael Rosa Samir Sigrid Sofia Tariq Theo Uma Viktor Wanda Yara Yusuf Zoe"
).split()
_LAST = (
    "Abara Albers Almeida Arslan Bauer Bellamy Berg Castell Chandra Cole Dahl Delgado Draper Eriksen Farrow Ferrand "
    "Fontaine Grieg Haddad Hale Hartmann Ibarra Iwata Jansen Kaplan Keller Kimura Kowal Lindqvist Lund Marchetti "
    "Mendes Moreau Nakata Novak Okafor Olsen Ortega Pereira Quist Ramires Rossi Sandberg Santos Sato Sharma Silva "
    "Sorensen Tanaka Thorne Usman Vance Varga Vogel Weiss Winters Yilmaz Zeller"
).split()
_ADJECTIVES = (
    "Amber Bitter Blue Borrowed Bright Broken Burning Crimson Distant Early Electric Empty Endless Fading Faithful "
    "First Forgotten Frozen Gentle Golden Green Hidden Hollow Last Little Long Lost Lucky Midnight Northern Painted "
    "Paper Quiet Restless Rising Salt Scarlet Second Secret Silent Silver Sleeping Slow Southern Stolen Summer Wild"
).split()
_NOUNS = (
    "Archive Autumn Bridge Carnival Circle City Clock Coast Compass Corner Country Crossing Dawn Distance Dream Echo "
    "Empire Engine Evening Field Fire Forest Frontier Garden Ghost Harbor Harvest Heart Horizon House Island Journey "
    "Kingdom Lantern Letter Light Machine Map Mirror Moon Mountain Night Ocean Orchard Party Promise Rain River Road "
    "Room Season Shadow Signal Sky Song Star Station Stone Storm Story Street Summer Theater Tide Tower Train Valley "
    "Voyage Winter Witness"
).split()
_FIRMS = "Pictures Studios Media Works Group Partners Labs House Industries Collective Productions Company".split()
_CITIES = (
    ("Aarhus", "Denmark"), ("Bergen", "Norway"), ("Bilbao", "Spain"), ("Bologna", "Italy"), ("Lucerne", "Switzerland"),
    ("Cork", "Ireland"), ("Denver", "United States"), ("Ghent", "Belgium"), ("Graz", "Austria"), ("Halifax", "Canada"),
    ("Kyoto", "Japan"), ("Leipzig", "Germany"), ("Lisbon", "Portugal"), ("Lyon", "France"), ("Malmo", "Sweden"),
    ("Mombasa", "Kenya"), ("Montreal", "Canada"), ("Nagoya", "Japan"), ("Oslo", "Norway"), ("Porto", "Portugal"),
    ("Quito", "Ecuador"), ("Riga", "Latvia"), ("Rosario", "Argentina"), ("Salvador", "Brazil"), ("Seville", "Spain"),
    ("Tallinn", "Estonia"), ("Tampere", "Finland"), ("Trieste", "Italy"), ("Utrecht", "Netherlands"),
)  # fmt: skip
_COUNTRIES = (
    ("US", "United States"), ("GB", "United Kingdom"), ("DE", "Germany"), ("FR", "France"), ("ES", "Spain"),
    ("IT", "Italy"), ("JP", "Japan"), ("BR", "Brazil"), ("CA", "Canada"), ("SE", "Sweden"), ("NO", "Norway"),
    ("IN", "India"), ("MX", "Mexico"), ("KE", "Kenya"), ("PT", "Portugal"),
)  # fmt: skip
_SENTENCES = (
    "Two strangers meet by chance and find that they share more than a journey.",
    "A quiet year turns upside down when an old promise has to be kept.",
    "What begins as a small mistake grows into something nobody can stop.",
    "Made with care over many months, and better for it.",
    "Everyone in town has a version of what happened that night.",
    "Warm, precise and full of small surprises.",
    "It starts slowly, then never lets go.",
    "A calm look at people who keep going.",
)
_PEOPLE = frozenset(
    "person people user author actor actress artist singer musician director writer member customer employee owner "
    "contact player driver friend follower subscriber patient doctor student teacher guest host reviewer narrator "
    "creator cast crew character seller buyer agent sender recipient reader composer".split()
)
_FIRM_WORDS = frozenset(
    "company organization organisation org network studio brand vendor store shop label chain publisher "
    "manufacturer supplier team agency bank business merchant".split()
)
_VENUES = frozenset("venue theater theatre cinema hotel restaurant cafe bar club hall gallery museum stadium".split())
_PLACES = frozenset("city town place location region station airport municipality capital".split())


def person(rng: SeededRNG) -> str:
    """First and last name of an invented person."""
    return f"{rng.choose(_FIRST)} {rng.choose(_LAST)}"


def organisation(rng: SeededRNG) -> str:
    """The name of an invented firm."""
    return f"{rng.choose(_ADJECTIVES)} {rng.choose(_NOUNS)} {rng.choose(_FIRMS)}"


def title(rng: SeededRNG) -> str:
    """The title of a work."""
    adjective, noun, second_noun = rng.choose(_ADJECTIVES), rng.choose(_NOUNS), rng.choose(_NOUNS)
    forms = (
        f"The {adjective} {noun}",
        f"{adjective} {noun}",
        f"{noun} of the {second_noun}",
        f"{adjective} {noun} and {second_noun}",
    )
    return rng.choose(forms)


def nouns(rng: SeededRNG, count: int) -> list[str]:
    """Different nouns, capitalised as in names."""
    return rng.sample(_NOUNS, count)


def city(rng: SeededRNG) -> str:
    """A real city."""
    return rng.choose(_CITIES)[0]


def place(rng: SeededRNG) -> str:
    """A real city with its country."""
    return ", ".join(rng.choose(_CITIES))


def country(rng: SeededRNG) -> tuple[str, str]:
    """Two-letter code and name of a real country."""
    return rng.choose(_COUNTRIES)


def sentence(rng: SeededRNG, count: int = 1) -> str:
    """A few sentences that suit almost anything."""
    return " ".join(rng.sample(_SENTENCES, count))


def is_venue(kind: str) -> bool:
    """True if a type's name means a place that people visit."""
    return singular(kind) in _VENUES


def invent_name(kind: str, rng: SeededRNG) -> str:
    """A name for an entity, by the meaning of its type's name."""
    parts = {singular(part) for part in words(kind)}
    if parts & _PEOPLE:
        return person(rng)
    if parts & _FIRM_WORDS:
        return organisation(rng)
    if parts & _PLACES:
        return city(rng)
    if parts & _VENUES:
        return f"{rng.choose(_ADJECTIVES)} {rng.choose(_NOUNS)}"
    return title(rng)
