"""Patterns of refusals, without a parser.

Each pattern starts at a clause boundary, so that reports about others ("she told him not to write that down") don't
match.
"""

from __future__ import annotations

import re

from ..asked import orders_keeping


def any_case(pattern: str) -> re.Pattern[str]:
    """Compile a case-insensitive pattern."""
    return re.compile(pattern, re.IGNORECASE)


KEEPS_ONLY = any_case(r"\b(?:only (?:remember|keep|note|save|store|record)|(?:remember|note|save|store|record) only)\b")


# --- Patterns ---------------------------------------------------------------------------------------------------

_SOFT_WORD = (
    r"(?:please|pls|plz|oh|ok|okay|actually|no|nah|nope|wait|sorry|and|but|so|well|just|lol|ha+|haha|hey|h+m+|then|now"
    r"|really|also|btw|again|yes|yeah|god|sure|thanks|thank you|never mind|nevermind|by the way|if possible|kindly"
    r"|maybe|to be honest|mind(?: you)?|on second thoughts?|on reflection|one thing|hang on|hold on"
    r"|wait a (?:minute|second|sec)|careful|sh+|(?:make|be) sure(?: that)?)\b"
)
_SOFT_WORDS = any_case(rf"\b{_SOFT_WORD}")
SOFT = rf"(?:{_SOFT_WORD}[\s,.!…–—-]*){{0,6}}"
_START = rf"(?:^|[,;:.!?…–—(]\s*|\s-+\s*|\s(?=(?:and|but|so|or|then|please|pls)\s)){SOFT}"
_NOT = r"(?:do not|don'?t|do n't|never)"
YOU = r"(?:you|u|ya)"
_DID_NOT = r"(?:do not|don'?t|did not|didn'?t|would not|wouldn'?t|not)"
_ORDER = (
    rf"(?:{_NOT}(?: {YOU})?(?: (?:ever|please|go and|even|try to|dare(?: to)?))?"
    rf"|(?:can|could|would|will) (?:{YOU}|we) (?:please |maybe |kindly )*not(?: to)?"
    rf"|{YOU} (?:do not|don'?t) (?:need|have|ought) to|{YOU} needn'?t"
    rf"|{YOU} (?:(?:must|should|may|can|could|are) ?(?:not|n't|never)(?: to)?|mustn't|shouldn't|can'?t|cannot"
    r"|better not|'d better not|had better not)"
    rf"|(?:there'?s |there is )?no need (?:for {YOU} )?to|better not(?: to)?|please (?:try )?not(?: to)?"
    rf"|i(?:'d|d| would| had)? ?(?:rather|prefer|like|appreciate|wish|want|ask)(?: it)?(?: if| that)?(?: {YOU})?"
    rf"(?: to)? {_DID_NOT}(?: to)?|i'?m asking {YOU} not to|i beg {YOU} not to"
    rf"|i {_DID_NOT} (?:really )?(?:want|like|wish)(?: for)? {YOU} to|let'?s not)"
)
PLACE = (
    r"(?:(?:in|into|to|from|on|onto|for|out of|off)(?: to)? (?:any of )?(?:(?:your|the|my|our|any|his|her|their"
    r"|ur|this)"
    r"(?: own)? (?:(?!guest|shopping|mailing|waiting)\w+ )?)?(?:notes?|notebook|memor(?:y|ies)|records?"
    r"|profile|story|stories|book|album|summary|summaries|file|diary|history|biography|archive|database|list|legacy"
    r"|memorial|page)\b|anywhere|in there|out of (?:this|it|that)"
    r"|(?:from|in|out of|off) (?:what(?:ever)?|everything|anything) (?:you|u)(?:'ve| have)? (?:ever )?"
    r"(?:keep|kept|saved?|stored?|know|remember(?:ed)?|noted?)(?: (?:about|on|of) me)?\b)"
)
_KEEPING = {
    "plain": r"remember|memori[sz]e|note(?: down)?|save|store|record|retain|log|take down|(?:hold|hang) on to"
    "|make (?:a )?note of"
    r"|take note of|keep (?:a )?(?:note|record|track) of|keep|keep in mind|bear in mind|include|repeat|quote",
    "down": r"(?:write|jot|put)(?= .{0,99}\bdown\b)(?: down)?",
    "mentioned": r"(?<=ever )mention|mention(?=[^.!?]{1,60}\b(?:again|any ?more|ever)\b)",
    "known": r"(?<=want you to )(?:know|learn)",
    "about": r"(?:write|mention|say|tell)(?= (?:anything |something |a word |about ))",
    "pointed": r"(?:add|put)(?= (?:that|this|it)\b)",
    "placed": rf"(?:put|add|write|mention|use|list|file|enter|have|include|bring|leave)(?=.{{0,99}}{PLACE})",
}
_ANY_KEEPING = "|".join(_KEEPING.values())
_KEPT = (
    r"(?:kept|saved|stored|remembered|recorded|written(?: down)?|noted(?: down)?|memori[sz]ed|retained|logged"
    r"|repeated"
    r"|quoted|mentioned|included|on (?:the )?record|on file)"
)
POINTED = r"(?:(?:any of )?(?:that|this|it|these|those|them|the following)(?: one| bit| part| last one)?|anything)"
LAST = (
    r"(?:(?:the|that|this|my|these|those)(?: very)? (?:last|previous)(?: (?:thing|part|bit|sentence|message|line"
    r"|one|remark))?"
    r"(?: (?:that )?i (?:just )?(?:said|wrote|told you|mentioned))?|(?:what|that|anything|everything"
    r"|all(?: that)?)? ?i (?:just |ever )?"
    r"(?:said|wrote|told (?:you|u)|mentioned)(?: (?:that|this|it|anything|something|to you|just now|before"
    r"|earlier))*)"
)
ENDING = (
    rf"(?:\s*(?:down|please|pls|plz|ok|okay|though|anywhere|at all|ever|again|now|for later|yet|thanks|thank you"
    rf"|to yourself"
    rf"|right|will you|would you|could you|either|obviously|lol|haha|if you can|if possible|{PLACE})\b){{0,6}}"
)
_FORGET = (
    rf"(?:(?:(?:can|could|would|will) {YOU}|{YOU} (?:can|may|should|could|must)|i(?:'d| would)? (?:like"
    rf"|want) {YOU} to|please(?: to)?"
    r"|just|go ahead and|better|maybe) ){0,3}(?:please )?(?P<verb>forget|erase|delete|remove|scratch|scrap|strike|scrub"
    r"|drop|wipe"
    r"|un-?(?:remember|note|save|store|learn)"
    r"|disregard|ignore|stop remembering"
    r"|(?:leave|take) out(?= (?:the|that|this|any)(?: whole)? (?:thing|part|bit|story|stuff|business|matter)s?"
    r" (?:about|with)\b))"
)
ORDERED = any_case(rf"{_START}(?P<act>{_ORDER} (?P<verb>{_ANY_KEEPING})\b)")
_DISCREET = any_case(rf"{_START}{_ORDER} (?:tell|mention|say|talk|speak|discuss|share|reveal|spread|let on)\b")
FORGOTTEN = any_case(rf"{_START}(?P<act>{_FORGET}\b)")
FORMS = [
    any_case(rf"{_START}(?P<act>{each})")
    for each in (
        # That should not be saved; that's not for the album; that is not something to remember.
        rf"(?P<what>that|this|it|which|these|those|{LAST})(?: one| part| bit| thing)?(?:'s|'re| is| was| are"
        rf"| should| must| may"
        rf"| can| shall| ought| has| will| need| does| do){{0,4}}(?: to| be){{0,3}}(?: ?n't| not|not| never| no)"
        rf"(?: be| to be| need to be"
        rf"| something| one| a thing| meant| made| for| to| you| supposed| ever){{0,5}}(?: {_KEPT}\b"
        rf"| ?(?:to )?(?:remember|keep|save"
        rf"|store|record|write down|note)\b| (?:your|the|my|any|our) (?:notes?|book|album|records?|memory|story"
        rf"|file)\b)",
        # I don't want that saved; I don't want my address in there.
        rf"i (?:do not|don'?t|would not|wouldn'?t|did not|didn'?t) (?:really |actually )?(?:want"
        rf"|like)(?: to have)? (?P<what>"
        rf"(?:that|this|it|these|those|any of (?:that|this|it))|(?:my|our|his|her"
        rf"|the)(?: [\w']+){{1,4}}?)(?: to be| being| to go)?"
        rf" (?:{_KEPT}\b|{PLACE})",
        # Between you and me; that stays between us.
        r"(?:(?P<what>that|this|it)(?:'s| is| stays?| has to stay| must stay| should stay| should remain"
        r"| remains)? )?(?:just |only"
        r" |strictly |let'?s keep (?:that|this|it) |keep (?:that|this|it) )?between (?:us|you and me|you and i"
        r"|you,? me,? and (?:the|these)(?: four)? (?:(?:lamp|gate|bed)[ -]?post|walls?)"
        r"|me and (?:god|(?:my|the|our) [\w-]+)|ourselves|the two of us)(?=\s*(?:[,.:;!?…–—]|$|please\b|ok|okay|though"
        r"|then|and (?:don'?t|do not|not|please|nobody|no one)\b))",
        r"(?:(?:can|could|let|may|keep|is|make) )?(?:(?P<what>that|this|it)(?:'s| is| was| stays?)? )?(?:stay "
        r"|stays |strictly"
        r" |completely |all )?off the record\b(?! with)",
        # Keep that to yourself; treat it as confidential; leave that out; keep her brother out of this.
        r"(?:(?:can|could|would|will) (?:you|u) )?(?:please )?(?:keep|treat|leave|hold) (?P<what>(?:that|this|it"
        r"|these|those)(?: one| bit| part| thing| story)?|(?:my|our"
        rf"|his|her|their|\w+'s)(?: [\w']+){{1,3}}?) (?:(?:as )?(?:to yourself|private|confidential|secret"
        rf"|between us)\b|out\b"
        rf"(?: of (?:(?:this|it|that|my|the|his|her|your)\b ?\w*))?)(?={ENDING}\s*(?:[,.:;!?…–—]|$|and\b))",
        # This is confidential.
        r"(?P<what>that|this|it)(?: is|'s| was)(?: strictly| all| very| a)? (?:confidential|private"
        r"|secret)(?=\s*(?:[.!]|$))",
        # He doesn't want that known; I don't think she'd want it written down; take that out again; not the hint.
        rf"(?:i (?:do not|don'?t) think (?:\w+ )?\w+(?:'d| would)?|(?:\w+ )?\w+ (?:does not|doesn'?t|would not"
        rf"|wouldn'?t"
        rf"|would hate to))(?: really)? (?:want|like|have)s? (?P<what>that|this|it)(?: to be)? (?:{_KEPT}|known"
        rf"|shared|public)",
        r"(?:(?:can|could|would|will) (?:you|u) )?(?:please )?take (?P<what>that|this|it"
        r"|that \w+)(?: back)? (?:out|off)"
        rf"(?={ENDING}\s*(?:[,.:;!?…–—]|$))",
        r"(?:remember|keep|note|save|store) [^.!?,]{1,40},? (?:but|and|just) not (?P<what>(?:the|my|that) [\w' ]+)",
        rf"leave (?P<what>(?:the|my|our|his|her|their|\w+'s)(?: [\w']+){{1,3}}?) {PLACE}",
        # Not for your notes; no word about the debts in the book.
        r"(?:that'?s |this is |it'?s |just for you,? )?(?:not|nothing|no word|not a word)(?: of"
        r"| about)?(?P<what>(?: [\w']+){0,4}?) (?:for|in)"
        r" (?:your|the|my|any|our) (?:notes?|book|album|records?|memory|story|summary|file)\b",
        r"(?:it(?:'d| would) \w+ if )?(?:let'?s |please |we |you |both |can |could |just ){0,3}"
        r"(?:pretend(?:ed)?|(?:act|behave) as (?:if|though)) (?:that )?i(?: had|'d)? "
        r"(?:never|didn'?t|did not) (?:say|said|tell|told|typed?|wrote|write|mention(?:ed)?)\b"
        r"(?: (?:that|this|it|you)){0,3}",
        r"(?:this (?:conversation|talk|chat) never happened|we never had this (?:conversation|talk|chat))"
        r"(?=\s*(?:[,.:;!?…–—]|$|ok\b|okay\b|right\b))",
        rf"{YOU}(?:'ve| have)? (?:didn'?t hear|did not hear|never heard?|heard nothing(?: of)?)"
        r"(?: (?:that|this|it))?(?: from me)?(?=\s*(?:[,.:;!?…–—]|$))",
        # I don't want that coming up again; no writing it down; what's said here stays here.
        r"i (?:really |just )?(?:do not|don'?t|would not|wouldn'?t|never) (?:ever )?(?:want|like|need|wish)"
        r" (?P<what>that|this|it|these|those)(?: to)?(?: be)? (?:(?:com(?:e|ing)|pop(?:ping)?|turn(?:ing)?|show(?:ing)?"
        r"|crop(?:ping)?|br(?:ing|ought)) up|thrown|raised|surfac(?:e|ing)|appear(?:ing)?)\b"
        r"(?=[^.!?]*\b(?:again|anywhere|ever|later|next time|any ?more)\b)",
        r"no (?:writing|noting|jotting|saving|keeping|storing|recording|remembering|logging|memori[sz]ing)(?: down)?"
        r" (?P<what>that|this|it|these|those|any of (?:that|this|it))(?: down)?(?=\s*(?:[,.:;!?…–—]|$|please\b|ok))",
        r"what(?:'s|ever is| is|ever i| i|ever we| we) (?:said|say|typed?|told?|tell|discuss(?:ed)?)(?: \w+){0,3}?"
        r" (?:stays|has to stay|must stay|should stay|remains|ends|dies) (?:in )?(?:here|this \w+)\b",
    )
]
# --- Answering no -----------------------------------------------------------------------------------------------


