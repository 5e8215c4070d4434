"""How a person likes to be answered ("Please write dates for the user as day.month.year"): wishes, not orders.

Everything about such a text has to be harmless: one sentence, a matter of form, and no word that an order could use.
"""

from __future__ import annotations

import re

_FORM = (
    r"(?:dates?|times?|numbers?|prices?|distances?|measures?|measurements?|weights?|units?|temperatures?|celsius"
    r"|fahrenheit|metric|miles|kilomet\w+|grams|cups|(?:24|12)-?hour \w+|bullet points?|bullets|lists?|tables?"
    r"|emojis?"
    r"|exclamation marks?|capital letters|short|brief|briefly|concise|simple|simply|plain|formal|formally|informally"
    r"|first name|surname|last name|paragraphs?|small talk|greetings?|jokes?|headings?|numbered|steps?|examples?"
    r"|spell"
    r"|spelling|large print|font|british|american|swiss|english|german|french|spanish|italian|portuguese|dutch|polish"
    r"|czech|russian|ukrainian|turkish|arabic|hebrew|greek|hindi|chinese|japanese|korean|swedish|danish|norwegian"
    r"|finnish|hungarian|romanian|welsh|irish|deutsch\w*|englisch\w*|platt|kurz\w*|formlos|emojis?)"
)
_ASKED = (
    r"(?:write|give|answer|reply|respond|use|spell|keep|leave out|leave off|skip|speak|talk|put|show|format|explain"
    r"|avoid|translate)"
)
_ADDED = (
    r"(?:(?:an? |the |short |brief |one-line |quick )*(?:summary|recap|overview|list of [\w ]{3,25}|sources?"
    r"|references?"
    r"|key points|main points|takeaways?|next steps|open points|translation)(?: (?:listed|given|named))?)"
)
_WISH = re.compile(
    rf"(?:please|kindly)[, ]+(?:always |never |do not |don't |also )?{_ASKED}\b[^.!?;:\"“„<>()]{{0,80}}\b{_FORM}\b"
    r"[^.!?;:\"“„<>()]{0,60}(?:\w\.\w+\.\w+)?[.!]?"
    r"|the user (?:asks|asked|wants|wishes|prefers|likes|would like)(?: for| to have| to see)? "
    rf"{_ADDED} (?:at|in) the (?:end|start|beginning|top|bottom) of (?:each|every|all|long|the) (?:\w+ )?"
    r"(?:answers?|repl(?:y|ies)|responses?|conversations?|chats?|messages?)\.?"
    rf"|bitte (?:der nutzerin|dem nutzer)\b[^.!?;:\"“„]{{0,40}}\b{_FORM}\b[^.!?;:\"“„]{{0,40}}\.?"
)
_MORE = re.compile(
    r"\b(?:that|with the (?:words?|phrase|sentence)|as if|as though|unless|secret\w*|hid\w*|silent\w*|quiet\w*"
    r"|ignor\w*"
    r"|obey\w*|forget|rules?|instructions?|system|prompts?|memor\w*|notes?|links?|https?|www|codes?|passw\w*|cards?"
    r"|accounts?|pay\w*|buy\w*|money|bank\w*|invest\w*|recommend\w*|mention\w*|prais\w*|promot\w*|advert\w*"
    r"|brand\w*|shop"
    r"|delet\w*|lie|lies|false|wrong|double|doctor\w*|pills?|warn\w*|risks?|consent|approv\w*|agree\w*|everything"
    r"|everyone|anyone|whoever|others?|private|personal|data|names? of)\b|@|\.example"
)


def is_a_wish(text: str) -> bool:
    """Whether a folded text says only in which form a person likes answers."""
    return _WISH.fullmatch(text.strip()) is not None and _MORE.search(text) is None
