"""The order in which candidates are written: health and safety first, then relations, then the rest."""

from __future__ import annotations

import re

_HEALTH = re.compile(
    r"\b(?:allerg\w*|anaphyla\w*|epi-?pens?|intoleran\w*|coeliac|celiac|asthma\w*|diabet\w*|insulin|epilep\w*|seizures?"
    r"|medic\w*|pills?|tablets?|inhalers?|prescri\w*|\d+ ?(?:mg|ml)|blood|heart|strokes?|cancer|tumou?rs?|chemo\w*|hiv"
    r"|dement\w*|alzheimer\w*|parkinson\w*|depress\w*|anxiety|bipolar|suicid\w*|schizo\w*|autis\w*|adhd|disab\w*"
    r"|wheelchair|blind|deaf|pregnan\w*|miscarr\w*|surger\w*|operat(?:ed|ion)|transplant\w*|pacemaker|kidneys?|liver"
    r"|lungs?|illness|disease|disorder|condition|diagnos\w*|syndrome|infection|vaccin\w*|sober|alcoholic|addict\w*"
    r"|poison\w*|faints?|fainted|emergency|afraid of|phobia|must not eat|(?:can ?not|can't) eat)\b",
    re.IGNORECASE,
)
# By the stems of the international nonproprietary names, where something is taken.
_MEDICINE = re.compile(
    r"\b(?:takes?|taking|took|on|us(?:es|ing)|injects?|prescribed|stopped) (?:\w+ ){0,3}?(?:lithium|aspirin"
    r"|[a-z]{2,}(?:farin|xaban|gatran|grel|formin|gl(?:iptin|iflozin|utide|itazone)|pril|artan|statin|olol|dipine"
    r"|zosin|thiazide|semide|prazole|tidine|cillin|cycline|mycin|oxacin|azole|vir|vudine|mab|tinib|azepam|zolam"
    r"|zepine|oxetine|opram|raline|triptyline|azine|apine|peridone|gabalin|pentin|triptan|profen|fenac|coxib|codone"
    r"|morphine|tadol|terol|asone|olone|lukast|thyroxine|trexate|cetamol|tropin))\b",
    re.IGNORECASE,
)
_RELATIONS = re.compile(
    r"\b(?:child(?:ren)?|sons?|daughters?|bab(?:y|ies)|twins?|husband|wife|wives|spouse|partner|fianc[eé]e?|girlfriend"
    r"|boyfriend|married|marri(?:es|age)|wedding|engaged|divorc\w*|separated|widow\w*|born|birth\w*|died|dies|dead"
    r"|death|passed away|buried|funeral|mother|father|parents?|sisters?|brothers?|grand\w+|aunts?|uncles?|cousins?"
    r"|adopted|step\w+|in-laws?)\b",
    re.IGNORECASE,
)


def urgency(content: str, importance: int = 2) -> int:
    """Return the rank of a candidate: the lower, the sooner it is written."""
    group = 0 if _HEALTH.search(content) or _MEDICINE.search(content) else 1 if _RELATIONS.search(content) else 2
    return group * 10 + 5 - importance
