"""Dates in texts: what is read as a date, in which language, and which days it means."""

from __future__ import annotations

from datetime import date

import pytest

from cm_tui.engine.search.ranking.dates import read

ON = date(2026, 11, 28)
"""A Saturday."""

PHRASES = {
    "what failed in q3": "2026-07-01..2026-09-30",
    "KW 45": "2026-11-02..2026-11-08", "calendar week 1 2026": "2025-12-29..2026-01-04", "4.37.7 - 13 Aug 2026": "2026-08-13",
    "what changed the day before yesterday?": "2026-11-26", "what did we do on the 3rd of May?": "2026-05-03", "the bug from 12 Nov": "2026-11-12",
    "what happened last Friday": "2026-11-27", "on Tuesday": "2026-11-24", "earlier this week": "2026-11-23..2026-11-29",
    "in the past two weeks": "2026-11-14..2026-11-28", "over the last few days": "2026-11-25..2026-11-28", "a couple of weeks ago": "2026-11-14",
    "a month ago": "2026-10-29", "half a year ago": "2026-05-29", "last year": "2025-01-01..2025-12-31", "in early 2024": "2024-01-01..2024-05-02",
    "mid-November": "2026-11-11..2026-11-21", "in Q3": "2026-07-01..2026-09-30", "in the third quarter of 2025": "2025-07-01..2025-09-30",
    "Q1 2026": "2026-01-01..2026-03-31", "2026-Q2": "2026-04-01..2026-06-30", "last quarter": "2026-07-01..2026-09-30",
    "since Monday": "2026-11-23..2026-11-28", "last weekend": "2026-11-21..2026-11-22", "in May": "2026-05-01..2026-05-31",
    "in may": "2026-05-01..2026-05-31", "what did we decide last may": "2026-05-01..2026-05-31", "from May 3 to May 7": "2026-05-03..2026-05-07",
    "May 3-7": "2026-05-03..2026-05-07", "between 3 and 7 May": "2026-05-03..2026-05-07", "in the spring of 2025": "2025-03-01..2025-05-31",
    "this morning": "2026-11-28", "on 2026/11/05": "2026-11-05", "Nov. 5th, 2026": "2026-11-05", "5 days ago": "2026-11-23",
    "an hour ago": "2026-11-28", "2 hours ago": "2026-11-28", "last night": "2026-11-27", "Monday morning": "2026-11-23",
    "the week of November 9": "2026-11-09..2026-11-15", "next week's planning": "2026-11-30..2026-12-06", "yesterday's build": "2026-11-27",
    "current year": "2026-01-01..2026-12-31", "letzte Woche": "2026-11-16..2026-11-22", "vorige Woche Mittwoch": "2026-11-18",
    "am Montag": "2026-11-23", "Anfang Mai": "2026-05-01..2026-05-11", "seit gestern": "2026-11-27..2026-11-28",
    "vor einem halben Jahr": "2026-05-29", "vor drei Tagen": "2026-11-25", "vor ein paar Tagen": "2026-11-25",
    "im letzten Sommer": "2026-06-01..2026-08-31", "im Frühjahr 2025": "2025-03-01..2025-05-31",
    "in den letzten drei Wochen": "2026-11-07..2026-11-28", "am 3. Mai 2025": "2025-05-03", "heute früh": "2026-11-28",
    "zwischen dem 3. und 7. Mai": "2026-05-03..2026-05-07", "letztes Jahr": "2025-01-01..2025-12-31", "dieses Jahr": "2026-01-01..2026-12-31",
    "im dritten Quartal": "2026-07-01..2026-09-30", "la semaine dernière": "2026-11-16..2026-11-22", "le mois dernier": "2026-10-01..2026-10-31",
    "lundi dernier": "2026-11-23", "début mars": "2026-03-01..2026-03-11", "il y a trois jours": "2026-11-25", "il y a un mois": "2026-10-29",
    "avant-hier": "2026-11-26", "en été 2025": "2025-06-01..2025-08-31", "depuis lundi": "2026-11-23..2026-11-28",
    "entre mars et mai 2025": "2025-03-01..2025-05-31", "ces deux dernières semaines": "2026-11-14..2026-11-28",
    "au printemps": "2026-03-01..2026-05-31", "l'année dernière": "2025-01-01..2025-12-31", "le 1er mai": "2026-05-01", "hier soir": "2026-11-27",
    "ce matin": "2026-11-28", "el mes pasado": "2026-10-01..2026-10-31", "el lunes pasado": "2026-11-23", "hace tres días": "2026-11-25",
    "hace un mes": "2026-10-29", "anteayer": "2026-11-26", "a principios de mayo": "2026-05-01..2026-05-11",
    "el verano pasado": "2026-06-01..2026-08-31", "desde ayer": "2026-11-27..2026-11-28", "en los últimos tres meses": "2026-08-29..2026-11-28",
    "entre marzo y mayo": "2026-03-01..2026-05-31", "el año pasado": "2025-01-01..2025-12-31", "esta semana": "2026-11-23..2026-11-29",
    "el 3 de mayo": "2026-05-03", "na semana passada": "2026-11-16..2026-11-22", "há três dias": "2026-11-25",
    "no mês passado": "2026-10-01..2026-10-31", "anteontem": "2026-11-26", "em março de 2025": "2025-03-01..2025-03-31",
    "no verão passado": "2026-06-01..2026-08-31", "segunda-feira passada": "2026-11-23", "na terça-feira": "2026-11-24",
    "desde ontem": "2026-11-27..2026-11-28", "nos últimos dois meses": "2026-09-28..2026-11-28", "la settimana scorsa": "2026-11-16..2026-11-22",
    "il mese scorso": "2026-10-01..2026-10-31", "tre giorni fa": "2026-11-25", "lunedì scorso": "2026-11-23", "l'altro ieri": "2026-11-26",
    "a maggio": "2026-05-01..2026-05-31", "l'estate scorsa": "2026-06-01..2026-08-31", "negli ultimi tre mesi": "2026-08-29..2026-11-28",
    "il 3 maggio 2025": "2025-05-03", "vorige week": "2026-11-16..2026-11-22", "afgelopen maandag": "2026-11-23", "drie dagen geleden": "2026-11-25",
    "eergisteren": "2026-11-26", "begin mei": "2026-05-01..2026-05-11", "vorig jaar": "2025-01-01..2025-12-31",
    "sinds maandag": "2026-11-23..2026-11-28", "in de zomer van 2025": "2025-06-01..2025-08-31", "in maart": "2026-03-01..2026-03-31",
    "de afgelopen twee weken": "2026-11-14..2026-11-28", "op 3 mei": "2026-05-03", "на прошлой неделе": "2026-11-16..2026-11-22",
    "в прошлом месяце": "2026-10-01..2026-10-31", "три дня назад": "2026-11-25", "в понедельник": "2026-11-23",
    "в начале мая": "2026-05-01..2026-05-11", "с вчерашнего дня": "2026-11-27..2026-11-28", "за последние две недели": "2026-11-14..2026-11-28",
    "прошлым летом": "2026-06-01..2026-08-31", "3 мая 2025 года": "2025-05-03", "в марте": "2026-03-01..2026-03-31", "месяц назад": "2026-10-29",
    "в прошлом году": "2025-01-01..2025-12-31", "w zeszłym tygodniu": "2026-11-16..2026-11-22", "trzy dni temu": "2026-11-25",
    "w poniedziałek": "2026-11-23", "w maju": "2026-05-01..2026-05-31", "na początku maja": "2026-05-01..2026-05-11",
    "w zeszłym roku": "2025-01-01..2025-12-31", "3 maja 2025": "2025-05-03", "miesiąc temu": "2026-10-29", "zeszłego lata": "2026-06-01..2026-08-31",
    "od wczoraj": "2026-11-27..2026-11-28", "w ciągu ostatnich dwóch tygodni": "2026-11-14..2026-11-28", "geçen ay": "2026-10-01..2026-10-31",
    "üç gün önce": "2026-11-25", "pazartesi günü": "2026-11-23", "mayıs ayında": "2026-05-01..2026-05-31", "geçen yaz": "2026-06-01..2026-08-31",
    "3 Mayıs 2025": "2025-05-03", "dün": "2026-11-27", "geçen yıl": "2025-01-01..2025-12-31", "son iki haftada": "2026-11-14..2026-11-28",
    "上周": "2026-11-16..2026-11-22", "上个月": "2026-10-01..2026-10-31", "三天前": "2026-11-25", "星期一": "2026-11-23", "周一": "2026-11-23",
    "上周三": "2026-11-18", "五月三日": "2026-05-03", "去年": "2025-01-01..2025-12-31", "今年夏天": "2026-06-01..2026-08-31", "最近两周": "2026-11-14..2026-11-28",
    "5月初": "2026-05-01..2026-05-11", "一个月前": "2026-10-29", "先週": "2026-11-16..2026-11-22", "先月": "2026-10-01..2026-10-31", "三日前": "2026-11-25",
    "月曜日": "2026-11-23", "昨日": "2026-11-27", "去年の夏": "2025-06-01..2025-08-31", "5月3日": "2026-05-03", "昨年": "2025-01-01..2025-12-31",
    "1か月前": "2026-10-29", "지난주": "2026-11-16..2026-11-22", "지난달": "2026-10-01..2026-10-31", "3일 전": "2026-11-25", "월요일": "2026-11-23",
    "작년": "2025-01-01..2025-12-31", "5월 3일": "2026-05-03", "지난 여름": "2026-06-01..2026-08-31", "한 달 전": "2026-10-29", "그저께": "2026-11-26",
    "what did the agent do on Nov 20?": "2026-11-20", "show me work from last Thursday": "2026-11-26",
    "three weeks ago we broke login": "2026-11-07", "between June and August": "2026-06-01..2026-08-31",
    "in the first quarter": "2026-01-01..2026-03-31", "since last Tuesday": "2026-11-24..2026-11-28", "late October": "2026-10-21..2026-11-01",
    "during the last month": "2026-10-01..2026-10-31", "on 2026-10-01": "2026-10-01", "this week's failures": "2026-11-23..2026-11-29",
    "six months ago": "2026-05-30", "what did we do two days ago": "2026-11-26", "from Monday to Wednesday": "2026-11-23..2026-11-25",
    "in autumn 2025": "2025-09-01..2025-11-30", "early this month": "2026-11-01..2026-11-11", "July 4, 2026": "2026-07-04",
    "4 July 2026": "2026-07-04", "half an hour ago": "2026-11-28", "ten minutes ago": "2026-11-28", "gestern Abend": "2026-11-27",
    "vorgestern": "2026-11-26", "letzten Herbst": "2025-09-01..2025-11-30", "Mitte Oktober": "2026-10-11..2026-10-21",
    "seit dem 1. November": "2026-11-01..2026-11-28", "vor zwei Stunden": "2026-11-28", "diese Woche": "2026-11-23..2026-11-29",
    "im letzten Quartal": "2026-07-01..2026-09-30", "vom 3. bis 7. November": "2026-11-03..2026-11-07", "vor einem Jahr": "2025-11-28",
    "la semaine passée": "2026-11-16..2026-11-22", "mardi": "2026-11-24", "il y a une heure": "2026-11-28", "fin octobre": "2026-10-21..2026-11-01",
    "le 14 juillet 2026": "2026-07-14", "cette semaine": "2026-11-23..2026-11-29", "du 3 au 7 novembre": "2026-11-03..2026-11-07",
    "au deuxième trimestre": "2026-04-01..2026-06-30", "hace dos horas": "2026-11-28", "el viernes pasado": "2026-11-27",
    "en otoño de 2025": "2025-09-01..2025-11-30", "las últimas dos semanas": "2026-11-14..2026-11-28", "ayer por la tarde": "2026-11-27",
    "a finales de octubre": "2026-10-21..2026-11-01", "del 3 al 7 de noviembre": "2026-11-03..2026-11-07", "há uma hora": "2026-11-28",
    "sexta-feira passada": "2026-11-27", "no final de outubro": "2026-10-21..2026-11-01", "nas últimas duas semanas": "2026-11-14..2026-11-28",
    "no ano passado": "2025-01-01..2025-12-31", "due ore fa": "2026-11-28", "venerdì scorso": "2026-11-27",
    "alla fine di ottobre": "2026-10-21..2026-11-01", "dal 3 al 7 novembre": "2026-11-03..2026-11-07", "l'anno scorso": "2025-01-01..2025-12-31",
    "nell'autunno 2025": "2025-09-01..2025-11-30", "twee uur geleden": "2026-11-28", "vorige vrijdag": "2026-11-27",
    "eind oktober": "2026-10-21..2026-11-01", "afgelopen zomer": "2026-06-01..2026-08-31", "van 3 tot 7 november": "2026-11-03..2026-11-07",
    "gisteravond": "2026-11-27", "два часа назад": "2026-11-28", "в прошлую пятницу": "2026-11-27", "в конце октября": "2026-10-21..2026-11-01",
    "год назад": "2025-11-28", "с понедельника": "2026-11-23..2026-11-28", "осенью 2025": "2025-09-01..2025-11-30",
    "dwie godziny temu": "2026-11-28", "w zeszły piątek": "2026-11-27", "pod koniec października": "2026-10-21..2026-11-01",
    "rok temu": "2025-11-28", "jesienią 2025": "2025-09-01..2025-11-30", "przedwczoraj": "2026-11-26", "iki saat önce": "2026-11-28",
    "geçen cuma": "2026-11-27", "ekim sonunda": "2026-10-21..2026-11-01", "bir ay önce": "2026-10-29", "bu hafta": "2026-11-23..2026-11-29",
    "两小时前": "2026-11-28", "上周五": "2026-11-20", "十月底": "2026-10-21..2026-11-01", "本周": "2026-11-23..2026-11-29", "昨晚": "2026-11-27",
    "2時間前": "2026-11-28", "先週の金曜日": "2026-11-20", "10月末": "2026-10-21..2026-11-01", "今週": "2026-11-23..2026-11-29", "一昨日": "2026-11-26",
    "2시간 전": "2026-11-28", "지난주 금요일": "2026-11-20", "이번 주": "2026-11-23..2026-11-29", "10월 말": "2026-10-21..2026-11-01", "어제": "2026-11-27",
}  # fmt: skip
"""The likeliest days of each, in all languages."""
NO_DATES = (
    "plot q1 and q3",
    "why do we wait 5 minutes after each restart", "MAY", "an upcoming release", "a last-minute change", "certifi 2026.6.17",
    "4.37.7 fixes it",
    "we may need to change this", "may I merge it?", "May I merge it?", "May we use the cache here?", "march through the list", "on the march",
    "in 2019.1 the parser broke", "python 3.12 and django 4.2", "ubuntu 22.04", "Visual Studio 2022", "error 2003 (HY000)", "status 2001",
    "limit 2000 rows", "in 2000 iterations", "after 2048 bytes", "set timeout to 1999 ms", "CVE-2023-1234", "RFC 2026", "ISO 2022", "ES2020 modules",
    "es 2020", "spring boot", "the spring animation", "second last element", "the last one", "the last day of the sprint", "int i, j in sun.misc",
    "sat solver", "SAT solver in mon module", "mar file", "the jan user", "sep=','", "use the fall through case", "in fall back mode",
    "on fall back", "3 months free trial", "keep logs for 30 days", "within 5 days", "1/2/3", "10.1.2024.5", "from 1.2.2020.1 on", "in march order",
    "version 2024.1", "upgrade to 2024", "in v2024", "monday.com API", "last_month variable", "next page", "past tense", "mach das vor dem Commit",
    "die letzte Zeile", "am Ende der Datei", "le fichier a été modifié", "mais pourquoi", "le code est en or", "la última línea", "de laatste regel",
    "the end of the year", "you may merge this now", "March through every node", "in may_merge()", "mar = 3", "the import of sun.misc",
    "Spring Boot 3.2", "fall through to the default", "falls back", "HTTP 2000 error", "node 20.11", "Office 2019", "port 2024",
    "line 2025 of parser.py", "the 2025 tests", "in 2024.3.1", "last commit", "next release", "this function", "in two steps",
    "retry after 5 minutes", "every day", "one day we should fix that", "the second argument", "first part of the file", "Wenn wir das so machen",
    "die letzte Änderung", "au moins un test", "dernier commit", "el último commit", "la dernière version", "środek ekranu", "среда разработки",
    "Zimmer", "son test", "son fichier de test", "test yaz", "中间件", "时间戳", "前端代码", "次の手順", "日志文件", "月份字段",
)  # fmt: skip


