"""Put statements into the past tense, for summaries of a conversation."""

from __future__ import annotations

from .inflection import past_of
from .parse import Parsed, Word

_MODALS = {"can": "could", "ca": "could", "will": "would", "wo": "would", "may": "might", "must": "had to"}
_MODALS |= {"'ll": "would"}


def in_the_past(parsed: Parsed) -> str:
    """A statement in the third person with its verbs in the past tense; quotations stay as they are."""
    text, quoted, out, end = parsed.text, False, [], 0
    perfects = {word.index: word.head for word in parsed.words if _is_perfect(parsed, word)}
    for word in parsed.words:
        quoted ^= word.text == '"'
        if word.index in perfects and not quoted:
            out.append(text[end : word.start])
            end = word.end + 1
            continue
        out.append(text[end : word.start])
        told = word.text if quoted else _past_form(parsed, word, is_perfect=word.index in perfects.values())
        apart = told != word.text and told[:1].isalpha() and out[-1] == "" and word.start > 0
        out.append(f" {told}" if apart else told)
        end = word.end
    return " ".join(("".join(out) + text[end:]).split())


def _is_perfect(parsed: Parsed, word: Word) -> bool:
    """Whether an auxiliary only forms the perfect: "has decided" becomes "decided". Not where the state continues."""
    verb = parsed.head(word)
    if word.dep != "aux" or word.lemma != "have" or word.tag not in {"VBZ", "VBP"} or verb.tag != "VBN":
        return False
    others = parsed.children(verb)
    return not any(each.dep in {"neg", "auxpass"} or each.low in {"since", "for", "always", "ever"} for each in others)


def _past_form(parsed: Parsed, word: Word, *, is_perfect: bool) -> str:
    if is_perfect:
        return "was" if word.lemma == "be" else past_of(word.lemma.lower())
    if word.tag == "MD":
        return _MODALS.get(word.low, word.text)
    if word.pos not in {"VERB", "AUX"} or word.tag not in {"VBZ", "VBP"}:
        return word.text
    if word.lemma == "be":
        return "were" if word.low == "are" else "was"
    return past_of(word.lemma.lower())