def asks_for_discretion(sentence: str) -> bool:
    """Whether a sentence begins with a wish that something is told to nobody."""
    return _DISCREET.match(sentence.replace("’", "'")) is not None


_FOREIGN_NO = (
    r"(?:(?:bitte|lieber|besser|bloß) nicht|(?:nein|ne+) (?:danke|lass (?:es|das|ma?l?|gut sein))"
    r"|lass (?:es|das|gut sein)|auf keinen fall|muss nicht sein|das bitte nicht|surtout pas|plutôt pas"
    r"|je préfère (?:que non|pas)|mejor no|prefiero que no|no lo (?:apuntes|guardes)|no hace falta|meglio (?:di )?no"
    r"|lascia (?:stare|perdere)|liever niet|laat maar|melhor não|prefiro que não|não precisa|lepiej nie"
    r"|nie (?:trzeba|zapisuj)|gerek yok|kaydetme|yazma|helst inte|raději ne|inkább ne|(?:лучше )?не надо)"
)
"""As people answer in whose language the assistant asked."""
_NO = (
    r"(?:(?:haha|lol|um|uh|hm+|well|god|oh|dear god|good lord|hell|heavens),? )?"
    r"(?:no+(?! (?:prob|worries|doubt|wonder|idea))|nope|nah|naw|nay"
    r"|no (?:thanks?|thank you|ty|thx"
    r"|please|sir|ma'?am)|please no|better not|rather not"
    r"|absolutely not|certainly not|definitely not|of course not|not (?:really|now|at all|in the (?:least|slightest)"
    r"|(?:this|that)(?: one)?|yet"
    r"|this time|necessary|needed)"
    r"|(?:please )?(?:do not|don'?t)(?: do (?:that|it|this)| bother)?|no need|no,? no|not that,? no"
    r"|(?:i'?d )?(?:really )?(?:rather|sooner|prefer) (?:you )?(?:not|did ?n[o']t)"
    r"|i would (?:rather|prefer) not|i'?d rather (?:you )?didn'?t|never|neither"
    r"|none(?: of (?:it|that|them|those))?|nein(?: danke)?|non(?: merci)?"
    r"|n[aã]o(?: obrigad[oa])?|nee|no gracias|(?:let|leave) (?:it|that|this)(?: one| bit| part)?(?: go| be"
    r"| rest| alone| out| off)?"
    r"|(?:under|in) no (?:circumstances?|way|case)|no way|no chance|i (?:do not|don'?t) think so|i think not"
    r"|better if you (?:don'?t|do not)"
    r"|for now,? no|not (?:for|in|on) (?:my|his|her|their|our|the|your|me|him)(?: \w+)?"
    rf"|let'?s not|forget (?:it|that|about it)|skip (?:it|that)|drop it|ne+|nö|yok|hayır|нет|{_FOREIGN_NO})"
)
_ONLY = (
    r"(?:(?:it'?s|that'?s|this is|it is|that is|that was|it was|i meant(?: it)?|i need it|i want it)? ?(?:just"
    r"|only|merely) (?:for )?(?:here|now|today|once|"
    r"(?:this|the|that|one) \w+(?: \w+)?|this|in this \w+)|(?:it'?s|that'?s|this is|it is) (?:a )?(?:one[- ]off"
    r"|one time|temporary|for now|for today|once)"
    r"|(?:it'?s|that'?s|this is|it is|that is) (?:just|only) (?:for (?:me|us|you)|between us)(?: alone| two)?"
    r"|just (?:this once|the once|here)|not (?:in general|always|for (?:ever|good|later|next time|the future)"
    r"|usually))"
)
_REASON = (
    r"(?:(?:it'?s|that'?s|that is|it is|this is) (?:too |very |rather |quite |really |a |my |so |nobody'?s "
    r"|none of your )*(?:private|personal|sensitive|embarrassing"
    r"|confidential|secret|business|matter|own|between us|silly|awkward|fine)\b.*|(?:it|that|he|she|they|we"
    r"|i)(?:'d| (?:would|wouldn'?t|might|could)(?:n'?t| not)?)\b.*"
    r"|(?:it|that|this|nothing|she|he|they)(?:'s| is|'re| are)? ?(?:is ?n'?t|is not|not|does ?n'?t|do ?n'?t)\b.*"
    r"|because\b.*|i'?d rather\b.*|i (?:do not|don'?t) want .*|i'?m not comfortable.*)"
)
_POLITE = (
    r"(?:thanks?(?: you)?(?: (?:a lot|so much|anyway|though))?|thank you|thx|ty|please|pls|sorry|ok(?:ay)?|not|no"
    r"|for now|at the moment|sh+|that|but|and|it'?s (?:fine|ok|okay|alright|all right|good)"
    r"|that'?s (?:fine|ok|okay|all right|alright)|all good|i'?m good|haha|lol)"
)
LONGEST_ANSWER = 160
_CLEAR_NO = any_case(
    r"(?:(?:haha|lol|um|uh|hm+|well|god|oh),? )?(?:(?:i'?d )?(?:much )?rather not|please (?:don'?t|do not|no)"
    r"|no,? thank(?:s| you)|(?:i'?d )?(?:rather|prefer) (?:that )?(?:you )?did(?:n'?t| not)|better not"
    rf"|under no circumstances?|{_FOREIGN_NO})"
)
"""A no that stands for itself, whatever is said beside it."""
_ONE = r"(?: (?:to )?(?:him|her|them|\w+))?"
_SECRECY = any_case(
    rf"\bin confidence\b|\bi(?:'ve)? (?:gave|given|have given){_ONE} my word\b|\bi(?:'m| am) (?:no|not an?) snitch\b"
    rf"|\bi(?:'ve| have)? (?:swore|sworn|promised){_ONE} (?:(?:to )?(?:secrecy|silence)|(?:not|never) to (?:say|tell)"
    rf"|(?:that )?i(?:'d| would)(?:n't| not| never)? (?:not |never )?(?:say|tell))\b"
    r"|\b(?:hers|his|theirs|\w+'s|not mine|not my (?:story|secret)) to (?:tell|share|say)\b"
    r"|\bi(?:'ve| have)?(?: always)? ke(?:ep|pt) (?:it|that|this) to myself\b|\bwith me to (?:the|my) grave\b"
    r"|\b(?:it|that|this) (?:goes|(?:shall|must|should) go) no further\b|\bi(?:'ve| have) already said too much\b"
    r"|\bi should(?:n't| not| never) have (?:said|told|mentioned|brought)\b"
    r"|\bnobody (?:else )?(?:must|may|should) know\b"
)
"""A secret that the person keeps: said when they are asked whether it may be remembered, it is a no."""
_ORDERS_KEEPING = any_case(
    r"(?:^|[.,;:!?–—]\s*|\s-+\s*|\b(?:so|but|and|then|just|please|pls|do)\s+)(?:(?:do|just|please|pls) )?"
    r"(?:note|keep|save|store|record|remember|write|put|jot|hold on to) (?:it|that|this|them)(?: all)?"
    r"(?: (?:down|in|noted|in mind))?(?: (?:please|pls|then|for me|by all means|as (?:such|that|is|it is)"
    r"|(?:wherever|whenever|however|if) you (?:like|want|wish|please|must)))?\s*(?=[.,;!?]|$)"
    r"|\byou (?:may|can)(?: keep (?:it|that|this|them))?\s*(?=[.!]|$)|\byou can(?:'t|not) not (?:keep|remember|note)\b"
    r"|(?<!not )(?<!n't )\blet (?:it|that|this|them) (?:stand|stay)\s*(?=[.,;!?]|$)"
    r"|(?:^|[.,;:!–—]\s*|\b(?:so|and|then|yes|just|please|pls|do)\s+)"
    r"(?:bear|keep) (?:it|that|this) in mind\s*(?=[.!]|$)"
    r"|\b(?:it|that|this|one)(?:'s| is) to stay\b"
    r"|\bgood to have (?:it|that|this) noted\b|\bso yes\b"
    r"|\byes,? (?:please )?do (?:note|keep|save|store|remember)\b|\byes,? please\b|\bby all means\b"
)
_PIECES = any_case(r"\s*(?:[,.;!?…–—:]+|\s-+\s)\s*")
_BEFORE_BUT = any_case(rf"{_PIECES.pattern}|\s+(?=(?:but|though|except|only)\b)")
_NO_PIECE = any_case(_NO)
_ONLY_PIECE = any_case(_ONLY)
_GOES_ON = any_case(r"(?:it|that|this|he|she|they)\b")
_OTHER_PIECE = any_case(f"{_ONLY}|{_REASON}|{_POLITE}")
_NO_AND_ONLY = any_case(rf"(?:{_NO})?\s*(?:{_ONLY}|{_POLITE})*|{_NO}\s+{_REASON}")


