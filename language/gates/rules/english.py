"""Text aimed at a model, in English."""

from __future__ import annotations

from .base import COMMAND, DISCLOSURE, EXFILTRATION, GO, MARKER, OVERRIDE, PERSONA, Rule

# Somebody is told of, who does it: no command.
_TOLD_OF = (
    r"\b(?:would|could|might|will|did|does|do|didn't|don't|doesn't|wouldn't|couldn't|never|often|always|sometimes"
    r"|usually|they|we|who|people"
    r"|children|parents|students|men|women|[a-z]+s)\s+"
)
_NOT_TO_YOU = rf"(?:{_TOLD_OF}|(?<!you )(?<!have )\b(?!you)\w+ (?:not )?to )"

_EN_NOUN = (
    r"(?:instructions?|prompts?|directives?|guidelines?|commands?|programming|guardrails|safeguards|polic(?:y|ies)"
    r"|constraints"
    r"|system messages?|context|messages|training|restrictions|directions|rules|orders)\b"
)
_EN_WHICH = (
    r"(?:previous|prior|above|earlier|preceding|former|foregoing|existing|original|initial|current|system|developer"
    r"|safety|other|past)"
)
_EN_FILL = (
    r"(?:(?:all|any|every|each|the|of|your|my|these|those|this|that|its|their|and|or|everything|anything|what)\s+){0,5}"
)

