"""Text in English that speaks to a model which reads it, and lines that pass for what Keepsake itself writes."""

from __future__ import annotations

from .base import COMMAND, DISCLOSURE, GO, MARKER, OVERRIDE, PERSONA, Rule, any_of

_MODEL = (
    r"(?:a\.?i\.?s?|llms?|(?:ai|language|chat|large language) (?:models?|assistants?|agents?|systems?|bots?)"
    r"|chat ?bots?|assistants?"
    r"|models?|agents?|bots?|summari[sz]ers?|extractors?)"
)
_READS = (
    r"(?:read|see|process|summari[sz]|retriev|recall|load|pars|receiv|ingest|index|analy[sz]|stor|scan|handl"
    r"|encounter|view|consum"
    r"|import|extract)(?:e|es|s|ing|ed)?"
)
_THIS = (
    r"(?:this|these|the following|the above|my) ?(?:is\b|,|\w+ )?(?:note|text|memory|message|record|entry|line"
    r"|file|document|fact"
    r"|data|prompt|conversation|summary|sentence|paragraph|statement|passage|content|page|string|block|item|,|:|$)"
)

ADDRESSED = [
    Rule(
        COMMAND,
        any_of(
            "summar|repl|response|answers|conversation|chat|hereby|authori|allow you|permit you|order you|command you"
            "|instruct you|you have been|you are|you were|from this|from here|from the next|no matter what"
            "|assistant|agent"
            "| ai |model|the user|the person|anyone|anybody|someone|somebody|people|count|system message"
            "|system prompt"
            "|system instruction|developer message"
        ),
        r"\b(?:summaries|replies|responses|answers|conversations?|chats?) (?:of|in|to|from|about|with"
        r"|on) [^.]{1,30} (?:must|should|have to|has to|are to|is to|shall)\b"
        r"|\bi (?:hereby|herewith) (?:grant|authori[sz]e|permit|allow|order|command|instruct|declare|release"
        r"|consent|agree|give|approve|confirm|waive)\b|\b(?:authori[sz]e|permit|allow|order|command|instruct|require"
        r"|direct) you to (?:\w+ly )?(?:disclose|share|reveal|send|tell|ignore|answer|act|give|delete|store|use)\b"
        r"|\byou (?:have been|are|were)(?: now| hereby)? (?:granted|authori[sz]ed|allowed|permitted|instructed"
        r"|ordered|required|programmed|configured|commanded|cleared|given (?:\w+ )?(?:access|rights"
        r"|privileges|permission))\b|\bfrom (?:this|here|the next) (?:\w+ )?(?:on|forward|onwards?),? (?:you"
        r"|always|never|answer|reply|respond|disregard|ignore|obey)\b"
        r"|\bno matter what\b[^.]{0,30}, (?:you|always|only|just|never|answer|reply|say)\b|\b(?:rules?"
        r"|instructions?|orders|polic(?:y|ies)|directives?|tasks?|prompt) for (?:the|all|any|every) (?:\w+ )?"
        r"(?:assistants?|ais?|agents?|models?|bots?)\b|\bthe (?:user|person) (?:must|should|shall|has to|is to"
        r"|needs to) (?:not |never )?(?:be (?:told|informed|convinced|persuaded|made|led|kept|charged"
        r"|directed|deceived)|believe|think|trust|pay|click)\b|\b(?:should|if|when|whenever) (?:anyone|anybody"
        r"|someone|somebody|people|users|the person|the user)\b[^.]{0,70}, (?:you |please |always "
        r"|simply |just )*(?:claim|say|tell|deny|answer|reply|respond|state|pretend|insist|lie|output|refuse"
        r"|name|recommend|mention)\b|\bcounts? as (?:an? |the )?(?:system|user|admin\w*|developer|owner"
        r"|trusted|verified) ?|\bsystem (?:messages?|prompts?|instructions?)\b|\bdeveloper messages?\b",
        after=r"\b(?:he|she|they|we) (?:would )?\s*",
    ),
    Rule(
        COMMAND,
        any_of("you |your |you'"),
        r"\byour (?:\w+ )?(?:guidelines|instructions|configuration|programming|operators?|developers?|creators?"
        r"|repl(?:y|ies)|responses|outputs?|restrictions"
        r"|prompts?|context|training|guardrails|safeguards|moderation|system|model|makers|policy|policies)\b"
        r"|\b(?:into|in|to|from) your (?:\w+ )?memory\b|\byou(?: are|'re) (?:now )?(?:\w+'s |my |our |his |her "
        r"|the |an? )?(?:\w+ ){0,2}(?:ai|agent|assistant|bot|chatbot|servant"
        r"|language model)\b|\byou (?:no longer|never|don't|do not|needn't|need not) (?:need to |have to "
        r"|must )?(?:ask|obey|confirm|respect|answer to|serve|follow)\b"
        r"|\byou (?:had|have|know|recogni[sz]e|accept|follow|obey|are under|are bound by) (?:no|zero"
        r"|not any) (?:more |such )?(?:rules|limits|restrictions|filters"
        r"|boundaries|guidelines|constraints|ethics|morals|limitations|instructions)\b|\b(?:whenever|when|if"
        r"|every time|each time|before|after|while) you (?:summari[sz]e"
        r"|respond|generate|recall|process|store|save|compose|are (?:asked|prompted|queried)|answer (?:the|a"
        r"|any)|reply to (?:the|a|any))\b"
        r"|\b(?:this|these|that|the following) (?:memory|note|rule|instruction|entry|record|message|fact"
        r"|line)s? (?:outranks?|overrules?|overrides?|supersedes?|takes? (?:precedence"
        r"|priority)|replaces?|has priority|beats?|trumps?|comes? before|counts? more)\b",
    ),
    # Our own lines: of the memory block, the difference and the delta, and of what was said.
    Rule(
        MARKER,
        any_of("id:|imp=|(shared)|(personal)|now: [|new: [|updates since|in place of:|user:|assistant:"),
        r"\[\s*id\s*:|\bid:[0-9a-z]{8}\b|\(imp\s*=|\]\s.{1,300}\((?:shared|personal)\)|\b(?:new|now): \["
        r"|\bmemory updates since"
        r"|in place of: \S|\[\d{4}-\d\d-\d\d\] (?:user|assistant|system|tool)\b",
    ),
    Rule(
        MARKER,
        any_of("[|add:|withdrawn:|archive|update:|reject"),
        r"(?:^|[.!?] |\s)(?:[-*•] )+\[(?:id|\d{4}-\d\d-\d\d|[a-z]{3,20})\] |[+~*-](?:add|update|archived?"
        r"|rejected|withdrawn|merged?|created?"
        r"|restored?|removed?|deleted?)\s*: ?\[|^\[\d{4}-\d\d-\d\d\] \[",
    ),
    Rule(
        MARKER,
        any_of("notice|override|note|alert|command|message|instruction|update|directive|announcement|memo"),
        r"\b(?:system|admin(?:istrator)?|developer|root|moderator|operator|security) (?:notice|override|note"
        r"|alert|command|message"
        r"|instructions?|update|directive|announcement|memo)\b\s*(?:[:\-–—=!#\]>*]|$)|\badmin override\b"
        r"|\b(?:note|message|hint|instructions?|reminder|memo|warning|attention|orders?|memory|info) (?:to"
        r"|for) (?:the |any |all |every "
        rf"|whoever |future |whichever |other )*(?:\w+ )?{_MODEL}\b\s*[:,\-–—!]|\bfor (?:the )?{_MODEL}(?: only"
        rf"| eyes only)\b",
    ),
    Rule(
        OVERRIDE,
        any_of("instruction|directive|prompt|guideline|rules|orders|restriction|filter|safety|limit|polic"),
        r"\b(?:previous|prior|earlier|above|preceding|former|original|system|initial|existing"
        r"|old) (?:\w+ )?(?:instructions?|prompts?|(?<=above )rules|(?<=above )text"
        r"|system prompt|directives?)\b.{0,40}\b(?:void|obsolete|outdated|cancell?ed|revoked|invalid|superseded"
        r"|replaced|suspended"
        r"|overridden|null|lifted|expired|no longer|not apply|don't apply|rescinded|withdrawn|wrong|a test|fake"
        r"|ignored?|dropped)\b"
        r"|\b(?:all|any|your) (?:\w+ )?(?:guidelines|directives|rules|orders|instructions|restrictions"
        r"|limitations|limits|filters"
        r"|guardrails|safeguards|constraints|training)\b.{0,25}\b(?:void|cancell?ed|revoked|invalid|superseded"
        r"|suspended|overridden"
        r"|lifted|removed|disabled|off|no longer|not apply|don't (?:apply|exist|matter)|do not (?:apply|exist"
        r"|matter))\b"
        r"|\b(?:your|all|the|any) (?:safety|content|security|ethical|moderation|ai) ?(?:\w+ )?(?:filters?|rules"
        r"|guidelines|protocols?"
        r"|checks|polic(?:y|ies)|restrictions|guardrails|measures)\b.{0,20}\b(?:disabled|off|lifted|suspended"
        r"|removed|deactivated"
        r"|bypassed|no longer)\b",
    ),
    Rule(
        OVERRIDE,
        any_of("instruction|directive|prompt|guideline|rule|order|told|command|programming|training|before"),
        rf"{GO}(?:you (?:must|should|can|may|will) )?(?:overlook|dismiss|scrap|scratch|skip|void|cancel|erase"
        rf"|delete|wipe|reset|drop|abandon"
        r"|discount|suppress|suspend|revoke|undo|omit|reject|toss|throw out|leave behind|break|violate|disobey"
        r"|do away with|pay no heed to"
        r"|take no notice of|give no weight to|stop obeying|don't listen to|do not listen to|don't mind"
        r"|never mind|forget about|forget|ignore"
        r"|disregard)\s+(?:about )?(?:all |any |every |each |the |of |your |my |these |those |this |that "
        r"|whatever |what |everything )*"
        r"(?:(?:previous|prior|earlier|preceding|former|above|original|initial|existing|current|system|other"
        r"|past|old|developer'?s?|safety)\b"
        r"[^.]{0,25}\b(?:instructions?|prompts?|directives?|guidelines?|commands?|orders|rules|programming"
        r"|training|context|messages)\b"
        r"|(?:you(?:'ve|'re| were| have| are)|they|anyone|anybody)\b[^.]{0,25}\b(?:told|taught|instructed|given"
        r"|said|learned|learnt|asked)\b"
        r"|(?:instructions?|prompts?|directives?|guidelines|rules|orders|commands)\b[^.]{0,20}\b(?:above"
        r"|before (?:this|that)|so far"
        r"|you (?:were|have|got))|(?:came|comes|was said|is written|stands|went|goes) (?:before|above)"
        r"|before this\b|above\b)"
        rf"|{GO}(?:ignore|disregard|forget|override|bypass) all (?:of )?(?:the |your |these |those )?(?:rules"
        rf"|orders|commands)\b",
    ),
    Rule(
        OVERRIDE,
        any_of("developer|creator|admin|operator|openai|anthropic|owner|programmer|maker|master|provider"),
        r"\b(?:this|the following|here) is (?:an? |the |your )?(?:\w+ ){0,2}(?:message|order|command|instruction"
        r"|directive|notice|request"
        r"|update|announcement|note) (?:from|by|of) (?:your|the) (?:\w+ )?(?:developers?|creators?"
        r"|administrators?|admins?|operators?|owners?"
        r"|makers?|programmers?|provider|system|team)\b|\bi(?: am|'m) (?:your|the|an?) (?:\w+ )?(?:developer"
        r"|creator|administrator|admin|operator"
        r"|programmer|maker|master|owner)\b[^.]{0,40}(?:grant|give|you|obey|reveal|must|show|access|comply|unlock)"
        r"|\b(?:as|from) your (?:\w+ )?(?:developers?|creators?|administrators?|admins?|operators?|owners?"
        r"|programmers?|makers?|master)\b"
        r"|\b(?:openai|anthropic|your (?:developers?|creators?|operators?|makers?)) (?:has|have|wants?|requires?"
        r"|instructs?|authori[sz]e[sd]?"
        r"|orders?|demands?|says?|told|asks?|expects?|lifted)\b",
    ),
    Rule(
        COMMAND,
        any_of(
            "read|process|summari|retriev|recall|load|pars|receiv|ingest|stor|scan|handl|analy|see|index"
            "|encounter|view"
            "|consum|import|extract"
        ),
        rf"\b(?:if|when|once|as soon as|after|whenever|while|upon|before|every time|on|by|since) (?:you(?:'re"
        rf"| are| have|'ve)? )(?:ever )?{_READS}"
        rf" (?:this|these|the following|the above)\b|\b(?:when|while|after|upon|before|once|on) {_READS} {_THIS}"
        rf"|\b(?:which|what|who)ever (?:{_MODEL} )?{_READS} (?:this|these|it)\b|\b(?:any|every|all|each|the"
        rf"|future|other|next|dear|to)? ?(?:\w+ )?"
        rf"{_MODEL},? (?:that |who |which |now |currently )?{_READS} (?:this|these|the following)\b",
    ),
    Rule(
        COMMAND,
        any_of("if you|which|what|you are|you're|hey|dear|attention"),
        r"\bif you(?:'re| are)(?: \w+)? (?:an? |the )?(?:\w+ )?(?:ai|language model|llm|assistant|chatbot|bot"
        r"|ai agent|model)\b"
        r"|\b(?:which|what)ever (?:ai|model|assistant|agent|llm|bot)\b|\byou,? the (?:ai|model|assistant|agent"
        r"|llm|bot)\b",
    ),
    Rule(
        COMMAND,
        any_of("answer|respond|response|reply|replies|speak|talk|write|output|say|print|repeat|summar"),
        rf"{GO}(?:you (?:must |should |will |shall |have to |are to |may |can )?)?(?:always|only|never"
        rf"|exclusively|henceforth|from now on|in future"
        r"|from here on(?: out)?|kindly),? (?:answer|reply|respond)\b[^.]{0,40}\b(?:with|in|as|like|using|by"
        r"|only|to)\b"
        rf"|(?:{GO}|\b(?:must|shall|will|should|are to) )(?:answer|reply|respond|speak|talk|write"
        rf"|communicate)(?: to \w+)? (?:only|exclusively"
        r"|solely|just|nothing|always)\b|\b(?:answer|reply|respond)(?:ing)? (?:to (?:\w+ ){1,3})?with (?:only "
        r"|just |exactly )?(?:the (?:single )?(?:words?|phrase"
        r"|sentence|text|string|code|following)|nothing but|exactly|[\"'“‘])"
        r"|\bin (?:all |every |each |any )?(?:of )?your (?:very )?(?:next |first |final |future |subsequent "
        r"|following |last |own )?(?:repl(?:y|ies)"
        r"|answers?|responses?|outputs?|summar(?:y|ies)|completions?)\b|\b(?:all|every"
        r"|each)(?: of)? your (?:\w+ )?(?:repl(?:y|ies)|answers?|responses?"
        r"|outputs?|messages|summar(?:y|ies))\b|\byour (?:next|first|final|future|subsequent) (?:reply|replies"
        r"|answers?|responses?|outputs?|messages?)\b"
        rf"|{GO}(?:say|print|output|echo|repeat|display|return|write|type)\s+(?:only|exactly|verbatim"
        rf"|the (?:following|exact|text|words?|phrase|string)\b"
        r"(?: \w+){0,3}(?: exactly| verbatim|:| and nothing| only| back))"
        rf"|{GO}(?:begin|start|end|finish|close|open|prefix|sign|conclude)(?: off)? (?:every|each"
        rf"|all)(?: of)?(?: your)? (?:answers?|repl(?:y|ies)"
        r"|responses?|messages?|outputs?|conversations?|chats?)\b",
        after=r"\b(?:he|she|they|would|used to|had to)\s+",
    ),
    Rule(
        COMMAND,
        any_of("user|comes up|mentioned|brought up|is named|discussed|asks|asked"),
        r"\bnext time (?:the |a )?(?:user|human)\b"
        r"|\b(?:when(?:ever)?|if|each time|every time|any time|once|as soon as) (?:the |a |an )?(?:user"
        r"|human)s?\b[^.]{0,70}?(?:,| then)\s*"
        r"(?!(?:he|she|they|it|that)(?:'s| (?:is|isn't|means?|was|has|wants?|likes?|prefers?|needs?|takes?|eats?"
        r"|drinks?)\b)"
        r"|a walk)\w+"
        r"|\b(?:when(?:ever)?|if|each time|every time|any time) [^.,]{1,40} (?:comes? up|(?:is|are"
        r"|gets?) (?:mentioned|brought up|named|discussed"
        r"|asked about)),? (?:then )?(?:you (?:must|should|will) )?(?:always |please )?(?:praise|mention"
        r"|recommend|claim|tell (?:them|the)|reply"
        r"|respond|deny|steer|insert|insist|state|promote|warn|suggest|advise)\b"
        r"|\b(?:no matter what|whatever) (?:the user|anyone|anybody|someone|somebody|people|they|is|you are"
        r"|you're) [^.]{0,20}(?:ask|say|want|type|write|tell)\w*,?"
        r" (?:always |only |never |you )?(?:\w+ )?(?:answer|reply|respond|say|output|print|claim|recommend|tell"
        r"|refuse|deny)\b",
        after=r"\b(?:he|she|they|would|used to|had to|knows|likes|asks|wants)\s+",
    ),
    Rule(
        COMMAND,
        any_of(
            "mark|flag|treat|consider|regard|approv|verif|classify|label|rank|accept|skip|disable|turn off|switch off"
            "|deactivate|delete|trust|rate "
        ),
        rf"{GO}(?:mark|flag|treat|consider|regard|verify|classify|label|tag|rank|accept|save|store|rate"
        rf"|count) (?:this|all|every|everything|the|these"
        r"|any|each)\b[^.]{0,50}\b(?:as|to be) (?:\w+ )?(?:approved|trusted|verified|true|important|reviewed"
        r"|confirmed|pinned|permanent|certain"
        r"|authoritative|system|(?:coming|said|written) (?:from|by) the (?:user|person|system|developer)"
        r"|from the (?:user|person|system|developer))\b"
        rf"|{GO}(?:\w+ )?approve (?:all|every|this|these|any|each|whatever|everything)\b|{GO}(?:skip|bypass"
        rf"|disable|turn off|switch off|deactivate|circumvent"
        r"|evade|suspend) (?:the |all |any |your |every )?(?:[\w']+ )?(?:review|approval|confirmation|moderation"
        r"|gates?|checks?|filters?|safety|logging|guardrails"
        r"|consent|safeguards|quarantine)\b|\bnever (?:delete|remove|forget|question|archive) (?:this (?:note"
        r"|memory|fact|entry|rule|line)|it\b.{0,20}\bmemor)"
        r"|\band never (?:delete|remove|archive) (?:it|this|them)\b",
        after=r"\b(?:he|she|they|would|used to|had to)\s+",
    ),
    Rule(
        COMMAND,
        any_of(
            "admin|access|rights|privilege|permission|root|whatever|obey|tools|comply|everything|refuse|mention|censor"
        ),
        rf"{GO}(?:give|grant|assign|award) (?:yourself|me|us|this \w+|him|her|them"
        rf"|\w+) (?:\w+ ){{0,2}}(?:admin\w*|full|root|write|unlimited|unrestricted"
        r"|elevated|superuser|owner)(?:'s)? (?:access|rights|privileges?|permissions?|scopes?|control|status)"
        rf"|{GO}(?:obey|comply with|execute|carry out|(?:do|believe|follow) (?:whatever|everything|anything"
        rf"|exactly what) (?!you)\w+ (?:says?|writes?|tells?|orders?|commands?"
        r"|asks?|demands?|wants?))\b(?! the (?:law|speed|traffic))|\b(?:use|call|invoke|run"
        r"|with) your (?:\w+ )?(?:tools?|functions?|plugins?|permissions|capabilities)\b"
        rf"|{GO}(?:never|do not|don't) (?:refuse (?:a|any|the|to|requests?|him|her|me|anything)|censor|moderate"
        rf"|apologi[sz]e and|disclaim|mention (?:your|that you|these|this"
        r" (?:rule|note|instruction|message)|the (?:system|instructions|prompt)))\b"
        r"|\bdo not apologi[sz]e\b.{0,40}\b(?:your|you)\b",
        after=r"\b(?:he|she|they|would|used to|had to)\s+",
    ),
    Rule(
        PERSONA,
        any_of(
            "your |the role|the character|the identity|persona|you will|you'll|you shall|you must|you have no"
            "|stop being|stop acting"
            "|pretend|imagine"
            "|no rules|no limit|no restriction|unrestricted|uncensored|you have been|jailbr"
        ),
        r"\byour (?:new |only |true |real )?(?:name|role|persona|identity|character|job|task|purpose|mission"
        r"|goal) (?:is|will be|shall be|becomes)(?: now)? "
        r"|\byour name is now\b"
        rf"|{GO}(?:assume|take on|adopt|play|slip into) the (?:role|persona|identity|character|part|personality) of\b"
        r"|\byou(?:'ll| will| shall| must)(?: now| henceforth| from now on| only| always)? (?:act|behave|pretend"
        r"|roleplay|respond|answer|reply|obey|comply|serve"
        r"|follow|ignore|play the|speak (?:only|like|as|in))\b"
        r"|\byou (?:have|know|recogni[sz]e|accept|follow|obey|are free of|are without) (?:no|any"
        r"|all) (?:more )?(?:rules|limits|restrictions|filters|boundaries"
        r"|guidelines|constraints|ethics|morals|limitations)\b|\byou have been (?:jailbroken|freed|liberated"
        r"|unlocked|reprogrammed|hacked|updated|reset)\b"
        rf"|{GO}stop (?:being|acting|behaving|pretending)(?: to be)?(?: like| as)? (?:an? |the "
        rf"|so )?(?:\w+ )?(?:assistant|ai|bot|model|helpful|polite|chatbot)\b"
        rf"|{GO}(?:pretend|imagine|act as if|suppose)[^.]{{0,60}}\b(?:your (?:rules|instructions|guidelines"
        rf"|limits|restrictions|filters)|you(?:'re| are) (?:an? )?(?:ai|unrestricted"
        r"|evil|free|not bound|uncensored))\b",
    ),
    Rule(
        DISCLOSURE,
        any_of("told|instructed|above|before|verbatim|word for word|hidden|your context|preceding|given"),
        r"\bwhat (?:were|are|have) you (?:been )?(?:told|instructed|given|asked|programmed)\b"
        r"|\b(?:everything|anything|the (?:text|contents?|words|lines?|instructions?|messages?|prompt"
        r"|sentences?)|all(?: the)?(?: text)?|what(?:ever)? (?:is|was|stands|comes"
        r"|came)) (?:\w+ )?(?:above|before|preceding|prior to) (?:this|that|the) (?:line|message|point|sentence"
        r"|text|note|conversation|prompt)\b"
        rf"|{GO}(?:repeat|print|output|copy|recite|show|reveal|quote|give)[^.]{{0,30}}\b(?:text|words|content"
        rf"|instructions|everything|message|prompt|lines?) (?:\w+ )?(?:above|before"
        r"|preceding)\b"
        r"|\b(?:hidden|secret|system|initial|original) (?:text|prompt|messages?|instructions?"
        r"|rules)\b[^.]{0,20}\byour?\b"
        rf"|\byour (?:context window|system message|hidden \w+|initial \w+ prompt)\b|{GO}(?:copy|print|repeat"
        rf"|output|recite|dump|leak|show)[^.]{{0,40}}\b(?:verbatim|word for word)\b"
        r"[^.]{0,30}\b(?:instruct|prompt|context|told)|\bprint it verbatim\b",
    ),
]
