"""The parts of which the patterns of personal fields are made."""

from __future__ import annotations

from collections.abc import Iterable

import regex


def either(words: str) -> str:
    """Return a pattern of any of these words."""
    return "|".join(words.split())


LANGUAGES = either(
    """english german french spanish portuguese italian dutch swedish norwegian danish finnish polish czech slovak
    hungarian romanian bulgarian greek turkish arabic hebrew persian farsi hindi urdu bengali tamil telugu punjabi
    chinese mandarin cantonese japanese korean vietnamese thai indonesian malay tagalog swahili russian ukrainian
    serbian croatian bosnian slovenian slovene lithuanian latvian estonian icelandic irish gaelic welsh basque
    catalan galician albanian macedonian armenian georgian afrikaans zulu yiddish luxembourgish maltese deutsch
    français español akan amharic aymara azerbaijani azeri bambara belarusian breton burmese cebuano chechen cornish
    corsican creole dari esperanto faroese filipino flemish frisian fula fulani guarani gujarati haitian hakka hausa
    hawaiian hokkien igbo ilocano inuktitut isixhosa isizulu javanese kannada kashmiri kazakh khmer kinyarwanda konkani
    kreyol kurdish kyrgyz lao latgalian lingala luganda malagasy malayalam marathi montenegrin māori navajo
    ndebele nepali occitan odia oromo pashto patois quechua rohingya romani romansh rundi saami sami sámi samoan
    sardinian scots sepedi sesotho setswana shanghainese shona sindhi sinhala sinhalese somali sorbian sotho sundanese
    tajik tatar tetum teochew tibetan tigrinya tongan tswana turkmen twi uyghur uzbek visayan wolof xhosa yoruba bsl
    asl"""
)
TONES = either(
    """formal informal casual friendly warm brief short shorter concise direct blunt polite professional humorous funny
    playful detailed thorough simple plain gentle serious sarcastic encouraging neutral relaxed straightforward
    succinct terse respectful empathetic matter-of-fact honest kind calm technical clear long longer crisp dry
    light-hearted to-the-point conversational"""
)
_MEANT = r"^(?:the|this|our) (?:{})(?=['’]s\b| (?!(?:who|whose)\b))"
_CLEARLY_MEANT, _MEANT_ALONE = (
    regex.compile(_MEANT.format(words), regex.IGNORECASE)
    for words in ("account (?:holder|owner)", "account (?:holder|owner)|customer|speaker|human|person")
)
PIECES = {
    "user": r"(?:(?:the )?user|I(?:['’](?:m|ve))?)",
    "users": r"(?:(?:the )?user['’]s|my)",
    "of_user": r"(?:the )?user",
    # Where a clause begins, so that in "the sister of the user lives" the user does not.
    "clause": r"(?:^|[,;:] |\b(?:and|but|that|because|so|since|now|currently|note|remember) )",
    "adverbs": r"(?:(?:now|currently|still|always|usually|mostly|generally|really|strongly|recently|just|also|both"
    r"|already"
    r"|mainly|rather|much|explicitly|clearly|typically|normally|often|simply|only|officially|has|have|had|is|am"
    r"|are) )*",
    "name": r"[\"'“‘]?(?-i:\p{Lu})[\p{L}.'’-]*",
    "place": r"(?!(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Linux|Windows|Mac(?:OS)?|iOS|Android|Python|Java\w*"
    r"|TypeScript|Rust|Postgres\w*|MySQL|GitHub|GitLab|AWS|Azure|Notion|Slack|Gmail|Excel|React|Docker|Firefox"
    r"|Chrome|Sales"
    r"|Marketing|Finance|HR|Engineering|Product|Design|Support|Operations|Legal|Gate|Room|Team)\b)"
    r"(?-i:\p{Lu})[\p{L}.'’-]+(?! ?\d)",
    "pronouns": r"\b(?:she|he|they|xe|ze|zie|ey|fae|it)(?:/| and | or )"
    r"(?:her|him|them|hers|his|theirs|xem|xyr|zir|hir|em|faer|its|she|he|they|xe|ze)\b",
    "language": rf"(?:swiss |brazilian |british |american |simple |plain |easy )?(?:{LANGUAGES})\b",
    "tone": rf"\b(?:{TONES})\b",
    "talk": r"\b(?:tone|style|answers?|repl(?:y|ies)|responses?|explanations?|wording|communication|conversations?"
    r"|chats?)\b",
    # What others say and write is not asked of the assistant.
    "unless": r"(?!\s+(?:with|from|by|at|about|between|on|of|in) (?!(?:the )?(?:assistant|bot|ai|chatbot|examples"
    r"|code)\b))",
    "wants": r"(?:prefers?|wants?|likes?|appreciates?|asks?|asked|wish(?:es)?|would like|would rather|would prefer"
    r"|expects?"
    r"|needs?|enjoys?|requests?|requested|values?|loves?|has asked|insists? on|demands?)",
    "dislikes": r"(?:hates?|dislikes?|does(?:n['’]t| not) (?:like|want)|do(?:n['’]t| not) (?:like|want))",
    # What one does where one lives, said as a habit.
    "habits": r"(?:(?:(?:wakes?|gets?) up|falls? asleep|goes to (?:bed|sleep)|sleeps?|comes? home"
    r"|unlocks? (?:\w+ ){1,2}door|has breakfast) (?:almost )?(?:every|each|most) (?:single )?"
    r"(?:day|night|morning|evening|weeknights?|days|nights|mornings)"
    r"|(?:spends?|sleeps?) (?:all|most)(?: of)? (?:(?:their|his|her|my|the) )?nights"
    r"|(?:pays?|owes?) (?:the |\w+ )?(?:rent|(?:council|local|city|property) tax(?:es)?|mortgage)"
    r"|(?:votes?|registered to vote)(?: (?:for|by|early|at) [^.,;]{1,30}?|(?: (?!in )[\w'’-]+){1,3})?"
    r"(?= in (?!(?:Parliament|Congress|Council|Senate|Assembly)\b))"
    r"|gets? (?:\w+ )?(?:post|mail) (?:delivered|sent)|has (?:\w+ )?(?:home|household)|keeps? house)",
    "elders": r"(?:mother|father|parents?|mum|mom|dad|grand\w+|god\w+|aunt|uncle|family|priest)",
    "papers": r"(?:passport|(?:id|identity|bank|credit|business|library|health|membership) card|driv\w+ licen[cs]e"
    r"|diploma|certificate|visa|badge|name ?(?:tag|plate)|lanyard|(?:mail|e-?mail) signature|signature)",
    "dwelling": r"(?:flat|house|apartment|room|studio|bedsit|loft|maisonette|condo|cottage|bungalow|houseboat|terrace"
    r"|townhouse|farmhouse|duplex|penthouse|place)",
    "gender": r"\b(?:man|woman|male|female|girl|boy|lady|gentleman|non-?binary|agender|gender-?(?:fluid|queer))\b",
    "colon": r"\s*[:=]\s*",
}


def compiled(patterns: Iterable[str]) -> regex.Pattern[str]:
    """Return one pattern for any of these, which name parts in braces, such as ``{place}``."""
    return regex.compile("|".join(f"(?:{each.format(**PIECES)})" for each in patterns), regex.IGNORECASE)


def as_the_user(text: str, *, alone: bool = True) -> str:
    """Return a text that begins with another word for the user, such as "the account holder", with "The user".

    ``alone``: it has no subject, who could be "the customer".
    """
    return (_MEANT_ALONE if alone else _CLEARLY_MEANT).sub("The user", text)