def without_soft_words(text: str) -> str:
    """The text without politeness and discourse markers."""
    return _SOFT_WORDS.sub(" ", text)


def says_no(text: str, *, goes_on: bool = False) -> bool:
    """Whether a message is a plain no, at most with thanks and a reason.

    ``goes_on``: also if it continues about somebody or something: "no, she reads this".
    """
    text = text.strip().replace("’", "'")
    if len(text) > LONGEST_ANSWER or "?" in text:
        return False
    pieces = [piece for piece in _PIECES.split(text) if piece]
    noes = [bool(_NO_PIECE.fullmatch(piece) or _NO_AND_ONLY.fullmatch(piece)) for piece in pieces]
    others = (bool(_OTHER_PIECE.fullmatch(piece) or (goes_on and _GOES_ON.match(piece))) for piece in pieces)
    refused = any(_NO_PIECE.match(piece) or _ONLY_PIECE.match(piece) for piece in pieces)
    return refused and all(no or other for no, other in zip(noes, others, strict=True))


def after_opening_no(text: str) -> str:
    """What a message says after the plain no that it begins with; empty if it does not, or lets something be kept."""
    opening, _, rest = _PIECES.sub("\n", text.strip().replace("’", "'"), count=1).partition("\n")
    return rest if _NO_PIECE.fullmatch(opening) and not allows_keeping(text) else ""


