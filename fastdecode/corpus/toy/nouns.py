"""The nouns, places and adjectives of the toy corpus, English with the right German."""
# ruff: noqa: E501  (tables: one entry a line)

from __future__ import annotations

from dataclasses import dataclass, field

from fastdecode.corpus.toy.german import Case, Gender, GermanNoun
from fastdecode.corpus.toy.tree import Style

_GENDERS: dict[str, Gender] = {"der": "m", "die": "f", "das": "n"}


@dataclass(frozen=True, slots=True)
class Place:
    """The prepositions of a noun that is a place: being there (dative) and going there."""

    at: str  # English
    where: str  # German, with the dative
    whither: tuple[tuple[int, str, Case], ...]  # German, weighted
    far: bool  # whether people drive there as well as walk


@dataclass(frozen=True, slots=True)
class Noun:
    """One meaning of an English noun.

    `kind` says which adjectives go with it, `tags` which verbs take it as their object, `sex`
    whether he (m), she (f) or either (mf) takes it up; with either, the German noun says which.
    Nothing takes up das Kind and das Mädchen, where German could use two genders.
    """

    singular: str
    plural: str  # empty where only the singular is used
    kind: str
    tags: frozenset[str]
    german: tuple[GermanNoun, ...]
    sex: str = ""
    mass: bool = False
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Adjective:
    """One meaning of an English adjective, the kinds of noun it goes with, and its comparative."""

    english: str
    kinds: frozenset[str]
    german: tuple[tuple[int, str, Style | None], ...]
    comparative: str = ""
    german_comparative: tuple[tuple[int, str], ...] = field(default=())


def _weight_and_style(words: list[str]) -> tuple[int, Style | None]:
    """Read `[weight] [style]`."""
    weight = int(words.pop(0)) if words and words[0].isdigit() else 100
    return weight, Style(words[0]) if words else None


def _german(entry: str) -> GermanNoun:
    """Read `article singular genitive plural [weight] [style]`."""
    article, singular, genitive, plural, *rest = entry.split()
    return GermanNoun(_GENDERS[article], singular, genitive, plural, *_weight_and_style(rest))


def _place(entry: str) -> Place | None:
    """Read `at/where/whither case [weight], …[/far]`, or nothing."""
    if not entry:
        return None
    at, where, whither, *far = entry.split("/")
    ways: list[tuple[int, str, Case]] = []
    for way in whither.split(","):
        preposition, case, weight, *_ = [*way.split(), "100"]
        ways.append((int(weight), preposition, "acc" if case == "acc" else "dat"))
    return Place(at, where, tuple(ways), bool(far))


def _noun(english: str, kind: str, tags: str, *german: str, sex: str = "", place: str = "") -> Noun:
    singular, _, plural = english.partition(" ")
    return Noun(
        singular,
        "" if plural == "-" else plural,
        kind,
        frozenset(tags.split()),
        tuple(_german(entry) for entry in german),
        sex,
        mass=plural == "-",
        place=_place(place),
    )


def _people(english: str, tags: str, masculine: str, feminine: str) -> Noun:
    """A person whose sex only the German noun tells; more often a man, as in real text."""
    return _noun(english, "person", f"person {tags}", f"{masculine} 65", f"{feminine} 35", sex="mf")


