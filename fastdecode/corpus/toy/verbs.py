"""The verbs of the toy corpus, English with the right German."""
# ruff: noqa: E501  (tables: one entry a line)

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fastdecode.corpus.toy.german import SEIN, WERDEN, Case, GermanVerb
from fastdecode.corpus.toy.tree import Style

Complement = Literal["", "that", "whether", "to"]


@dataclass(frozen=True, slots=True)
class Verb:
    """One meaning of an English verb.

    `subject` and `objects` are the tags of the nouns it goes with, `particle` the preposition
    before its last object, or a word that belongs to it. `where` the kinds of place it
    needs (being there: at-…; going there: to-… and onto), `means` the way of travelling it needs,
    `complement` the clause it needs.
    """

    base: str
    third: str
    past: str
    participle: str
    gerund: str
    german: tuple[GermanVerb, ...]
    subject: str = "person"
    objects: tuple[str, ...] = ()
    particle: str = ""
    where: tuple[str, ...] = ()
    means: str = ""
    complement: Complement = ""
    stative: bool = False  # not something one is busy with: no progressive, no modal verb
    passive: bool = False

    @property
    def state(self) -> bool:
        """Say whether the verb is not done at any time: know, like."""
        return self.stative and any(german.plain for german in self.german)


def _english(forms: str) -> tuple[str, str, str, str, str]:
    """Read base, third person, past, participle and gerund; a base alone is regular."""
    base, *irregular = forms.split()
    if irregular:
        third, past, participle, gerund = irregular
        return base, third, past, participle, gerund
    stem = base[:-1] + "i" if base[-1] == "y" and base[-2] not in "aeou" else base
    third = stem + ("es" if stem.endswith(("s", "sh", "ch", "x", "i")) else "s")
    past = stem + ("d" if stem.endswith("e") else "ed")
    return base, third, past, past, base.removesuffix("e") + "ing"


def _governed(frame: str) -> tuple[str, Case]:
    """Read `[preposition] case`."""
    *preposition, case = frame.split()
    return "".join(preposition), "dat" if case == "dat" else "acc"


def g(
    forms: str,
    frame: str = "",
    weight: int = 100,
    style: str = "",
    *,
    reflexive: bool = False,
    plain: bool = False,
    order: str = "",
    present: str = "",
) -> GermanVerb:
    """Read `[prefix|]infinitive third past [ist] participle` and a frame `case, case`."""
    infinitive, third, past, *auxiliary, participle = forms.split()
    prefix, _, stem = infinitive.rpartition("|")
    return GermanVerb(
        stem,
        third,
        past,
        participle,
        prefix,
        "sein" if auxiliary else "haben",
        tuple(_governed(part) for part in frame.split(",") if part),
        weight,
        Style(style) if style else None,
        reflexive,
        plain,
        order,
        present,
    )


def v(
    forms: str,
    objects: str,
    *german: GermanVerb,
    subject: str = "person",
    particle: str = "",
    where: str = "",
    means: str = "",
    complement: Complement = "",
    stative: bool = False,
    passive: bool = False,
) -> Verb:
    """Read an English verb; `objects` are the tags of its objects in English order."""
    return Verb(
        *_english(forms),
        german,
        subject,
        tuple(objects.split()),
        particle,
        tuple(where.split()),
        means,
        complement,
        stative,
        passive,
    )


_WISSEN = g("wissen weiß wusste gewusst", plain=True, present="weiß weißt weiß wissen wissen")

