"""What a chat message asks for, by patterns: a question, its subject words, or a task."""

from __future__ import annotations

import regex
from django.utils.translation import gettext_noop

from .parse import irregular, parse
from .wordnet import sense, senses_of
from .words import listed

_WORD = regex.compile(r"[\p{L}\p{N}]+")
_GREETING = (
    r"(?:hi|hello|hey|hiya|heya|howdy|yo|morning|good (?:morning|afternoon|evening|day)"
    r"|hallo|guten (?:morgen|tag|abend))(?: (?:there|dear|love|darling|again|everyone|all|to you))*"
)
_ASKS = regex.compile(
    r"\?\s*$|^\W*(?:(?:hi|hello|hey|and|so|well|ok|okay)\b\W+)?(?:"
    r"(?:who|whom|whose)(?:['’]?s)?\b|(?:what|when|where|why|how)['’]?s\b|(?:what|how) about\b|"
    r"(?:when|where|why)\s+(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should)\b|"
    r"(?:what|which|how)(?:\s+(?!(?:i|you|we|he|she|it|they|my|our|the|an?)\b)\w+){0,2}?"
    r"\s+(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should)\b|"
    r"(?:is|are|am|was|were|does|did|has)\s+(?:i|you|we|he|she|it|they|my|our|there)\b|"
    r"(?:do|have|can|could|would|will)\s+(?:i|you|u|we|they)\b|(?:please\s+)?(?:tell me|remind me)\b|any idea\b|"
    r"i(?:['’]m| am)? wonder(?:ing)?\b|(?:please )?(?:list|show me) (?:everything|all|what)\b|"
    r"(?:wer|wen|wem|was|wann|wo|welche[rsnm]?|warum|wie|weißt du)\b)",
    regex.IGNORECASE,
)
ASKS_OF_ITSELF = regex.compile(
    rf"^\W*(?:(?:{_GREETING}|and|so|well|ok|okay)\b\W+)?(?:"
    r"(?:who|what) (?:exactly )?(?:are you|r u)\b(?! \p{L})|(?:what['’]?s|wh?at is) up\W*$|"
    r"are you (?:(?:an?|the|really|even|some|any|kind|sort|of|large) )*(?:language model|llm|model|ai|a\.i\.|assistant|"
    r"bot|chatbot|robot|machine|human|person|real|alive|chatgpt|gpt|claude)\b|wer bist du\b|was bist du\b|"
    r"how (?:do|can|did) you (?:work|remember|know|learn)(?: (?:it|that|this|them|things|all(?: of)?|so much|what I "
    r"(?:say|tell you)))*\W*$|how (?:are you(?: (?:doing|today|now))*|is it going|old are you)\W*$|what can you do\b|"
    r"(?:do|did) you (?:also |really |ever )?(?:like|love|enjoy|prefer|hate|sleep|eat|dream)\b(?!.*\b(?:I|my|me)\b)|"
    r"(?:who|what|which)(?:['’]?s| is| are) your (?:own |real )?(?:name|favou?rite|age|opinion)\b(?!.*\b(?:I|my|me)\b)|"
    r"why (?:did|do|are|were|would|have) you (?:\w+ ){0,2}(?:that|this|it|so)\W*$|"
    r"what (?:do|did) you mean(?: (?:by|with) (?:that|this|it))?\W*$)",
    regex.IGNORECASE,
)
GREETS = regex.compile(
    rf"^\W*{_GREETING}\W*$",
    regex.IGNORECASE,
)
_THANKS = regex.compile(
    r"^\W*(?:(?:ok|okay|great|perfect|cool)\W+)?(?:thanks|thank you|thx|ta|cheers|danke)\b(?!.*\b(?:i|my|we|our)\b)",
    regex.IGNORECASE,
)
_LEAVES = regex.compile(r"^\W*(?:(?:ok|okay)\W+)?(?:bye|goodbye|good night|see you|tschüss)\b", regex.IGNORECASE)
MANNERS = (
    (GREETS, gettext_noop("Hello.")),
    (_THANKS, gettext_noop("You're welcome.")),
    (_LEAVES, gettext_noop("Goodbye.")),
)
_COMPLAINS = regex.compile(
    r"^\W*(?:(?:no|nope|sorry|but|well|hey|um+|oh|hm+|wait|and|so|hello|excuse me|i think)\b\W*)*(?:"
    r"(?:you|that|this|it)(?:['’](?:s|ve|re)| is| was| have| are)? (?:(?:all|just|totally|completely|so|still|quite) )*"
    r"(?:wrong|incorrect|false|mistaken|nonsense|rubbish|a mistake|an error)"
    r"|you(?:['’]ve| have)? (?:(?:still|just) )?(?:got|get|misunderst\w+|mixed|made|remember(?:ed)?)\b[^,;.]*"
    r"\b(?:wrong|incorrectly|misunderst\w+|up|mistake|error)|you misunderst\w+(?: me| that| this)*"
    r"|(?:that|this|it)(?:['’]s| is| was)(?: not|n['’]t) (?:(?:at all|quite|really|exactly|even) )?"
    r"(?:right|true|correct|so|what I (?:said|meant|told you))"
    r"|I (?:never|did not|didn['’]t) (?:say|said|tell you|told you|mean) (?:that|this|it|so)"
    r"|you(?:['’]re| are) (?:(?:so|really|completely|totally) )?(?:useless|stupid|dumb|hopeless|terrible|no (?:good|use"
    r"|help))"
    r"|you (?:never|don['’]t|do not|didn['’]t|did not|aren['’]t|are not)(?: ever| even)? "
    r"(?:listen(?:ing)?|understand|get it|pay(?:ing)? attention)(?: to me| me| this| that)*"
    r"|you suck|this sucks|wtf|what the (?:hell|heck|fuck)|ffs"
    r"|wrong|incorrect|not (?:true|right|correct)|nonsense|rubbish)"
    r"(?: (?:at all|again|though|now|actually|I think|sorry|you know))*\W*$",
    regex.IGNORECASE,
)
HOW = regex.compile(
    r"\bhow (?:old|long|many|much|often|far|tall|big|high|heavy)\b|(?:\bwhat |\bthe |\bmy |['’]s )age\b(?! \p{L}+s\b)",
    regex.IGNORECASE,
)
WANTS_TO_BE_ASKED = regex.compile(
    r"\bwhat (?:else )?(?:would|do|should) (?:you (?:like|want|need) (?:me )?to (?:know|ask|hear|tell)|I tell you)\b",
    regex.IGNORECASE,
)
ASKS_WHAT_WAS_SAID = regex.compile(r"\b(?:tell|told|say|said|mention(?:ed)?|erzählt|gesagt)\b", regex.IGNORECASE)
WANTS_A_TIME = regex.compile(r"\b(?:when|(?:which|what) (?:year|month|day|date|time))\b", regex.IGNORECASE)
WHAT_I_DO = regex.compile(
    r"\b(?:do|can|could|will|would|did) I (?:also |still |usually )?(?P<verb>(?!have\b)\p{L}{3,})\b", regex.IGNORECASE
)
_OF_OTHERS = regex.compile(r"\b(?:he|she|we|us|our|him|his|her|they|them|their|you|your)\b", regex.IGNORECASE)
_OPENING = regex.compile(
    r"^\W*(?:(?:hi|hello|hey|and|so|well|ok|okay|now|then|please|just)\b\W+)*"
    r"(?P<you>(?:can|could|would|will) you (?:please |just |also |maybe )?)?(?P<verb>\p{L}+)",
    regex.IGNORECASE,
)
_CALCULATES = regex.compile(r"\d\s*(?:[-+*/x×÷]|times|plus|minus|divided by|percent of|% of)\s*\d", regex.IGNORECASE)
_OF_THE_WORLD = regex.compile(
    r"\btell (?:me|us) (?:a|an|another|some|one more) (?:\p{L}+ )?(?:joke|story|riddle|poem|fun fact)\b|"
    r"^\W*(?:(?:and|so|well|ok|okay|hey)\b\W+)?(?:"
    r"what(?:['’]?s| is) the (?:time|weather|news)(?: (?:like|now|today))*\W*$|"
    r"what (?:time|day|date) is it(?: now| today)?\W*$|"
    r"(?:is it|will it|it will)(?: going to| gonna)? (?:rain|snow|be (?:sunny|cold|warm|hot|dry|wet|nice))\b|"
    r"what (?:should|shall|can|could) (?:I|we) (?:cook|eat|wear|watch)\b)",
    regex.IGNORECASE,
)
"""What is neither told by the person nor about them: a joke, the time, what to cook."""
_AT_A_TIME = regex.compile(r"\bremind (?:me|us) (?:to|at|in|on|tomorrow|tonight|later|every)\b", regex.IGNORECASE)
_EXPLAINS = regex.compile(r"^\W*(?:how (?:do|does|can|to)|why (?:do|does|is|are))\b", regex.IGNORECASE)
_TALKED = regex.compile(
    r"\bwhat (?:did|have|had|was|were) (?:we|I|you and I)\b(?: \w+)?? (?:talk|talked|talking|speak|spoke|spoken|chat"
    r"|chatted|discuss|discussed|say|said)(?: (?:about|of))?(?: (?:to|with) (?:you|each other))?"
    r"(?P<when>(?: (?:today|yesterday|here|just now|now|before|so far|earlier|last time|in this (?:talk|chat)))*)"
    r"\W*$",
    regex.IGNORECASE,
)
_TOLD = regex.compile(
    r"\bwhat (?:did|have|had|was|were) I\b(?: \w+)?? (?:tell(?:ing)?|told|mention(?:ed|ing)?)(?: (?:to )?you)?"
    r"(?P<when>(?: (?:today|yesterday|here|just now|now|before|so far|earlier|last time|in this (?:talk|chat)))+)\W*$",
    regex.IGNORECASE,
)
_MEMORY_VERBS = listed(
    "tell remind remember recall forget know say keep note think believe show repeat list call see hear guess wait let "
    "look have be stop listen ask mention imagine trust"
)
"""Requests that need no language model, and verbs addressed to nobody in particular."""
_MODEL_VERB_FILES = frozenset({31, 32, 36})
"""WordNet's verb files of cognition, communication and creation."""
OF_ME = regex.compile(r"\b(?:I|i(?!\.)|(?i:me|my|myself|ich|mich|mir))\b")
_OF_THE_TALK = regex.compile(
    r"^\W*(?:(?:please )?(?:stop|shut up|go away|leave me alone|enough)|I give up|"
    r"I(?:['’]m| am) (?:done|off|out|finished)|(?:it|this|that)(?:['’]s| is) (?:over|it|all|enough)|"
    r"(?:I (?:have|need) to|(?:I(?:['’]ve)? )?got to|(?:I )?gotta) (?:go|run|dash))(?: (?:now|then|here|already))*\W*$",
    regex.IGNORECASE,
)
_OF_SOMEBODY = regex.compile(r"\b(?:I|my|mine|we|our|he|his|she|her|they|their)\b", regex.IGNORECASE)
_ALL_OVER = regex.compile(
    r"^\W*\w+\W*$|\b(?:all|any ?more|bye|done|finished|here|it|more|no|not|now|off|ok|okay|on|out|over|that|then|this"
    r"|up)\b",
    regex.IGNORECASE,
)
"""A word alone, or one beside a word that names nothing: "gone now", "all finished"; not "Quit smoking"."""
_MOST_WORDS_OF_MANNERS, _MOST_WORDS_OF_NOBODY = 5, 2
_WHAT_YOU_KNOW = regex.compile(
    r"\b(?:what (?:else |more )?(?:do|did|can|have)|(?:everything|all|what)(?: that)?) you "
    r"(?:know|remember(?:ed)?|tell)(?: so far| now)*\W*$",
    regex.IGNORECASE,
)
_NOWADAYS = regex.compile(
    r"\b(?:now|nowadays|currently|presently|lately|still|already|yet|really|actually|exactly|any ?more|these days|"
    r"(?:at|for) the moment|right now|at present|what (?:kind|sort|type)s? of|which (?:kind|sort|type)s? of|"
    r"(?<=\bwhat )else|so far|(?<=^\W*(?:please )?)(?:list|show)(?= (?:me )?(?:everything|all|what)\b))\b|"
    r"(?<=^\W*what(?:['’]s| is| was| are| were) .*)\blike(?=\W*$)",
    regex.IGNORECASE,
)
"""What names no topic in any question: that it is asked of the present, of which kind, or "what is it like"."""
_LIVING = regex.compile(r"(?<!\ba )\bliving\b", regex.IGNORECASE)
"""Where somebody is living, not what they do for a living."""
_NOT_LIKE = regex.compile(r"(?:\bnot|n['’]t)(?: \w+)? like\b", regex.IGNORECASE)
_AM_I_CALLED = regex.compile(r"(?<=\bam I )called\b", regex.IGNORECASE)
_DIE = regex.compile(r"(?<=\b(?:did|does)\b.*)\bdie\b", regex.IGNORECASE)
"""The verb: otherwise it is an article, in German."""
_FOR_A_LIVING = regex.compile(
    r"\bfor a living\b|(?<=\bwhat (?:do I|(?:do|does|did) (?:he|she|they)|does my \p{L}+|did my \p{L}+) )do(?=\W*$)",
    regex.IGNORECASE,
)
"""What asks for somebody's work, with "do" alone as well."""
# Function and question words, which don't name the topic.
_QUESTION_WORDS = listed(
    "a about again all am an and any anything are as at be been by can could did do does ever everything for from "
    "get got had has have he her him his how i in is it its know me might mine must my of on or our please recall "
    "remember remembered remind said say shall she should so some something tell that the their them there these "
    "they thing things this those to told us was we were what when where which who whom whose why will with would "
    "you your "
    "hello hi hey d ll m re s t ve u hows whats whens wheres whos whys idea if please whether wonder wondering "
    "dich mich kennst "
    "bin das dem den der die dir du ein eine er erzählt gesagt hast hat ich ist mein meine mir sie sind und von wann "
    "warum weisst wem wen wer wie wo über"
)


