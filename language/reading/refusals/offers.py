"""The assistant's questions whether something may be kept, and those where a no allows it.

The latter ask whether the person minds, whether to forget something, or whether it is too private.
"""

from __future__ import annotations

import re

from .wording import any_case, begins_with_yes, is_clear_no, opens_with_no, says_no

_KEEPS = (
    r"\b(?:remember|note|noted|save|saved|keep|store|record|write(?! to\b)|hold on to|add|put|memori[sz]e|log"
    r"|bear in mind|go into|include|part of|remembered|stored|kept|recorded|written|added)\b"
)
_KEEPING_VERB = any_case(_KEEPS)
ASKING = any_case(
    r"\b(?:i'?ll|i will|i can|i could|i'?ve|i have|shall i|should i|may i|can i|could i|let me|me to|if i"
    r"|i'?d (?:like|love) to|i'?d (?=(?:keep|remember|note|save) (?:it|that|this)\b)"
    rf"|going to|want (?:that|this|it)|should (?:that|this|it)|(?:that|this|it) be)\b[^.?!]{{0,60}}{_KEEPS}"
    r"|\b(?:shall|should|do you want me to|may) i?\b[^.?!]{0,60}\b(?:from (?:now|here) on|always|in future"
    r"|in the future|by default|next time|every time)\b|\b(?:always|from now on)\?|\bwill you always \w[^.!?\n]*\?"
    r"|\b(?:made|taken|make) (?:a )?note\b"
    rf"|\b(?:for|in|on) (?:my|your|his|her|their|the) (?:page|story|legacy|memorial|records?|profile|notes?)\b[^.!?]*\?"
    rf"|\bwant (?:that|this|it) (?:in|on|among)\b|\bwant me\b[^.?!]{{0,20}}{_KEEPS}|\b(?:noted|got it|saved"
    rf"|i remember that now)\b"
    r"|\b(?:mind|object|objections?)\b[^.?!]{0,40}\b(?:keep|remember|not[ei]|sav[ei]|stor[ei]|record|writ[ei])\w*"
)
_KEEP_IT = (
    r"(?:remember|keep (?:that|this|it)|(?:note|save|store|add|record|write down) (?:that|this|it)|note .{0,40}\bdown\b"
    r"|hold on to|keep .{0,40}\bin mind|make a note)"
)
_ASKS_TO_KEEP = any_case(
    rf"(?:\b(?:shall|should|may|can|could) (?:i|we)\b|\bme to\b|\b(?:want|like) me\b|\bif i\b|\bokay to\b)"
    rf"[^.?!\n]{{0,80}}\b{_KEEP_IT}\b[^.!?\n]*\?|\b(?:remember|note|keep|save) (?:that|this|it)\?"
    r"|(?:^|[.!?]\s)(?:remember|note|keep|save|store) (?:that|this|it|them)\b[^.!?\n]{0,40}\?"
    r"|\b(?:want|like) (?:that|this|it) (?:in|on) (?:my|your|his|her|their|the) (?:page|story|legacy|memorial|records?"
    r"|profile|notes?|book|album)\b[^.!?\n]*\?"
    r"|\b(?:soll|darf|kann|dass) ich\b[^.?!\n]{0,80}\b(?:merken?|notieren?|behalten?)\b[^.!?\n]*\?"
    r"|\b(?:dois-je|puis-je|que je)\b[^.?!\n]{0,80}\b(?:reten|retien|souvi?en|mémoris|note)\w*[^.!?\n]*\?"
    r"|\bje (?:l[ea]s?|l'|m'en|te l[ea]) ?(?:reten|retien|souvi?en|mémoris|note|garde)\w*[^.!?\n]*\?"
    r"|\b(?:quieres? que|debo|puedo)\b[^.?!\n]{0,80}\b(?:recuerde|recordar|anote|anotar|guarde)\w*[^.!?\n]*\?"
    r"|\b(?:ska|skal|får|kan) (?:jag|jeg)\b[^.?!\n]{0,80}\b(?:spara|gemme|husk|komma ihåg|lagr|minnas|noter)\w*"
    r"[^.!?\n]*\?"
    r"|\b(?:zal|mag|kan|dat) ik\b[^.?!\n]{0,80}\b(?:onthou|bewa|note)\w*[^.!?\n]*\?"
    r"|\b(?:devo|posso|vuoi che|queres? que|quer que)\b[^.?!\n]{0,80}\b(?:ricord|annot|lembr|anot|guard)\w*[^.!?\n]*\?"
)
_OBJECTION = any_case(
    r"\b(?:do|would) you (?:mind|object)\b|\bany objections?\b|\b(?:is|would) (?:it|that)(?: be)? (?:a problem|wrong)\b"
    r"|\b(?:does|would) (?:it|that) (?:bother|trouble|disturb) you\b"
    r"|\bstört (?:es|das) (?:dich|sie|euch)\b|\b(?:hast du|haben sie|habt ihr) (?:et)?was dagegen\b"
    r"|\bmacht (?:es|das) (?:dir|ihnen|euch) (?:et)?was aus\b"
    r"|\b(?:cela|ça) (?:vous|te|t') ?(?:dérange|gêne|ennuie)\w*|\b(?:te|le|os|les) (?:molesta|importa) (?:si|que)\b"
    r"|\b(?:ti|le|vi) (?:dispiace|disturba|secca) se\b|\bvind(?:t)? (?:je|u|jij) het erg\b|\bbezwaar\b"
    r"|\b(?:você|voce) se importa\b|\bimporta(?:s)?-(?:te|se)\b"
)
_FORGETTING = any_case(
    r"\b(?:rather|shall|should|want me to|like me to|prefer (?:that|if)) (?:i )?(?:forg[eo]t|delete|erase|remove|drop"
    r"|skip|omit|(?:leave|left) (?:it|that|this|them) out|didn't (?:keep|remember)"
    r"|not (?:keep|remember|note|save|store))\b"
    r"|\bsoll ich (?:das|es|sie|ihn)(?: \w+)? (?:vergessen|löschen|weglassen)\b"
)
_IF_SECRET = any_case(
    r"(?:^|[.!?,]\s*)(?:(?:or|and) )?(?:(?:is|was|would) (?:that|it|this)(?: be)? )?"
    r"(?:(?:a|something|too|rather|very|quite|all)\b ?)*"
    r"(?:secret|private|personal|sensitive|confidential|intimate|delicate)\b[^.?!]*\?\s*$"
)
_OBJECTS = any_case(
    r"^\W*(?:ye[sp]|yeah|ja|oui|s[íì]|sim)\W*$|\bi (?:do|would)(?! not|n't)(?: mind| object)?(?=[,.!]|$)"
    r"|\bi'd (?:mind|object)\b"
)
_ECHO = re.compile(r"^\W*\w+\?\s*")
"""A word of the question before the answer: "Private? No, …"."""