# With objects. The order within a list is the order of frequency.
TRANSITIVE: tuple[Verb, ...] = (
    v("buy buys bought bought buying", "goods", g("kaufen kauft kaufte gekauft", "acc", order="kauf")),
    v("see sees saw seen seeing", "person", g("sehen sieht sah gesehen", "acc"), stative=True, passive=True),
    v("see sees saw seen seeing", "animal", g("sehen sieht sah gesehen", "acc"), stative=True, passive=True),
    v("read reads read read reading", "read", g("lesen liest las gelesen", "acc", order="lies")),
    v("visit", "kin", g("besuchen besucht besuchte besucht", "acc", order="besuch")),
    v("visit", "visit", g("besuchen besucht besuchte besucht", "acc", order="besuch"), passive=True),
    v("help", "person", g("helfen hilft half geholfen", "dat", order="hilf")),
    v("meet meets met met meeting", "person", g("treffen trifft traf getroffen", "acc"), stative=True),
    v("open", "open", g("öffnen öffnet öffnete geöffnet", "acc", style="formal", order="öffne"), g("auf|machen macht machte aufgemacht", "acc", style="casual", order="mach"), passive=True),
    v("sell sells sold sold selling", "goods", g("verkaufen verkauft verkaufte verkauft", "acc", order="verkauf"), passive=True),
    v("find finds found found finding", "small", g("finden findet fand gefunden", "acc"), stative=True, passive=True),
    v("lose loses lost lost losing", "small", g("verlieren verliert verlor verloren", "acc"), stative=True),
    v("wait", "person", g("warten wartet wartete gewartet", "auf acc", order="warte"), particle="for"),
    v("wait", "wait", g("warten wartet wartete gewartet", "auf acc", order="warte"), particle="for"),
    v("eat eats ate eaten eating", "food", g("essen isst aß gegessen", "acc", order="iss")),
    v("drink drinks drank drunk drinking", "drink", g("trinken trinkt trank getrunken", "acc", order="trink")),
    v("write writes wrote written writing", "write", g("schreiben schreibt schrieb geschrieben", "acc", order="schreib"), passive=True),
    v("look", "small", g("suchen sucht suchte gesucht", "acc", order="such"), particle="for"),
    v("like", "person", g("mögen mag mochte gemocht", "acc", 60, plain=True, present="mag magst mag mögen mögen"), g("gern|haben hat hatte gerngehabt", "acc", 40, plain=True, present="habe hast hat haben haben"), stative=True),
    v("know knows knew known knowing", "person", g("kennen kennt kannte gekannt", "acc", plain=True), stative=True),
    v("know knows knew known knowing", "visit", g("kennen kennt kannte gekannt", "acc", plain=True), stative=True),
    v("repair", "fix", g("reparieren repariert reparierte repariert", "acc", order="repariere"), passive=True),
    v("call", "person", g("an|rufen ruft rief angerufen", "acc", order="ruf")),
    v("close", "shut", g("schließen schließt schloss geschlossen", "acc", style="formal", order="schließ"), g("zu|machen macht machte zugemacht", "acc", style="casual", order="mach"), passive=True),
    v("paint", "picture", g("malen malt malte gemalt", "acc", order="mal"), passive=True),
    v("paint", "paint", g("streichen streicht strich gestrichen", "acc", order="streich"), passive=True),
    v("watch", "show", g("sehen sieht sah gesehen", "acc", 60), g("an|schauen schaut schaute angeschaut", "acc", 40)),
    v("watch", "animal", g("beobachten beobachtet beobachtete beobachtet", "acc", order="beobachte")),
    v("watch", "person", g("beobachten beobachtet beobachtete beobachtet", "acc", order="beobachte")),
    v("thank", "person", g("danken dankt dankte gedankt", "dat", 55, order="dank"), g("bedanken bedankt bedankte bedankt", "bei dat", 45, reflexive=True, order="bedank")),
    v("answer", "person", g("antworten antwortet antwortete geantwortet", "dat", order="antworte")),
    v("answer", "reply", g("beantworten beantwortet beantwortete beantwortet", "acc", order="beantworte"), passive=True),
    v("miss", "miss", g("verpassen verpasst verpasste verpasst", "acc"), stative=True),
    v("miss", "kin", g("vermissen vermisst vermisste vermisst", "acc"), stative=True),
    v("ride rides rode ridden riding", "cycle", g("fahren fährt fuhr ist gefahren", "mit dat"), where="to-far"),
    v("ride rides rode ridden riding", "mount", g("reiten reitet ritt ist geritten", "auf dat"), where="to-far"),
    v("spend spends spent spent spending", "cash", g("aus|geben gibt gab ausgegeben", "acc")),
    v("spend spends spent spent spending", "spend", g("verbringen verbringt verbrachte verbracht", "acc"), where="at-town at-named at-home"),
    v("run runs ran run running", "run", g("leiten leitet leitete geleitet", "acc", 55), g("führen führt führte geführt", "acc", 45)),
    v("steal steals stole stolen stealing", "steal", g("stehlen stiehlt stahl gestohlen", "acc", style="formal"), g("klauen klaut klaute geklaut", "acc", style="casual"), stative=True, passive=True),
    v("build builds built built building", "build", g("bauen baut baute gebaut", "acc"), passive=True),
    v("bake bakes baked baked baking", "bake", g("backen backt backte gebacken", "acc", order="back")),
    v("water", "water", g("gießen gießt goss gegossen", "acc", order="gieß")),
    v("listen", "person", g("zu|hören hört hörte zugehört", "dat", order="hör"), particle="to"),
    v("listen", "hear", g("hören hört hörte gehört", "acc", order="hör"), particle="to"),
    v("talk", "person", g("sprechen spricht sprach gesprochen", "mit dat", 55, order="sprich"), g("reden redet redete geredet", "mit dat", 45, order="rede"), particle="to"),
    v("think thinks thought thought thinking", "person", g("denken denkt dachte gedacht", "an acc", order="denk"), particle="of"),
    v("look", "animal", g("kümmern kümmert kümmerte gekümmert", "um acc", reflexive=True, order="kümmere"), particle="after"),
    v("look", "kin", g("kümmern kümmert kümmerte gekümmert", "um acc", reflexive=True, order="kümmere"), particle="after"),
    v("look", "picture", g("betrachten betrachtet betrachtete betrachtet", "acc", style="formal", order="betrachte"), g("an|gucken guckt guckte angeguckt", "acc", style="casual", order="guck"), particle="at"),
    v("forget forgets forgot forgotten forgetting", "small", g("vergessen vergisst vergaß vergessen", "acc"), stative=True),
    v("give gives gave given giving", "person give", g("geben gibt gab gegeben", "dat, acc", 60, order="gib"), g("schenken schenkt schenkte geschenkt", "dat, acc", 40, order="schenk")),
    v("show shows showed shown showing", "person picture", g("zeigen zeigt zeigte gezeigt", "dat, acc", order="zeig")),
    v("put puts put put putting", "lie", g("legen legt legte gelegt", "acc", order="leg"), where="to-surface"),
    v("put puts put put putting", "stand", g("stellen stellt stellte gestellt", "acc", order="stell"), where="to-surface"),
    v("leave leaves left left leaving", "visit", g("verlassen verlässt verließ verlassen", "acc"), stative=True),
    v("eat eats ate eaten eating", "fodder", g("fressen frisst fraß gefressen", "acc"), subject="animal"),
    v("look", "event", g("freuen freut freute gefreut", "auf acc", reflexive=True), particle="forward to"),
)  # fmt: skip

