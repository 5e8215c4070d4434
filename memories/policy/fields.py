"""Detects which personal field (name, pronouns, city, …) a statement sets, from its text. No database.

Fields need consent, also where a caller omits ``field``. Only present facts about the user count. English only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import regex
from django.utils.translation import gettext_noop

from language.brief_caches import cached_briefly
from language.gates.judging import Meaning, field_by
from language.gates.passages import labelled
from language.reading.lexicon import is_adjective, is_place, is_word
from language.shown import as_shown
from language.third_person import SHORT_CHARACTERS, about_the_user

from ..models import Memory
from .asserted import as_stated, is_doubtful, tells_no_home, without_what_was
from .pieces import LANGUAGES, as_the_user, compiled

Field = Memory.Field


_SAID: Mapping[str, tuple[str, ...]] = {
    Field.PREFERRED_NAME: (
        r"\b{users} (?:(?:preferred|chosen|first|given|good|real|new|current) )*(?:nick)?name(?: is |{colon})"
        r"(?:(?:now |actually )?{name}|(?!(?:un\w+|common|rare|misspel\w+|hard|difficult|long|short|foreign|secret"
        r"|private|wrong)\b)[\p{{L}}'’-]+[.!]?$)",
        r"\b{users} preferred (?:name|form of address) is (?!not\b)\S",
        r"{clause}{user},? (?:whose (?:preferred )?name is|who is (?:\w+ )?(?:called|named|known as)) {name}",
        r"{clause}{user}(?:,? (?:alias|aka|a\.k\.a\.|better known as)| \() ?{name}",
        r"^{user}, {name}(?: {name}){{0,2}},(?! (?:and|or)\b)",
        r"{subject}is (?:now |also |usually )?(?:called|named|nicknamed|known as) {name}",
        r"^{user} [^.;]{{0,60}}\bunder the name (?:of )?{name}",
        r"{subject}is {name} to (?:their |his |her |my )?(?:friends|family|everyone)",
        r"^{user} [^.;]{{0,60}}\b(?:friends|everyone|people|family) (?:all )?calls? (?:them|him|her) {name}",
        r"{subject}{wants} (?:\w+ ){{0,3}}to (?:call|address) (?:them|him|her|me)(?: as)? {name}",
        r"\bshould (?:always )?(?:call|address) (?:the user|me)(?: as)? {name}",
        r"\b(?:friends|everyone|everybody|people|colleagues|family|parents) (?:(?:all|only|just) )?(?:(?:calls?|names?)"
        r" (?:the user|me)|know (?:the user|me) (?:\w+ )?(?:as|by)) {name}",
        r"^{users} (?:friends|colleagues|family|parents|relatives) (?:(?:all|only|just) )?(?:(?:calls?|names?)"
        r" (?:them|her|him)|knows? (?:them|her|him) (?:\w+ )?(?:as|by)) {name}",
        r"{clause}{user} is (?:known|usually known) (?:as|by the name) {name}",
        r"\b(?:preferred |chosen |first )?(?:nick)?name of {of_user}(?: is\b|{colon})",
        r"{subject}(?:{wants} )?(?:to be|being|be) (?:called|addressed as|named|known as"
        r"|referred to as)(?: by the name(?: of)?)? {name}",
        r"{subject}{wants} (?:that )?(?:people|others|everyone|everybody|you|the assistant) (?:to )?(?:call"
        r"|address) \w+(?: as)?"
        r" {name}",
        r"{subject}(?:{wants} to )?(?:goes|go) by (?:the (?:nick)?name (?:of )?)?{name}",
        r"(?:{clause}{user} (?:is|am) |^)(?:now |usually |also )?(?:called|named) {name}",
        r"{subject}(?:calls?|introduced|introduces) (?:themselves|themself|himself|herself|myself) (?:as )?{name}",
        r"{subject}(?:prefers?|uses?|took|taken|adopted|chose) the (?:nick|first )?name {name}",
        r"{subject}(?:answers|responds) to (?:the name )?{name}",
        r"{subject}changed (?:their|his|her|my) (?:first )?name to {name}",
        r"\b{users} (?:(?:first |last |family )?name|surname) (?:has |was )?changed to {name}",
        r"^(?:please |always )*(?:call|address) (?:the user|me)(?: as)? {name}",
        r"{name} is (?:{users} (?:preferred |chosen |first )?(?:nick)?name|what {user} (?:\w+ ){{1,4}}called"
        r"|how {user} (?:\w+ ){{1,4}}(?:called|addressed))",
        r"{clause}{user} (?:should|must) (?:always )?be (?:called|addressed as) {name}",
        r"^(?:user['’]s )?(?:preferred |first |nick)?name{colon}\S",
        r"\b{users} (?:\w+ )?{elders}(?: and {elders})? (?:named|called|christened|bapti[sz]ed) (?:them|him|her"
        r"|the user|me)(?: as)? {name}",
        r"{subject}(?:was|been) (?:christened|bapti[sz]ed|named)(?: as)? {name}(?! of\b)",
        r"\bname (?:on|in) {users} (?:[\w-]+ ){{0,2}}{papers} (?:is|reads|says) {name}",
        r"\b{users} (?:[\w-]+ ){{0,2}}{papers} (?:says?|reads?|shows?|states?|gives?|bears?|has|names?)(?: the name"
        r"| (?:their|his|her|my) name,?)? {name}(?: {name})*(?: on it)?[.!]?$",
        r"{subject}signs (?:(?:off|\w+ )?\w+ )?(?:as|with) {name}",
    ),
    Field.PRONOUNS: (
        r"\b{users} (?:preferred |personal |chosen |gender )?pronouns(?: (?:are|is)\b|{colon})[^.;]{{0,15}}?"
        r"(?:{pronouns}|\b(?:she|he|they|xe|ze|ey|fae|it|any|neutral)\b)",
        r"{subject}(?:addressed|referred to) (?:as|with|by) {pronouns}",
        r"{clause}{user} \({pronouns}\)",
        r"\bpronouns of {of_user}(?: are\b|{colon})",
        r"{subject}(?:uses?|goes by|go by|prefers?|takes?|using|going by|identif(?:y|ies) (?:with|as)|{wants}"
        r"(?: to (?:be (?:referred to|addressed)|use|go|be called))?(?: as| by| with)?)"
        r" (?:the )?(?:pronouns )?(?:{pronouns}|(?:she|he|they|gender-neutral|neutral|feminine|masculine"
        r"|any) pronouns)",
        r"{subject}{wants} (?:to use|that \w+ uses?|to be referred to (?:as|by|with)|to be addressed (?:as|by|with))"
        r" (?:{pronouns}|(?:gender-neutral|neutral) pronouns|(?:she|he|they)\b(?! \w+ \w))",
        r"^(?:please |always )*(?:use|refer to {of_user}|refer to me)\b[^.;]{{0,30}}(?:{pronouns}|pronouns)"
        r"(?=[^.;]*\b(?:user|me)\b|.{{0,3}}$)",
        r"{subject}{wants} [^.;]{{0,30}}?{pronouns}(?= (?:for|with|when|pronouns)\b|[.!]?$)",
        r"^(?:user )?(?:preferred )?pronouns{colon}\S",
        r"{clause}{user} (?:is|am) (?:an? )?(?:[\w-]+ )?{gender}(?=[.,;!]|$| (?:in|of|and) )",
        r"\b{users} (?:gender|sex)(?: is\b|{colon})",
    ),
    Field.CITY: (
        r"{subject}(?:lives?|resides?|living|residing|based|been (?:living|based)|settled|located|makes? \w+ home"
        r"|lodg(?:es?|ing)|(?:shares?|rents?) an? (?:[\w-]+ )?{dwelling}\b)"
        r"(?: [^.,;]{{0,40}}?)?,? (?:in|near|outside|around|on|at|close to) "
        r"(?:the (?:(?:city|town|village|suburbs?|cent(?:re|er)|outskirts|edge|coast|north|south|east|west|heart) of )?"
        r"|downtown |central |(?:north|south|east|west)(?:ern)? )?{place}",
        r"{subject}(?:lives?|resides?|based) in (?!(?:a|an|the|this|that|their|his|her|my|fear|peace|poverty"
        r"|harmony|denial|luxury|exile|debt|hope|pain|sin|solitude)\b)[\p{{L}}'’-]{{3,}}[.!]?$",
        r"{subject}(?:moved|relocated|emigrated|immigrated|(?:returned|went|came)(?= [^.;]*\bfor good\b))"
        r"(?: back| house| home| over)?(?: from [\p{{L}} ]{{2,30}}?)? to (?:the city of )?"
        r"{place}",
        r"{subject}(?:moved|came|went) to {place}(?=[^.;]*\bnever left\b)",
        r"{clause}{user} [^.,;]{{1,30}}? in {place}(?=[^.;]{{0,30}} and still (?:lives?|resides?) there\b)",
        r"{subject}(?<=\b(?:has|have) (?:\w+ )?)lived in {place}(?=[^.;]*\b(?:for|since|all)\b)",
        r"\b{users} (?:current |present |home |own )?(?:city|town|home|(?:place|city|town) of residence|residence"
        r"|home base|location|flat|apartment|house)(?: is\b|{colon})(?: now| currently)?(?: in| near)? ?{place}",
        r"\b{users} (?:home |postal |current )?address(?: is\b|{colon}) ?(?=[^.;]*\d|(?-i:\p{{Lu}}))",
        r"{subject}(?:calls? {place} (?:their |his |her |my )?home|(?:a |an )?(?:resident|inhabitant"
        r"|citizen) of {place})",
        r"{clause}{user} is an? (?:[\w-]+ ){{1,2}}(?:living|residing|based) in {place}",
        r"{subject}been in {place}(?=[^.;]*\bsince\b)",
        r"{subject}an? (?:[\w-]+ ){{0,2}}(?<=\b(?:has|have) an? (?:[\w-]+ ){{0,2}}){dwelling}"
        r"(?: [^.,;]{{0,30}}?)? (?:in|near) {place}(?![^.;]*\b(?:holidays?|summers?|weekends?|lets?|rents?)\b)",
        r"{clause}{user} is (?:a |an )?{place}[ -](?:resident|based)",
        r"{clause}{user} (?:is|am|works? as) an? (?:[\w-]+ ){{0,2}}{place}-based\b",
        r"{clause}{user}, an? (?:resident|inhabitant|citizen) of {place}|\b{users} (?:postcode|zip code) is\b",
        r"\b(?:home|city|(?:place|city|town) of residence) of {of_user} is (?:in )?{place}",
        r"{place} is (?:where {user} (?:(?:currently |now )?lives?|{habits})|{users} (?:current )?(?:home|city"
        r"|place of residence))\b",
        r"{subject}{habits} in {place}",
        r"{subject}(?:commutes?|(?:travels?|drives?|cycles?|walks?|rides?|goes) (?:in )?to work)(?: [^.,;]{{1,40}}?)?"
        r" from {place}",
        # The verb alone, since in "drove Ann to her home in Porto" it is hers.
        r"{subject}\w+ (?:\w+ly )?(?:to {place} )?(?:from|to|at|in|near) "
        r"(?:(?:their|his|her|my) (?:own )?(?:home|flat|apartment|house)|home) (?:in|near) {place}",
        r"{place} (?:has been|is) home to {of_user}\b",
        r"\b{users} (?:bed|front door|doorstep|letterbox|mailbox|own four walls|polling (?:station|place))"
        r" (?:is|are|stands?)"
        r" (?:\w+ )?in {place}",
        r"\b(?:city|town|place|village) (?:where|in which|that) {user} (?:currently |now )?(?:lives?"
        r"|resides?)(?: in)? is\b",
        r"^(?:user )?(?:current )?(?:home ?)?(?:city|town|location|(?:place of )?residence|lives|home){colon}\S",
    ),
    Field.LANGUAGE: (
        r"\b{users} (?:(?:preferred|main|primary|first|native|mother|everyday|usual|own|chosen|working) )*"
        r"(?:languages?|tongue)(?: for [^.;]{{0,30}}| of [^.;]{{0,20}})?(?: (?:is|are)\b|{colon}) ?(?:\w+ )?{language}",
        r"{subject}(?:a |an )?(?:native speaker of {language}|(?:native |fluent )?{language} speaker"
        r"|{language}-speaking)",
        r"{subject}{wants} (?:to use|using) {language}[.!]?$",
        r"{subject}(?:grew up|(?:was )?brought up|raised|learn(?:ed|t) to (?:talk|speak)) (?:\w+ )?(?:with|speaking|on"
        r"|in) (?:only )?{language}",
        r"{subject}(?:thinks?|dreams?|counts?|prays?|swears?|curses?)(?: and \w+)? (?:\w+ )?in {language}",
        r"{subject}learn(?:ed|t) {language} (?:from|in) (?:(?:the|their|his|her|my) )?(?:cradle|birth|crib"
        r"|mother|parents|home|infancy)",
        r"{subject}(?:(?:feels?|feeling) )?(?:more |most )?comfortable [^.;]{{0,25}}?{language}",
        r"{subject}{wants} {language} (?:answers|replies|responses|conversations?|messages)\b",
        r"{subject}(?:can )?(?<=\bonly )(?:speaks?|understands?|reads?) {language}",
        r"^(?:please |always )*use {language} (?:with|when|for|in)\b",
        r"\b(?:language|mother tongue) of {of_user} is {language}",
        r"\b{language} is {users} (?:(?:preferred|main|primary|first|native|mother) )*(?:language|tongue)",
        r"{subject}{wants} (?:[^.;]{{0,40}}?\b)?(?:answers?|repl(?:y|ies)|responses?|messages|explanations"
        r"|communication"
        r"|conversations?|everything|(?:to )?(?:be |being )?(?:answered|addressed|spoken to|written to|talk(?:ed)?"
        r"|speak|chat|communicate|converse|write|reply|respond)|communicating|speaking|talking|chatting|conversing)"
        r"\b[^.;]{{0,30}}? (?:in |only )?{language}",
        r"{subject}prefers? {language}(?: (?:over|to|as|rather|instead)\b|(?: (?:in|for) (?:all )?{talk})?[.!,]?$)",
        r"^(?:please |always |from now on,? )*(?:answer|reply|respond|write|speak|talk|chat|communicate)"
        r"(?: (?:to|with))?(?: (?:the user|me|them))?(?: only| always)? (?:in )?{language}",
        r"\b(?:answers?|replies|responses|explanations|conversations?|communication|messages)(?: (?:to|with"
        r"|for) (?:the user|me))?"
        r" (?:should|must|are to|needs? to|has to|have to) be (?:\w+ )?in {language}",
        r"{subject}(?:communicates?|converses?|speaks?|chats?) (?:only|mainly|mostly|primarily|exclusively|best)?"
        r"(?:(?<=s |e |k |t )in |(?<=\w{{4}}) (?:in )?){language}",
        r"^(?:user )?(?:(?:preferred|main|native|first) )?language{colon}{language}",
        r"{subject}(?:do(?:es)?(?:n['’]t| not)|can(?:['’]t| ?not)|hardly|barely|scarcely) (?:\w+ )?"
        r"(?:speaks?|understands?|reads?|knows?|follows?)(?: (?:an?|one|any|much|single|word|syllable|of|spoken"
        r"|written))* {language}",
        r"{subject}(?:(?:speaks?|understands?|knows?|reads?|has) (?:no|hardly any|little|broken)|never learn(?:ed|t))"
        r" (?:\w+ of )?{language}",
    ),
    Field.TONE: (
        r"\b{users} (?:preferred |favou?rite )(?:tone|style)(?: of (?:voice|conversation|communication))?(?: is\b"
        r"|{colon})",
        r"\b{users} (?:preferred )?(?:communication|answer|conversation) style(?: is\b|{colon})",
        r"{subject}(?:{wants}|{dislikes}) (?:(?!(?:his|her|their|from|of|about|boss)\b)[\w'’-]+,? ){{0,4}}?{tone}"
        r"(?:[^.;]{{0,25}}?){talk}{unless}",
        r"{subject}(?:{wants}|{dislikes}) (?:a|an|the) (?:(?!skin)[\w-]+,? ){{1,3}}(?:tone"
        r"|communication style)\b{unless}",
        r"{subject}{wants} (?:to keep )?(?:things|it|answers|replies)(?: kept| to be)? {tone}",
        r"{subject}(?:{wants}|{dislikes}) (?:no |more |less )?(?:brevity|(?:in)?formality|directness|conciseness"
        r"|bluntness"
        r"|emojis|small talk|jargon|slang)\b",
        r"\b(?:answers?|replies|responses|tone|explanations)(?: (?:to|for|with) (?:the user|me))? (?:should|must"
        r"|are to) be"
        r" (?:\w+ )?{tone}",
        r"{subject}(?:{wants}|{dislikes}) (?:[^.;]{{0,20}}?){talk}{unless}[^.;]{{0,25}}?(?:{tone}|\b(?:emojis?"
        r"|jargon|slang|humou?r|small talk|jokes|irony|sarcasm)\b)",
        r"{subject}(?:{wants}|{dislikes}) [^.;]{{0,30}}?\b(?:emojis?|humou?r|jokes|irony|sarcasm|small talk|jargon"
        r"|slang"
        r"|exclamation marks)\b[^.;]{{0,12}}{talk}",
        r"{subject}(?:{wants}|{dislikes}) (?:me |the assistant |you |us )?(?:to be|being) (?:addressed|spoken to"
        r"|talked to|answered|treated)"
        r" (?:[^.;]{{0,12}}?{tone}|(?:(?:in)?formally|politely|briefly|directly|casually)\b|with (?:du|sie|tu|usted"
        r"|vous)\b)",
        r"{subject}{wants} (?:me|the assistant|you|us) to be (?:more |less |very )?{tone}",
        r"^(?:please |always )*(?:keep|make) (?:the |your )?(?:answers|replies|responses|messages|explanations|it)"
        r"(?: (?:to|for) (?:the user|me))?(?: \w+)? {tone}",
        r"^(?:please |always )*be (?:more |less |very )?{tone} (?:with|to|towards|when) ",
        r"^(?:please |always )*(?:use|adopt|keep) an? [^.;]{{0,20}}tone\b",
        r"^(?:user )?(?:preferred )?tone(?: of voice)?{colon}\S",
    ),
    Field.GOAL: (
        r"^(?:one of )?{users} (?:(?:main|current|long-term|short-term|biggest|next|personal|new|big|ultimate|life"
        r"|new year['’]s) )*"
        r"(?:goals?|aims?|objectives?|ambitions?|dreams?|resolutions?)(?: (?:for|in|this"
        r"|of) [\w ]{{1,20}})?(?: (?:is|are)\b|{colon})",
        r"\b(?:goal|aim|dream|ambition) of {of_user} (?:this \w+ )?is\b",
        r"\bis (?:a|the|one) (?:\w+ )?(?:goals?|aim|dream|ambition) of (?:{of_user}\b(?!['’])|mine\b|{users} goals)",
        r"{subject}(?:aims?|strives?|aspires?|aiming|striving|working towards?|determined|set (?:themselves|himself"
        r"|herself)"
        r" (?:the|a) goal|(?<=\b(?:has|have) )(?:a|the) goal|preparing to|set an? goal|working on (?:losing|getting"
        r"|becoming|improving)|training for|saving (?:up )?for"
        r"|resolved) (?:to|of|at"
        r"|for|a|the|an|becoming|their|\w+)",
        r"{subject}(?:wants?|plans?|hopes?|intends?|would like|would love|planning|hoping|going|wish(?:es)?|decided"
        r"|trying)"
        r" to (?:learn(?! (?:about|how(?! to (?:play|cook|swim|drive|code|program|sew|knit|dance|sing|draw|paint|ski"
        r"|surf|ride|speak|bake))|more|what|why|whether|if)\b)|become|quit|give up|save|master|improve"
        r"|graduate|retire|pass|climb|lose (?:weight|[\w-]+ (?:kilos?|kg"
        r"|pounds))|stop \w+ing|run (?:a|the|their|his|her|another) [\w ]*(?:marathon|race)|finish (?:a|the"
        r"|their|his|her) [\w ]*(?:thesis|degree|book|novel|phd|dissertation)|write a (?:book|novel)|get (?:fit"
        r"|in shape"
        r"|healthier|an? (?:\w+ )?(?:degree|promotion|licen[cs]e|certificate|phd))|start (?:a|their|his"
        r"|her) (?:own )?(?:business|company)|open (?:a|their|his|her)"
        r"|read \d+"
        r"|exercise|eat healthier|be fluent|speak (?:fluent )?{language}|buy a (?:house|home|flat)|pay off|publish"
        r"|complete|achieve"
        r"|reach|cut down|drink less|spend (?:more|less) time|get promoted|change careers|switch careers|qualify"
        r"|get better)\b",
        r"{subject}dreams? of (?:becoming|opening|owning|running|writing|starting|publishing)\b",
        r"^goals?{colon}\S",
    ),
}
_HINTS: Mapping[str, str] = {
    Field.PREFERRED_NAME: "name|call|address|know|go by|goes by|introduc|answers to|responds to|alias|aka|a.k.a"
    "|christen|bapti|signs|passport|card|licen|diploma|certificate|visa|badge|tag|plate|lanyard|signature",
    Field.PRONOUNS: "pronoun|/|refer|man|male|girl|boy|lady|binary|gender|sex",
    Field.CITY: "liv|resid|based|settled|located|moved|migrat|return|for good|never left|lodg|city|town|home|location"
    "|address|flat|house|apart|bed|door|mailbox|letterbox|walls|postcode|zip|inhabitant|citizen|rent|commut|to work"
    "|polling",
    Field.LANGUAGE: LANGUAGES,
    Field.TONE: "tone|style|answer|repl|respon|explan|word|communic|convers|chat|emoji|humor|humour|jargon|slang|talk"
    "|treated|address|spoken|keep|make|brevity|formality|direct|concise",
    Field.GOAL: "goal|aim|object|ambition|dream|resol|striv|aspir|work|determined|train|sav|want|plan|hop|intend|would"
    "|going|wish|decided|trying|prepar",
}
"""Of these, or of the patterns, a sentence has one that sets a field. They are found many times as fast as patterns."""
_HINT_PATTERNS: Mapping[str, str] = {
    Field.PREFERRED_NAME: r"to (?:\w+ )?(?:friends|family|everyone)|{user}(?: \(|, ){name}|{name} over ",
    Field.PRONOUNS: r"\band\b",
    Field.CITY: "{habits}",
    Field.TONE: r"\bbe\b",
}


@dataclass(frozen=True, slots=True)
class _FieldPattern:
    """The hints of a field, patterns that follow the user as subject, and patterns for anywhere."""

    words: list[str]
    hint: regex.Pattern[str]
    predicate: regex.Pattern[str]
    anywhere: regex.Pattern[str]

    def finds(self, sentence: str, starts: Collection[int]) -> bool:
        """Whether a sentence sets the field; ``starts`` are the positions after its subject, if that is the user."""
        if not any(map(sentence.casefold().__contains__, self.words)) and not self.hint.search(sentence):
            return False
        return any(self.predicate.match(sentence, start) for start in starts) or bool(self.anywhere.search(sentence))


_READERS = {
    field: _FieldPattern(
        _HINTS[field].split("|"),
        compiled([_HINT_PATTERNS.get(field, "(?!)")]),
        compiled(each.removeprefix("{subject}") for each in said if each.startswith("{subject}")),
        compiled(each for each in said if not each.startswith("{subject}")),
    )
    for field, said in _SAID.items()
}
_SUBJECT = compiled(
    [r"(?:{clause}{user}(?: and (?:their|his|her|my) [\w-]+)?(?:, [^,.;]{{1,60}},)? |^)(?P<adverbs>{adverbs})"]
)
# "The user is a nurse and lives in Oslo." has a second verb, unless a relative clause about somebody else precedes it.
_USER_FIRST = compiled([r"^{user} "])
_SECOND_VERB = regex.compile(r"(?:,|,? and|,? but) (?=\p{Ll})")
_SOMEBODY_ELSE = regex.compile(r"\b(?:who|whose|whom|which|that|where)\b", regex.IGNORECASE)
SENTENCES = regex.compile(r"(?<=[.!;])(?<!\b(?:Dr|Mr|Ms|Mrs|St|Prof)\.)\s+|\n+")
_THE_USER = regex.compile(
    r"|(?:(?:the|this|our|my) )?(?:user|person|account (?:holder|owner)|me|myself|self|I|profile|identity"
    r"|biography|bio|basics|(?:personal )?(?:details|data|info(?:rmation)?|facts)|about (?:me|the user))",
    regex.IGNORECASE,
)
_IS = compiled([r"^{user} (?:is|am) (?P<what>(?-i:\p{{Lu}}\p{{Ll}})[\p{{L}}'’-]+)(?=[.!,]|$)"])
"""What the user is, in one word: a name ("The user is Lars.") unless it is in the dictionary ("… Catholic.")."""
_CALLED = regex.compile(
    r"^(?P<who>(?:everyone|everybody|people|friends|colleagues|(?:they|we) all) (?:\w+ )?(?:calls?|knows?)) "
    r"(?:her|him|them) ",
    regex.IGNORECASE,
)
"""An agent's pronoun that can only mean its user, as it names nobody else."""
_OWNED = regex.compile(r"^(?:the|their|his|her) (?=\p{Ll})", regex.IGNORECASE)
_PREFERRED = regex.compile(r"the (?:preferred|chosen) name\b", regex.IGNORECASE)
_OF_THE_USER = regex.compile(r"\b(?:(?i:user)|I|my|me)\b")
MAY_SET_A_FIELD = gettext_noop("This may say your name, your pronouns, your city or your language.")
"""Why a document with such a text waits: names, pronouns, city, language, tone and goals need consent."""
_LABEL = regex.compile(r"[\p{L} ]{3,40}[:=]\s*\S")
_OF_ANYBODY = regex.compile(r"\s*name\s*[:=]", regex.IGNORECASE)
# What a document of a few words may say of the person; a statement would say more.
PRONOUNS_ALONE = compiled(
    [r"^(?:the user is |I am |I['’]m |(?:my |the )?(?:preferred )?pronouns:? ?)?{pronouns}[.!]?$"]
)
_IN_FEW_WORDS = compiled([r"^(?:the user is|I am|I['’]m) (?!{language}){name}(?: {name})?[.!]?$"])  # fmt: skip