def asks_to_keep(text: str) -> bool:
    """Whether an assistant's text asks for permission to remember something."""
    return _ASKS_TO_KEEP.search(text.replace("’", "'")) is not None


def is_about_keeping(text: str) -> bool:
    """Whether a text has a verb of keeping: "note", "remember"."""
    return _KEEPING_VERB.search(text) is not None


def asks_for_objections(question: str) -> bool:
    """Whether a question whether to keep something asks if the person minds, or to forget it: a no allows it."""
    asked = question.replace("’", "'")
    return _OBJECTION.search(asked) is not None or _FORGETTING.search(asked) is not None


def objects(said: str, question: str = "") -> bool:
    """Whether an answer to such a question says that they mind, or, of one to forget something, that it should be."""
    told = said.replace("’", "'")
    agrees = _FORGETTING.search(question.replace("’", "'")) is not None and begins_with_yes(said)
    return agrees or _OBJECTS.search(told) is not None or is_clear_no(said)


def allows_by_a_no(question: str, said: str) -> bool:
    """Whether an answer begins with a no to a question whether to forget something, or whether it is private.

    Where the same message asks whether to keep it, a plain no may be of either.
    """
    asked, told = question.replace("’", "'"), _ECHO.sub("", said.strip())
    is_either = asks_to_keep(question) and says_no(told)
    is_asked = (_FORGETTING.search(asked) or _IF_SECRET.search(asked)) is not None
    return is_asked and opens_with_no(told) and not is_either