# Without an object; those with a place need it.
INTRANSITIVE: tuple[Verb, ...] = (
    v("work", "", g("arbeiten arbeitet arbeitete gearbeitet", order="arbeite")),
    v("sleep sleeps slept slept sleeping", "", g("schlafen schläft schlief geschlafen", order="schlaf")),
    v("live", "", g("wohnen wohnt wohnte gewohnt", weight=60), g("leben lebt lebte gelebt", weight=40), where="at-town at-named"),
    v("laugh", "", g("lachen lacht lachte gelacht", order="lach")),
    v("wait", "", g("warten wartet wartete gewartet", order="warte")),
    v("play", "", g("spielen spielt spielte gespielt", order="spiel"), where="at-place"),
    v("work", "", g("arbeiten arbeitet arbeitete gearbeitet", order="arbeite"), where="at-firm"),
    v("sit sits sat sat sitting", "", g("sitzen sitzt saß gesessen"), where="at-place at-shore"),
    v("stay", "", g("bleiben bleibt blieb ist geblieben", order="bleib"), where="at-place at-home at-named"),
    v("sing sings sang sung singing", "", g("singen singt sang gesungen", order="sing")),
    v("leave leaves left left leaving", "", g("gehen geht ging ist gegangen", weight=60), g("weg|gehen geht ging ist weggegangen", weight=40), stative=True),
    v("arrive", "", g("ein|treffen trifft traf ist eingetroffen", style="formal"), g("an|kommen kommt kam ist angekommen", style="casual"), where="at-place", stative=True),
    v("sleep sleeps slept slept sleeping", "", g("schlafen schläft schlief geschlafen"), subject="animal"),
    v("bark", "", g("bellen bellt bellte gebellt"), subject="bark"),
    v("leave leaves left left leaving", "", g("ab|fahren fährt fuhr ist abgefahren"), subject="miss", stative=True),
    v("begin begins began begun beginning", "", g("beginnen beginnt begann begonnen", weight=60), g("an|fangen fängt fing angefangen", weight=40), subject="event", stative=True),
)  # fmt: skip