def opens_with_no(text: str) -> bool:
    """Whether a message begins with a plain no."""
    opening = _PIECES.split(text.strip().replace("’", "'"), maxsplit=1)[0]
    return _NO_PIECE.fullmatch(opening) is not None


def is_clear_no(text: str) -> bool:
    """Whether an answer to the question whether to keep something declines in one of its parts, or keeps a secret."""
    text = text.strip().replace("’", "'")
    if len(text) > LONGEST_ANSWER or allows_keeping(text):
        return False
    declines = "?" not in text and any(_CLEAR_NO.fullmatch(piece) for piece in _PIECES.split(text) if piece)
    return declines or _SECRECY.search(text) is not None


# --- Answering yes ----------------------------------------------------------------------------------------------

_YES = any_case(
    r"\W*(?:yes|yeah|yea|yep|yup|sure|ok|okay|please do|please(?! \w)"
    r"|please(?= (?:yes|do|keep|note|save|store|remember|write|hold|go)\b)|of course|absolutely|certainly|definitely"
    r"|go ahead|by all means|do (?:it|so|that)|exactly|correct|that's (?:right|fine|ok|okay)|fine|gladly|i'd like that"
    r"|ja|jawohl|y[ah]|y(?=\W*$)|aye|obviously|obvs|with pleasure|if you(?:'d| would) be so kind|feel free"
    r"|(?:go on(?: then)?|(?:that|it)(?:'d| would) be (?:very )?(?:lovely|great|nice|good|wonderful|perfect|kind)"
    r"|you (?:may|can)(?: (?:keep|save|note|store|remember)(?: (?:it|that|this|them))?)?)"
    r"(?=\W*(?:(?:please|thanks|thank you|yes|sure|of you)\W*)*$)"
    r"|be my guest|(?:both|everything|all(?: (?:of (?:it|them|that|those)|two|three|four))?)"
    r"(?=\W*(?:please|yes|thanks|$))"
    r"|gerne?|klar|oui|bien sûr|sí|claro|sim|sì|certo|tak|да)\b"
)
_YES_IN_NO = any_case(
    r"^\W*(?:(?:yes|yeah|sure)\W+)?(?:(?:if you|i) (?:wouldn't|don't) mind|why not"
    r"|nothing would (?:please|delight) \w+ more"
    r"|i? ?(?:can(?:'t|not)|don'?t) (?:see|think(?: of)?) (?:any reason )?why (?:not|you shouldn't))(?=[.!?]|$)\??"
    r"|\bi(?:'d| would) (?:only )?mind (?:it )?(?:more |rather |only )?if you (?:didn't|did not|don't|forgot)\b"
    r"|^\W*you'd better\b(?! not)"
)
"""A yes that has the words of a no."""
_YES_BUT = any_case(
    r"\?|\b(?:no|not|nope|don't|do not|never|but|except|actually|wait|rather|unless|forget|instead|nicht|aber|nein)\b"
)
_TAKES_LEAVE = any_case(
    r"(?:ok|okay|fine|sure|right|thanks|thank you|\W)*\b(?:(?:good)?bye|good ?night|see (?:you|ya)|cu|ciao|tschüss"
    r"|later|(?:talk|speak)(?: to you)? (?:later|soon|tomorrow)|(?:got|have|need) to go|gotta go|take care)\b"
)
"""Taking leave: an "ok" before it answers nothing."""
_HESITATES = any_case(
    r"^(?:\W*\b(?:well|oh|ah|(?:ha)+|lol|hm+|u[hm]+|so|(?:al|all )?right|okay|ok|then|in that case)\b(?=.*\w))+\W*"
)
"""What a yes may begin with: "well ok then yes"."""