def field_of(content: str, subject: str = "", name: str = "", meaning: Meaning | None = None) -> str:
    """Return the first personal field that a statement sets, or ''.

    If ``subject`` is not the user, the statement must name them: "Lives in Porto." may be about anybody. ``name`` is
    the person's, with which a statement may begin. Without a matching rule the ``meaning`` is classified, if given.
    """
    field, judged = _said(content, subject, name)
    if field or meaning is None or not judged:
        return field
    by_meaning = field_by(meaning)
    is_open = is_doubtful(judged) and (by_meaning in {Field.TONE, Field.GOAL} or is_doubtful(without_what_was(judged)))
    is_elsewhere = by_meaning == Field.CITY and (tells_no_home(judged) or _IS.search(judged) is not None)
    return "" if is_open or is_elsewhere else by_meaning


@cached_briefly(maxsize=256)
def _said(content: str, subject: str, name: str) -> tuple[str, str]:
    """Return the field by the rules, or '', and the statement as one of the user, or '' if it is not of them.

    A write asks several times of one statement.
    """
    content, subject = as_shown(content), as_shown(subject)
    for own in filter(None, (name, name.partition(" ")[0])):
        if content.startswith(own) and content[len(own) :][:1] in {" ", "'", "’"}:
            content = f"The user{content[len(own) :]}"
    named = {name.lower(), name.partition(" ")[0].lower()}
    is_the_user = _THE_USER.fullmatch(subject) is not None or subject.lower() in named
    content = as_the_user(content, alone=is_the_user)
    if is_the_user and _OF_THE_USER.search(content) is None:
        content = _CALLED.sub(r"\g<who> the user ", content)
    if _OF_THE_USER.search(content) is None:
        if not is_the_user:
            return "", ""
        if subject or _PREFERRED.match(content):
            return _said(_OWNED.sub("The user's ", content, 1), "", name)
    for sentence in map(without_what_was, map(as_stated, SENTENCES.split(content))):
        if not is_doubtful(sentence):
            starts = _starts(sentence)
            for field, reader in _READERS.items():
                if reader.finds(sentence, starts):
                    return field, content
            if (said := _IS.search(sentence)) and not _in_dictionary(said["what"].lower()):
                return Field.PREFERRED_NAME, content
    return "", content