# To a place; "go" depends on where to and how.
MOTION: tuple[Verb, ...] = (
    v("go goes went gone going", "", g("gehen geht ging ist gegangen", weight=55, order="geh"), g("fahren fährt fuhr ist gefahren", weight=45, order="fahr"), where="to-far to-home"),
    v("go goes went gone going", "", g("gehen geht ging ist gegangen", order="geh"), where="to-near"),
    v("go goes went gone going", "", g("fahren fährt fuhr ist gefahren", order="fahr"), where="to-far to-named to-home", means="wheels"),
    v("come comes came come coming", "", g("kommen kommt kam ist gekommen", order="komm"), where="to-near to-far to-named to-home"),
    v("walk", "", g("gehen geht ging ist gegangen", weight=60, order="geh"), g("laufen läuft lief ist gelaufen", weight=40, order="lauf"), where="to-near to-far to-home"),
    v("go goes went gone going", "", g("fahren fährt fuhr ist gefahren", weight=60, order="fahr"), g("reisen reist reiste ist gereist", weight=40, order="reise"), where="to-named"),
    v("drive drives drove driven driving", "", g("fahren fährt fuhr ist gefahren", order="fahr"), where="to-far to-named to-home"),
    v("run runs ran run running", "", g("rennen rennt rannte ist gerannt", weight=55, order="renn"), g("laufen läuft lief ist gelaufen", weight=45, order="lauf"), where="to-near to-far to-home"),
    v("return", "", g("zurück|kehren kehrt kehrte ist zurückgekehrt", style="formal", order="kehr"), g("zurück|kommen kommt kam ist zurückgekommen", style="casual", order="komm"), where="to-near to-far to-named to-home", stative=True),
    v("go goes went gone going", "", g("gehen geht ging ist gegangen", order="geh"), where="to-far to-home", means="foot"),
    v("go goes went gone going", "", g("fliegen fliegt flog ist geflogen", order="flieg"), where="to-named", means="plane"),
    v("swim swims swam swum swimming", "", g("schwimmen schwimmt schwamm ist geschwommen", order="schwimm"), where="to-shore"),
)  # fmt: skip

# With a clause after them.
CLAUSAL: tuple[Verb, ...] = (
    v("say says said said saying", "", g("sagen sagt sagte gesagt"), complement="that", stative=True),
    v("know knows knew known knowing", "", _WISSEN, complement="that", stative=True),
    v("think thinks thought thought thinking", "", g("denken denkt dachte gedacht", weight=45), g("glauben glaubt glaubte geglaubt", weight=55), complement="that", stative=True),
    v("try tries tried tried trying", "", g("versuchen versucht versuchte versucht"), complement="to", stative=True),
    v("begin begins began begun beginning", "", g("beginnen beginnt begann begonnen", weight=55), g("an|fangen fängt fing angefangen", weight=45), complement="to", stative=True),
    v("ask", "person", g("fragen fragt fragte gefragt", "acc"), complement="whether", stative=True),
    v("ask", "person", g("bitten bittet bat gebeten", "acc"), complement="to", stative=True),
    v("hear hears heard heard hearing", "", g("hören hört hörte gehört"), complement="that", stative=True),
    v("tell tells told told telling", "person", g("sagen sagt sagte gesagt", "dat", 55), g("erzählen erzählt erzählte erzählt", "dat", 45), complement="that", stative=True),
    v("hope hopes hoped hoped hoping", "", g("hoffen hofft hoffte gehofft"), complement="that", stative=True),
    v("forget forgets forgot forgotten forgetting", "", g("vergessen vergisst vergaß vergessen", order="vergiss"), complement="to", stative=True),
    v("wonder", "", g("fragen fragt fragte gefragt", reflexive=True), complement="whether", stative=True),
    v("decide", "", g("beschließen beschließt beschloss beschlossen", style="formal"), g("entscheiden entscheidet entschied entschieden", reflexive=True, style="casual"), complement="to", stative=True),
    v("hope hopes hoped hoped hoping", "", g("hoffen hofft hoffte gehofft"), complement="to", stative=True),
)  # fmt: skip

WEATHER: tuple[Verb, ...] = (
    v("rain", "", g("regnen regnet regnete geregnet")),
    v("snow", "", g("schneien schneit schneite geschneit")),
)

# There is … on …
PRESENCE: tuple[Verb, ...] = (
    v("be is was been being", "lie", g("liegen liegt lag gelegen", plain=True), where="at-surface"),
    v(
        "be is was been being",
        "stand",
        g("stehen steht stand gestanden", plain=True),
        where="at-surface",
    ),
)

BE = Verb("be", "is", "was", "been", "being", (SEIN,), stative=True)
BECOME = Verb("become", "becomes", "became", "become", "becoming", (WERDEN,), stative=True)