NOUNS: tuple[Noun, ...] = (
    # People. Kin are never without a possessor.
    _noun("man men", "person", "person", "der Mann Mannes Männer", sex="m"),
    _noun("woman women", "person", "person", "die Frau Frau Frauen", sex="f"),
    _people("teacher teachers", "", "der Lehrer Lehrers Lehrer", "die Lehrerin Lehrerin Lehrerinnen"),
    _noun("boy boys", "person", "person", "der Junge Jungen Jungen", sex="m"),
    _noun("girl girls", "person", "person", "das Mädchen Mädchens Mädchen"),
    _people("doctor doctors", "", "der Arzt Arztes Ärzte", "die Ärztin Ärztin Ärztinnen"),
    _noun("child children", "person", "person", "das Kind Kindes Kinder"),
    _people("student students", "", "der Student Studenten Studenten", "die Studentin Studentin Studentinnen"),
    _people("neighbour neighbours", "kin", "der Nachbar Nachbarn Nachbarn", "die Nachbarin Nachbarin Nachbarinnen"),
    _people("gardener gardeners", "", "der Gärtner Gärtners Gärtner", "die Gärtnerin Gärtnerin Gärtnerinnen"),
    _people("customer customers", "", "der Kunde Kunden Kunden", "die Kundin Kundin Kundinnen"),
    _people("writer writers", "", "der Schriftsteller Schriftstellers Schriftsteller", "die Schriftstellerin Schriftstellerin Schriftstellerinnen"),
    _people("baker bakers", "", "der Bäcker Bäckers Bäcker", "die Bäckerin Bäckerin Bäckerinnen"),
    _noun("king kings", "person", "person", "der König Königs Könige", sex="m"),
    _people("friend friends", "kin", "der Freund Freundes Freunde", "die Freundin Freundin Freundinnen"),
    _noun("mother mothers", "person", "kin", "die Mutter Mutter Mütter", sex="f"),
    _noun("brother brothers", "person", "kin", "der Bruder Bruders Brüder", sex="m"),
    _noun("sister sisters", "person", "kin", "die Schwester Schwester Schwestern", sex="f"),
    _noun("father fathers", "person", "kin", "der Vater Vaters Väter", sex="m"),
    _noun("daughter daughters", "person", "kin", "die Tochter Tochter Töchter", sex="f"),
    _noun("son sons", "person", "kin", "der Sohn Sohnes Söhne", sex="m"),
    _noun("grandmother grandmothers", "person", "kin", "die Großmutter Großmutter Großmütter formal", "die Oma Oma Omas casual", sex="f"),
    _noun("grandfather grandfathers", "person", "kin", "der Großvater Großvaters Großväter formal", "der Opa Opas Opas casual", sex="m"),
    _noun("uncle uncles", "person", "kin", "der Onkel Onkels Onkel", sex="m"),
    # Animals.
    _noun("dog dogs", "animal", "animal bark", "der Hund Hundes Hunde"),
    _noun("cat cats", "animal", "animal", "die Katze Katze Katzen"),
    _noun("horse horses", "animal", "animal mount", "das Pferd Pferdes Pferde"),
    _noun("bird birds", "animal", "animal", "der Vogel Vogels Vögel"),
    # What moves.
    _noun("car cars", "vehicle", "goods fix steal", "das Auto Autos Autos 60", "der Wagen Wagens Wagen 40"),
    _noun("bicycle bicycles", "vehicle", "goods fix steal cycle", "das Fahrrad Fahrrades Fahrräder 65", "das Rad Rades Räder 35"),
    _noun("bus buses", "vehicle", "wait miss", "der Bus Busses Busse"),
    _noun("train trains", "vehicle", "wait miss", "der Zug Zuges Züge"),
    # What is read and heard.
    _noun("book books", "reading", "goods small read write lie give", "das Buch Buches Bücher"),
    _noun("letter letters", "reading", "read write lie open reply", "der Brief Briefes Briefe"),
    _noun("newspaper newspapers", "reading", "goods read lie", "die Zeitung Zeitung Zeitungen"),
    _noun("story stories", "reading", "read write", "die Geschichte Geschichte Geschichten 65", "die Erzählung Erzählung Erzählungen 35"),
    _noun("question questions", "reading", "reply", "die Frage Frage Fragen"),
    _noun("music -", "", "hear", "die Musik Musik Musiken"),
    # Food and drink.
    _noun("apple apples", "food", "food fodder small", "der Apfel Apfels Äpfel"),
    _noun("cake cakes", "food", "food bake give", "der Kuchen Kuchens Kuchen 65", "die Torte Torte Torten 35"),
    _noun("fish -", "food", "food fodder", "der Fisch Fisches Fische"),
    _noun("bread -", "food", "food fodder bake", "das Brot Brotes Brote"),
    _noun("coffee -", "drink", "drink", "der Kaffee Kaffees Kaffees"),
    _noun("water -", "drink", "drink", "das Wasser Wassers Wasser"),
    _noun("milk -", "drink", "drink", "die Milch Milch Milch"),
    # Clothes and things.
    _noun("coat coats", "clothes", "goods small lie", "der Mantel Mantels Mäntel"),
    _noun("dress dresses", "clothes", "goods lie", "das Kleid Kleides Kleider"),
    _noun("key keys", "thing", "small lie", "der Schlüssel Schlüssels Schlüssel"),
    _noun("suitcase suitcases", "luggage", "goods small stand open shut", "der Koffer Koffers Koffer"),
    _noun("bag bags", "luggage", "goods small stand steal open shut", "die Tasche Tasche Taschen"),
    _noun("box boxes", "luggage", "stand open shut", "die Kiste Kiste Kisten 60", "die Schachtel Schachtel Schachteln 40"),
    _noun("present presents", "thing", "goods give", "das Geschenk Geschenkes Geschenke"),
    _noun("picture pictures", "picture", "goods picture give", "das Bild Bildes Bilder"),
    _noun("bottle bottles", "thing", "stand", "die Flasche Flasche Flaschen"),
    _noun("computer computers", "device", "goods fix", "der Computer Computers Computer 60", "der Rechner Rechners Rechner 40"),
    _noun("phone phones", "device", "goods small lie steal", "das Telefon Telefons Telefone formal", "das Handy Handys Handys casual"),
    _noun("ticket tickets", "thing", "small lie", "die Fahrkarte Fahrkarte Fahrkarten"),
    _noun("money -", "", "cash", "das Geld Geldes Gelder"),
    # Parts of a house.
    _noun("door doors", "part", "open shut paint", "die Tür Tür Türen"),
    _noun("window windows", "part", "open shut", "das Fenster Fensters Fenster"),
    _noun("table tables", "furniture", "goods surface", "der Tisch Tisches Tische"),
    _noun("chair chairs", "furniture", "goods surface", "der Stuhl Stuhles Stühle"),
    _noun("wall walls", "part", "paint", "die Wand Wand Wände"),
    # Places.
    _noun("garden gardens", "outside", "water", "der Garten Gartens Gärten", place="in/in/in acc"),
    _noun("city cities", "town", "visit", "die Stadt Stadt Städte", place="in/in/in acc/far"),
    _noun("house houses", "building", "goods build paint", "das Haus Hauses Häuser", place="in/in/in acc"),
    _noun("station stations", "building", "build", "der Bahnhof Bahnhofs Bahnhöfe", place="at/an/zu dat/far"),
    _noun("park parks", "outside", "", "der Park Parks Parks", place="in/in/in acc/far"),
    _noun("school schools", "building", "build", "die Schule Schule Schulen", place="at/in/in acc 55,zu dat 45/far"),
    _noun("kitchen kitchens", "room", "", "die Küche Küche Küchen", place="in/in/in acc"),
    _noun("village villages", "town", "visit", "das Dorf Dorfes Dörfer", place="in/in/in acc/far"),
    _noun("market markets", "outside", "", "der Markt Marktes Märkte", place="at/auf/auf acc 55,zu dat 45/far"),
    _noun("lake lakes", "outside", "", "der See Sees Seen", place="at/an/an acc 50,zu dat 50/far"),
    _noun("library libraries", "building", "build", "die Bibliothek Bibliothek Bibliotheken 60", "die Bücherei Bücherei Büchereien 40", place="in/in/in acc/far"),
    _noun("office offices", "room", "", "das Büro Büros Büros", place="in/in/in acc/far"),
    _noun("hotel hotels", "building", "build run", "das Hotel Hotels Hotels", place="in/in/in acc 60,zu dat 40/far"),
    _noun("hospital hospitals", "building", "build", "das Krankenhaus Krankenhauses Krankenhäuser 65", "die Klinik Klinik Kliniken 35", place="in/in/in acc/far"),
    _noun("shop shops", "building", "run", "das Geschäft Geschäftes Geschäfte 60", "der Laden Ladens Läden 40", place="in/in/in acc 60,zu dat 40/far"),
    _noun("beach beaches", "outside", "", "der Strand Strandes Strände", place="on/an/an acc 55,zu dat 45/far"),
    _noun("castle castles", "building", "visit", "das Schloss Schlosses Schlösser", place="in/in/zu dat/far"),
    _noun("room rooms", "room", "", "das Zimmer Zimmers Zimmer 65", "der Raum Raumes Räume 35", place="in/in/in acc"),
    _noun("bank banks", "building", "firm", "die Bank Bank Banken", place="at/bei/zu dat/far"),
    _noun("plant plants", "building", "firm", "die Fabrik Fabrik Fabriken 60", "das Werk Werkes Werke 40", place="at/in/zu dat/far"),
    # The other meanings of two words above: the verb decides.
    _noun("bank banks", "shore", "shore", "das Ufer Ufers Ufer", place="on/an/an acc 60,zu dat 40"),
    _noun("plant plants", "nature", "water", "die Pflanze Pflanze Pflanzen"),
    # Nature.
    _noun("flower flowers", "nature", "water give", "die Blume Blume Blumen"),
    # What happens.
    _noun("concert concerts", "event", "event", "das Konzert Konzertes Konzerte"),
    _noun("film films", "event", "show event", "der Film Filmes Filme"),
    _noun("match matches", "event", "show event", "das Spiel Spieles Spiele"),
    _noun("party parties", "event", "event", "das Fest Festes Feste 60", "die Feier Feier Feiern 40"),
    _noun("meeting meetings", "event", "event", "die Sitzung Sitzung Sitzungen 55", "die Besprechung Besprechung Besprechungen 45"),
    _noun("weekend weekends", "", "spend", "das Wochenende Wochenendes Wochenenden"),
    _noun("summer summers", "", "spend", "der Sommer Sommers Sommer"),
)  # fmt: skip