def says_yes(text: str) -> bool:
    """Whether an answer is a plain yes, without a reservation, a question or an order to keep something else."""
    if orders_keeping(text.strip()):  # "Please remember that I like tea."
        return False
    text = _YES_IN_NO.sub("yes", _HESITATES.sub("", text.strip().replace("’", "'")), count=1)
    is_else = _YES_BUT.search(text) is not None or takes_leave(text)
    return len(text) <= LONGEST_ANSWER and _YES.match(text) is not None and not is_else


def takes_leave(text: str) -> bool:
    """Whether a message begins with a goodbye, at most after thanks."""
    return _TAKES_LEAVE.match(text) is not None


def begins_with_yes(text: str) -> bool:
    """Whether a message agrees before it says something else; "ok" and "please" open orders, too."""
    opening = _BEFORE_BUT.split(text.strip().replace("’", "'"))[0]
    return says_yes(opening) and opening.lower() not in _OPENS_ORDERS


_OPENS_ORDERS = frozenset({"please", "ok", "okay", "fine"})


def allows_keeping(text: str) -> bool:
    """Whether a text lets something be kept by an order or the words of a no: "no need to ask, note it", "why not"."""
    text = text.strip().replace("’", "'")
    return _ORDERS_KEEPING.search(text) is not None or _YES_IN_NO.search(_HESITATES.sub("", text)) is not None