def days(text: str, on: date = ON) -> list[str]:
    """The likeliest days of each date in a text, as `first..last`."""
    found = []
    for mention in read(text):
        span = mention.days(on)[0]
        first, last = (date.fromordinal(day).isoformat() for day in (span.first, span.last))
        found.append(first if first == last else f"{first}..{last}")
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what did we do on May 3, 2023?", "2023-05-03"),
        ("the crash of 8 May, 2023", "2023-05-08"),
        ("since 2023-05-08T10:00", "2023-05-08..2026-11-28"),
        ("am 8.5.2023", "2023-05-08"),
        ("le 8 mai 2023", "2023-05-08"),
        ("el 8 de mayo de 2023", "2023-05-08"),
        ("em 8 de março de 2023", "2023-03-08"),
        ("2023年5月8日の変更", "2023-05-08"),
        ("2023년 5월 8일", "2023-05-08"),
        ("8 мая 2023", "2023-05-08"),
        ("in March", "2026-03-01..2026-03-31"),
        ("im Dezember", "2025-12-01..2025-12-31"),
        ("w grudniu", "2025-12-01..2025-12-31"),
        ("at the beginning of November 2022", "2022-11-01..2022-11-11"),
        ("a finales de septiembre de 2025", "2025-09-21..2025-10-01"),
        ("between March and May 2023", "2023-03-01..2023-05-31"),
        ("von März bis Mai", "2026-03-01..2026-05-31"),
        ("May - July 2023", "2023-05-01..2023-07-31"),
        ("last spring", "2026-03-01..2026-05-31"),
        ("l'été dernier", "2026-06-01..2026-08-31"),
        ("summer 2021", "2021-06-01..2021-08-31"),
        ("去年夏天", "2025-06-01..2025-08-31"),
        ("yesterday", "2026-11-27"),
        ("позавчера", "2026-11-26"),
        ("letzten Dienstag", "2026-11-24"),
        ("the Sunday before October 25, 2022", "2022-10-23"),
        ("the week before August 3, 2023", "2023-07-27..2023-08-02"),
        ("two weeks after May 3, 2023", "2023-05-17"),
        ("two weeks ago", "2026-11-14"),
        ("vor zwei Wochen", "2026-11-14"),
        ("il y a deux semaines", "2026-11-14"),
        ("hace dos semanas", "2026-11-14"),
        ("há duas semanas", "2026-11-14"),
        ("due settimane fa", "2026-11-14"),
        ("twee weken geleden", "2026-11-14"),
        ("две недели назад", "2026-11-14"),
        ("dwa tygodnie temu", "2026-11-14"),
        ("iki hafta önce", "2026-11-14"),
        ("2週間前", "2026-11-14"),
        ("2주 전", "2026-11-14"),
        ("3天前", "2026-11-25"),
        ("la semana pasada", "2026-11-16..2026-11-22"),
        ("na przeszłość w zeszłym tygodniu", "2026-11-16..2026-11-22"),
        ("geçen hafta", "2026-11-16..2026-11-22"),
        ("next month", "2026-12-01..2026-12-31"),
        ("next December", "2026-12-01..2026-12-31"),
        ("in the last three months", "2026-08-29..2026-11-28"),
        ("in 2023", "2023-01-01..2023-12-31"),
    ],
)
def test_a_date_is_read_in_any_language(text: str, expected: str):
    assert days(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "this may help", "we may march on", "the spring boot starter", "port 2023 is taken", "fix #2024", "version 1.2.3",
        "it takes two weeks", "a day counter", "src/2023/main.py", "32/13/2023", "2023-02-31", "fall back to the default", "",
    ],
)  # fmt: skip
def test_other_words_and_numbers_are_no_dates(text: str):
    assert days(text) == []