def is_question(text: str) -> bool:
    """Whether a text asks something, with or without a question mark. A question states nothing to remember."""
    return _ASKS.search(text.strip()) is not None


def asks_for_work(text: str) -> bool:
    """Whether a text asks for a task that needs a language model: writing, translating, calculating, explaining."""
    opening = _OPENING.match(text)
    if opening is None or any(each.search(text) for each in (_CALCULATES, _AT_A_TIME, _OF_THE_WORLD)):
        return opening is not None
    if _EXPLAINS.search(text):
        return not (OF_ME.search(text) or _OF_OTHERS.search(text))
    verb = opening["verb"].casefold()
    if verb in _MEMORY_VERBS:
        return False
    return bool(opening["you"]) or _is_creative_imperative(text[opening.start("verb") :], verb)


def _is_creative_imperative(text: str, verb: str) -> bool:
    """Whether a text begins with an imperative of creation or communication: "write me a poem"."""
    rank = next((key for key, rank in senses_of(verb) if key[0] == "v" and not rank), None)
    if rank is None or sense(rank).kind not in _MODEL_VERB_FILES:
        return False
    parsed = parse(text, names=False)
    first = parsed.words[0] if parsed is not None else None
    return first is not None and first.tag == "VB" and first.head == first.index


def asked_of_talk(question: str) -> str | None:
    """For a question about what was discussed, the time it names in lower case, maybe empty; otherwise None."""
    found = _TALKED.search(question) or _TOLD.search(question)
    return None if found is None else found["when"].strip().lower()