def _in_dictionary(word: str) -> bool:
    """Whether a word in lower case says what somebody is or where: "catholic", "libra"; not "lars" nor "peter"."""
    return is_word(word) or is_adjective(word) or is_place(word)


def may_set_field(document: str, name: str = "") -> bool:
    """Whether a document of any form may say a personal field: by a label or key ("city: Oslo"), or in few words."""
    shown = as_shown(document).strip()
    labels = (each for each in labelled(shown) if _LABEL.match(each) and not _OF_ANYBODY.match(each))
    if any(field_of(each, "", name) for each in labels):
        return True
    if len(shown) > SHORT_CHARACTERS:
        return False
    return bool(
        PRONOUNS_ALONE.search(shown) or _IN_FEW_WORDS.search(shown) or field_of(about_the_user(shown), "", name)
    )


def names_the_user(text: str) -> bool:
    """Whether a text names the user, or speaks as them."""
    return _OF_THE_USER.search(as_the_user(as_shown(text))) is not None


def _starts(sentence: str) -> set[int]:
    """The positions of predicates about the user: before and after the adverbs that follow the subject."""
    starts = {place for match in _SUBJECT.finditer(sentence) for place in (match.start("adverbs"), match.end())}
    if _USER_FIRST.match(sentence):
        for match in _SECOND_VERB.finditer(sentence):
            if _SOMEBODY_ELSE.search(sentence, 0, match.start()):
                break
            adverbs = _SUBJECT.match(sentence[match.end() :])
            starts |= {match.end(), match.end() + (adverbs.end() if adverbs else 0)}
    return starts