def _adjective(
    english: str, kinds: str, german: str, comparative: str = "", german_comparative: str = ""
) -> Adjective:
    """Read the German side as `word [weight] [style], …`."""
    options = []
    for entry in german.split(","):
        word, *rest = entry.split()
        weight, style = _weight_and_style(rest)
        options.append((weight, word, style))
    compared = []
    for entry in german_comparative.split(",") if german_comparative else ():
        word, *rest = entry.split()
        compared.append((_weight_and_style(rest)[0], word))
    return Adjective(
        english, frozenset(kinds.split()), tuple(options), comparative, tuple(compared)
    )


ADJECTIVES: tuple[Adjective, ...] = (
    _adjective("old", "person animal vehicle reading clothes luggage picture device furniture building town nature part", "alt", "older", "älter"),
    _adjective("young", "person animal", "jung", "younger", "jünger"),
    _adjective("new", "vehicle reading clothes luggage thing device furniture building part", "neu"),
    _adjective("small", "animal vehicle luggage thing picture furniture building town room outside nature part", "klein", "smaller", "kleiner"),
    _adjective("big", "animal vehicle luggage picture furniture building town room outside nature part", "groß", "bigger", "größer"),
    _adjective("beautiful", "vehicle clothes picture town outside building nature reading shore", "schön", "more beautiful", "schöner"),
    _adjective("red", "vehicle clothes luggage thing nature part", "rot"),
    _adjective("expensive", "vehicle clothes device furniture drink", "teuer", "more expensive", "teurer"),
    _adjective("tired", "person animal", "müde"),
    _adjective("clever", "person animal", "klug 60, schlau 40", "cleverer", "klüger 60, schlauer 40"),
    _adjective("friendly", "person animal", "freundlich 65, nett 35"),
    _adjective("cheap", "vehicle clothes device furniture drink", "billig 60, günstig 40", "cheaper", "billiger 60, günstiger 40"),
    _adjective("blue", "vehicle clothes luggage thing nature part", "blau"),
    _adjective("famous", "person picture building", "berühmt 60, bekannt 40"),
    _adjective("interesting", "reading event", "interessant 60, spannend 40", "more interesting", "interessanter 60, spannender 40"),
    _adjective("long", "reading event", "lang", "longer", "länger"),
    _adjective("short", "reading event", "kurz", "shorter", "kürzer"),
    _adjective("light", "luggage clothes", "leicht"),  # not heavy
    _adjective("light", "room", "hell"),  # not dark
    _adjective("good", "reading event food drink", "gut", "better", "besser"),
    _adjective("rich", "person", "reich", "richer", "reicher"),
    _adjective("sad", "person reading", "traurig"),
    _adjective("happy", "person", "glücklich 60, froh 40"),
    _adjective("angry", "person", "wütend formal, sauer casual"),
    _adjective("hungry", "person animal", "hungrig"),
    _adjective("ill", "person animal", "krank"),
    _adjective("important", "reading event", "wichtig", "more important", "wichtiger"),
    _adjective("quiet", "room town outside shore", "ruhig 60, still 40"),
    _adjective("fast", "vehicle", "schnell", "faster", "schneller"),
    _adjective("cold", "drink", "kalt"),
    _adjective("dirty", "clothes vehicle part room", "schmutzig 65, dreckig 35"),
)  # fmt: skip