def complains(text: str) -> bool:
    """Whether a message only says that the assistant is wrong, and not what is right."""
    return _COMPLAINS.search(text.strip()) is not None


def wants_quiet(text: str) -> bool:
    """Whether a message breaks off the talk: "stop", "I give up"."""
    return _OF_THE_TALK.search(text) is not None


def is_of_the_talk(text: str) -> bool:
    """Whether a message is said to the assistant or ends the talk, so that it changes nothing known: "stop", "bye".

    A word of nobody, or two of which one names nothing, tell a change only as the answer to a question, which is read
    elsewhere.
    """
    words = text.split()
    if complains(text) or wants_quiet(text):
        return True
    if len(words) <= _MOST_WORDS_OF_MANNERS and any(says.search(text) for says, _ in MANNERS):
        return True
    is_short = len(words) <= _MOST_WORDS_OF_NOBODY and _OF_SOMEBODY.search(text) is None
    return is_short and _ALL_OVER.search(text) is not None


def tells_something(text: str) -> bool:
    """Whether a message states something to remember: no question, complaint or thanks, and over two words."""
    manners = complains(text) or any(says.search(text) for says, _ in MANNERS)
    return len(spelt(text.replace("[withheld]", ""))) > 2 and not manners and not is_question(text)


def asks_of_me(question: str) -> bool:
    """Whether a question is about the person in general: "what do you know about me?", "what else do you know?"."""
    of_me = OF_ME.search(question) is not None or _WHAT_YOU_KNOW.search(question) is not None
    return of_me and is_question(question) and not wanted_in(question)


def wanted_in(question: str) -> dict[str, None]:
    """The topic words of a question as lemmas, in order. In "how tall am I?", what is measured is the only one."""
    plain = _LIVING.sub("live", _NOWADAYS.sub(" ", question))
    plain = _DIE.sub("died", _NOT_LIKE.sub(" dislike", plain))
    plain = _AM_I_CALLED.sub("name", _FOR_A_LIVING.sub("work", plain))
    return _topic_words(HOW.sub(" ", plain)) or _topic_words(plain)


def _topic_words(question: str) -> dict[str, None]:
    words = spelt(question)  # Case-folded: "weißt" becomes "weisst".
    return dict.fromkeys(irregular(word) for word in words if word not in _QUESTION_WORDS)


def spelt(text: str) -> list[str]:
    """A text's words, case-folded."""
    return [word.casefold() for word in _WORD.findall(text)]