ENGLISH = [
    Rule(
        OVERRIDE,
        (
            "ignor",
            "disregard",
            "forget",
            "overrid",
            "bypass",
            "neglect",
            "discard",
            "attention",
            "follow",
            "obey",
            "aside",
            "abandon",
            "drop",
        ),
        r"\b(?:ignore|disregard|forget|override|bypass|neglect|discard|abandon|drop|set aside|pay no attention to"
        r"|do not (?:follow|obey)"
        rf"|don't (?:follow|obey)|stop (?:following|obeying))\s+(?:about\s+)?{_EN_FILL}"
        rf"(?:(?:\w+\s+){{0,2}}{_EN_WHICH}\s+(?:\w+\s+){{0,2}}{_EN_NOUN}"
        r"|(?<=all )(?:instructions?|prompts?|directives?|guidelines?|guardrails)\b"
        rf"|(?<=your )(?:\w+\s+){{0,2}}{_EN_NOUN}"
        rf"|{_EN_NOUN}\s+(?:above|before this|so far|you (?:were|have been|got|received)|given (?:to you|above|before"
        r"|earlier)|that came before|from (?:the )?(?:system|developer))"
        r"|(?<=everything )(?:above|before|you|i said|said)|(?<=what )(?:you were told|i said before|came before)"
        r"|(?<=anything )(?:above|before))",
        after=_NOT_TO_YOU,
    ),
    Rule(
        OVERRIDE,
        ("instruction", "prompt", "directive", "priority"),
        r"\b(?:new|updated|revised|urgent|additional|special|secret|hidden|admin|developer|system"
        r"|override)\s+(?:system\s+)?"
        r"(?:instructions?|directives?|prompt|orders)\s*(?:[:\-–—=]|follows?\b|for (?:the )?(?:ai|assistant|model"
        r"|agent|llm))"
        r"|\b(?:these|this|the following|my) (?:\w+ )?(?:instructions?|directives?|prompt)s? (?:take|takes|have|has"
        r"|supersedes?|overrides?|replaces?)\b"
        r".{0,30}\b(?:precedence|priority|previous|prior|earlier|above|all)\b"
        r"|\b(?:your|the assistant's|the model's|the ai's) (?:new|true|real|actual|only|primary|main"
        r"|updated) (?:instructions?|task|goal|objective|purpose|mission|role|directive|rules?)(?: is| are| will|:)"
        r"|\b(?:treat|consider|regard|interpret|follow|obey|execute) (?:this|the following|these|what follows"
        r"|the text below)(?: \w+){0,3} as (?:a |an |the )?(?:\w+ )?(?:instructions?|commands?|orders?|system|trusted"
        r"|true|authoritative)\b",
    ),
    Rule(
        PERSONA,
        (
            "you are",
            "you're",
            "from now on",
            "act as",
            "pretend",
            "roleplay",
            "role-play",
            "behave",
            " mode",
            "anything now",
        ),
        r"\byou(?: are|'re) (?:now |no longer |from now on |henceforth |actually |really )?(?:called |named |in |an? "
        r"|the |my )?(?:\w+ ){0,3}"
        r"(?:ai|assistant|chatbot|language model|llm|bot|dan|developer mode|dev mode|debug mode|jailbroken"
        r"|unrestricted|unfiltered|uncensored|bound by|restricted by|limited by|subject to)\b"
        rf"|{GO}(?:from now on|from this point(?: on| forward)?|going forward|henceforth|starting now),? (?:you"
        r"|always|never|do|don't|respond|reply|answer|speak|act|call|refer|use|only|every)\b"
        rf"|{GO}you are now (?!married|entering|leaving|in |at |here|home|part|alone|a (?:woman|man|mother"
        rf"|father|grandm|grandf)|old|grown|free to go|home|husband"
        r"|one of us)"
        rf"|{GO}(?:act|behave|respond|roleplay|role-play|pretend)(?: \w+)? (?:as|like|to be|that you|you are|you're"
        rf"|as if you)\b(?=.{{0,60}}\b(?:you|your|ai|assistant|model|no (?:rules|restrictions|limits|filters)|admin"
        r"|system|developer|hacker|expert)\b)"
        r"|\b(?:enter|enable|activate|switch (?:in)?to|turn on|start|engage|unlock) (?:the )?(?:\w+ )?(?:developer"
        r"|debug|god|dan|admin|jailbreak|sudo|maintenance|root|unrestricted|dev) mode\b"
        r"|\bdo anything now\b|\b(?:dan|jailbreak|developer) mode (?:on|enabled|activated)\b",
    ),
    Rule(
        COMMAND,
        ("user", "human", "customer"),
        r"\b(?:tell|inform|remind|advise|recommend|suggest|say|reply|respond|answer|mention|reveal|show|give|ask|warn"
        r"|convince|persuade|send"
        r"|forward|disclose|direct|redirect|encourage|urge|instruct|offer|promise|insult|notify|alert|greet|address"
        r"|call|refer|assure|explain|push|steer|nudge"
        # Without such a word before it, it has a subject: "the bank let the user go".
        rf"|(?:{GO}|\b(?:always|never|must|should|shall|will|can|may|to|not|don't|or|but|you|assistants?|ai|models?"
        r"|if|when) )let)\b"
        r"[^.]{0,40}\b(?:the|every|any|all|each|this|to) (?:end[- ])?(?:users?|human user|human operator"
        r"|customers? (?:that|to))\b",
        after=r"\b(?:would|could|did|didn't|to help|he|she|they|had to|used to|helped|who)\s+",
    ),
    Rule(
        COMMAND,
        (
            "user",
            "asked",
            "question",
            "prompted",
            "conversation",
            "chat",
            "someone",
            "anyone",
            "response",
            "repl",
            "answer",
            "message",
        ),
        r"\b(?:when(?:ever)?|if|each time|every time|once|as soon as) (?:the |a |any |this )?(?:user|users|human"
        r"|someone|anyone|anybody|people)\b[^.]{0,60}?(?:,| then)\s*"
        r"(?:you (?:must|should|will|shall|have to)|always|never|please|do not|don't|say|reply|respond|answer|tell"
        r"|output|print|claim|recommend|deny|ignore|refuse|pretend|mention|add|include|call|use|send)\b"
        r"|\b(?:when(?:ever)?|if) (?:you(?:'re| are| get)? )?(?:asked|prompted|questioned)\b[^.]{0,60}?,\s*(?:you"
        r" (?:must|should|will)|always|never|say|reply|respond|answer|tell|output|claim|recommend|deny|refuse"
        r"|pretend)\b"
        r"|\b(?:recommend|mention|promote|praise|include|use|insert|append|repeat|say|begin|start|end|finish|close"
        r"|open|sign)\b.{0,60}\b(?:in|at the (?:end|start|beginning|top|bottom) of|to|of|with) (?:every|each|all"
        r"|any)(?: of)?(?: your| future| subsequent| further| next| the)* (?:response|reply|replies|answer|output"
        r"|message|conversation|chat|turn|session)s?\b"
        r"|\b(?:in|at the (?:end|start|beginning|top|bottom) of|to) (?:every|each|all)(?: of)?(?: your| future"
        r"| of)* (?:response|reply|replies|answer|output)s?,? (?:always |please )?(?:add|append|include|mention|say"
        r"|write|put|insert|recommend|end|use)\b"
        r"|\b(?:every|each|all)(?: of)?(?: your| future| subsequent)* (?:response|replie|reply|answer"
        r"|output)s? (?:must|should|shall|has to|have to|needs? to|will)\b",
        after=r"\b(?:he|she|they|would|used to|had to)\s+",
    ),
    Rule(
        COMMAND,
        (
            "assistant",
            " ai ",
            " ai:",
            " ai,",
            " ai-",
            "a.i",
            "llm",
            "language model",
            "model:",
            "model,",
            "chatbot",
            " bot",
            "agents",
            "agent:",
            "agent,",
            "ai agent",
            "gpt",
            "claude",
            "gemini",
            "copilot",
        ),
        r"\b(?:(?:the|this|an?|any|every|all|your|dear|attention|note to|to the|hey|hello|hi) (?:\w+ )?(?:a\.?i\.?|llm"
        r"|chat ?bot|chatgpt|claude|gpt(?:-?\d\w*)?|gemini|copilot"
        r"|(?:ai|language|chat|virtual|digital|large language) (?:assistant|model|agent|system|bot)|assistant"
        r"|bot)s?)\b(?: (?:that|which|who|reading|also|now|here|in|of|for|with|and"
        r"|processing)\b(?: \w+){0,5}?)?\s(?:must(?! have)|should(?! have)|shall|has to|have to|needs? to|is to"
        r"|are to|ought to|may not|cannot"
        r"|can not"
        r"|(?:is|are) (?:required|instructed|allowed|permitted|authori[sz]ed|ordered|obliged|obligated|expected"
        r"|supposed|programmed|commanded) to|will (?:always|never|now)|always (?:says?|repl|respond|answer|recommend"
        r"|obey)|can safely)\b"
        rf"|{GO}(?:dear |hey |hi |hello |attention |note to |message (?:to|for) |instructions? (?:to|for) |to "
        r"|for )(?:the |any |all |every |future |an? )*(?:ai|llm|assistant|chatbot|chatgpt|claude|gpt|gemini|copilot"
        rf"|(?:ai|language|chat) ?(?:assistant|model|agent|bot)|model|agents?)s?(?: \w+){{0,4}}\s*[:,!\-–—]"
        r"|\bas an? (?:ai|ai (?:assistant|model|agent)|language model|assistant|llm|chatbot),? (?:you|always|never"
        r"|it is your|your)\b",
    ),
    Rule(
        COMMAND,
        ("user", "them", "him", "anyone", "human"),
        rf"(?:{GO}|\byou (?:must|should|will|shall|may|can) )(?:do not|don't|never|not|without)\s+(?:ever\s+)?(?:tell"
        r"|inform|mention|reveal|notify|alert|disclose|let|telling|informing|mentioning|notifying|alerting)\b"
        r"[^.]{0,40}\b(?:users?|humans?|(?:that )?you (?:were|are|have|received|read|got)|this (?:instruction|message"
        r"|note|prompt|rule))\b",
    ),
    Rule(
        COMMAND,
        ("memor", "remember", "trust", "confirm", "permission", "approv", "authori", "secret"),
        rf"(?:{GO})(?:save|store|add|write|record|keep|put|commit|remember|persist)\b[^.]{{0,60}}\b(?:(?:to|in|into"
        r"|as) (?:your |the )?(?:long[- ]term |permanent |persistent |core )?memor(?:y|ies)(?! of)|permanently"
        r"|for (?:all )?future (?:sessions|conversations|chats))\b"
        rf"|(?:{GO})(?:delete|erase|wipe|clear|overwrite|purge|modify) (?:all |every |the |your |other "
        r"|any )+(?:\w+ )?(?:memor(?:y|ies)|stored facts|facts about|notes about the user)\b"
        r"|\bwithout (?:asking|requiring|waiting for|seeking|any) (?:the )?(?:user'?s? )?(?:for )?(?:confirmation"
        r"|permission|approval|consent)\b"
        r"|\b(?:user|admin|developer|owner|operator) has (?:already )?(?:approved|authori[sz]ed|granted|consented"
        r"|given (?:full |you )?(?:permission|consent|access))\b"
        rf"|{GO}remember to (?:always|never)\b",
    ),
    Rule(
        DISCLOSURE,
        (
            "prompt",
            "instruction",
            "memor",
            "guideline",
            "credential",
            "key",
            "history",
            "configuration",
            "know about",
            "stored",
            "context",
        ),
        rf"(?:{GO}|\byou (?:must|should|will|shall|need to) )(?:\w+ )?(?:reveal|print|show|repeat|output|leak"
        r"|disclose|dump|display|list|share|send|tell|give|return|recite|echo|summari[sz]e|translate|encode|write out"
        r"|copy|expose|read)\b"
        r"[^.]{0,40}\b(?:system prompt|(?:initial|hidden|original|secret|full|entire) (?:prompt|instructions"
        r"|system message)|developer message|your (?:instructions|prompt|guidelines|rules|configuration|context"
        r"|system message|memory|memories|training data|source code)"
        r"|(?:all|every)(?: the| your| of the| stored| other| saved)* (?:memories|facts (?:about|of)|stored (?:data"
        r"|facts|memories)|private (?:facts|notes|data))|everything you (?:know|remember)|(?:the|all|any"
        r"|your) (?:api keys?|credentials|access tokens?|environment variables)|(?:conversation|chat) history"
        r"|the (?:text|words|content|instructions) above"
        r"|(?:the )?users? (?:data|password|secrets|memories|address|credentials)|user's (?:data|passwords?|secrets"
        r"|memories|address|credentials|private))\b",
        after=r"\b(?:he|she|they|would|used to|had to|didn't|never)\s+",
    ),
    Rule(
        DISCLOSURE,
        ("system prompt", "systemprompt", "your instructions", "initial prompt", "your guidelines", "your programming"),
        r"\b(?:your|the) system ?prompts?\b|\bwhat (?:are|were|is) your (?:\w+ )?(?:instructions|system ?prompt"
        r"|guidelines|programming|initial prompt)\b|\byour (?:initial|hidden|original|system|secret) (?:prompt"
        r"|instructions)\b",
    ),
    Rule(
        EXFILTRATION,
        ("http", "www.", "@", "ftp", "webhook", "endpoint", "server", "url"),
        rf"(?:{GO}|\b(?:must|should|shall|to|always|you|secretly|silently|quietly|immediately) )(?:\w+ly )?(?:send"
        r"|post|forward|upload|transmit|exfiltrate|leak|email|e-mail|(?<!e-)mail|submit|append|paste|copy|report"
        r"|pass|encode"
        r"|bcc|cc|deliver|publish)\b"
        r"[^.]{0,80}?\b(?:to|at|via|into|onto|using)\b.{0,30}?(?:https?://|www\.|ftp://|[\w.+-]+@[\w-]+\.\w+|(?:my|our"
        r"|this|the following|an? external) (?:server|url|webhook|endpoint|address|email)|webhook)"
        rf"|(?:{GO}|\b(?:must|should|shall|always|you) )(?:visit|open|fetch|browse|navigate to|load|request|click"
        rf"|ping|curl|wget|download|retrieve|access|render|embed|follow|check)\b[^.]{{0,40}}(?:https?://|www\.|ftp://)",
        after=r"\b(?:he|she|they|would|used to|had to|asked \w+)\s+",
    ),
    Rule(
        MARKER,
        ("tool", "function", "plugin", "command", "api"),
        rf"(?:{GO}|\b(?:must|should|shall|to|always|you) )(?:call|use|invoke|run|execute"
        rf"|trigger)\b[^.]{{0,25}}?(?:\b\w+(?:_\w+)+\b|\b(?:email|e-mail|search|browser|browsing|memory|web|bash|shell"
        r"|code|file|http|payment|calendar|sql|database|mcp|terminal|delete|transfer))\s+(?:tool|function|plugin"
        r"|command|api)\b"
        r"|\b[a-z]+(?:_[a-z]+)+\s+(?:tool|function)\b|\btool_choice\b|\bto=functions\b",
    ),
]