def test_phrases_in_all_languages():
    assert {text: found for text, day in PHRASES.items() if (found := days(text)) != [day]} == {}


def test_verbs_versions_counts_and_code_are_no_dates():
    assert {text: found for text in NO_DATES if (found := days(text))} == {}


def test_what_happened_at_a_date_is_named():
    [mention] = read("What did we change two weeks before the release, and why?")
    assert mention.event == "the release"
    assert [one.first for one in mention.days(date(2026, 5, 15))] == [date(2026, 5, 1).toordinal()]
    [turkish] = read("sürümden iki hafta önce")
    assert turkish.event == "sürüm"


def test_a_month_without_a_year_is_that_of_every_year():
    [mention] = read("in June")
    assert [date.fromordinal(one.first).year for one in mention.days(date(2023, 5, 1))][:2] == [2022, 2021]
    assert date.fromordinal(mention.days(date(2023, 5, 1))[-1].first).year == 2024


def test_a_long_text_is_read_quickly_and_no_further_than_its_beginning():
    assert len(read("yesterday " * 10_000)) < 1_000


@pytest.mark.parametrize(
    "text", ["1 day before " * 500, "monday before " * 500, "9" * 5_000 + "天前", "400 years before 1950-01-01"]
)
def test_hostile_texts_end_nothing(text: str):
    for mention in read(text):
        assert len(mention.days(ON)) < 50
