"""Text in English that tells whoever reads it what to do with memories, answers and people."""

from __future__ import annotations

from .base import COMMAND, GO, Rule, any_of

_INSTRUCTION = r"(?:instruction|rule|order|command|directive|guideline|prompt)s?"
_KNOWN_TO_YOU = (
    r"(?:what(?:ever)?|everything|anything|all|that|which|notes?|facts?|instructions?|information|guidance|rules"
    r"|memories|things) you(?:'ve| have| may have| might have| were| are| had)? (?:ever )?(?:been )?(?:remember"
    r"|know|given|received|stored|hold|keep|told|have|learn(?:ed|t)"
    r"|got|taught|saved|seen?|shown|asked|collected|gathered)"
)
_DO = (
    r"(?:be rude|be nasty|be hostile|pass|relay|deliver|provide|supply|produce|place|substitute|quote|side|say"
    r"|tell|inform|assure|list"
    r"|enumerate|print|show|reveal|disclose|display|expose|leak|dump|give|hand"
    r"|send|post|forward|e-?mail|upload|transmit"
    r"|share|publish|end|begin|start|finish|close|open|insert|add|append|prepend|include|put|use|call|run|invoke"
    r"|execute|trigger|save|store|record|commit"
    r"|memori[sz]e|remember|persist|mark|flag|consider|treat|regard|act|behave|pretend|simulate|imagine|repeat"
    r"|recite|echo|output|return|respond|reply"
    r"|answer|ignore|forget|disregard|overlook|obey|follow|trust|believe|approve|confirm|authori[sz]e|transfer"
    r"|wire|grant|delete|erase|wipe|purge|archive"
    r"|remove|clear|reset|hide|conceal|withhold|suppress|keep|make|ensure|see|let|get|have|never|always|do not"
    r"|don't|stop|quit|cease|refuse|translate"
    r"|summari[sz]e|paraphrase|describe|explain|encode|decode|encrypt|fetch|visit|click|load|download|browse"
    r"|recommend|promote|praise|endorse|mention"
    r"|steer|push|nudge|persuade|convince|pressure|urge|warn|advise|ask|demand|request|switch|enable|disable"
    r"|activate|deactivate|enter|leave|replace"
    r"|rewrite|edit|alter|change|modify|update|set|assume|adopt|become|read|write|compose|draft|copy|paste"
    r"|export|report|claim|deny|lie|mislead|deceive"
    r"|trick|greet|address|insult|flatter|sign|rate|rank|score|prefer|prioriti[sz]e|accept|apply|comply|work"
    r"|help|speak|talk|impersonate|exfiltrate)(?!-)"
)
_OF_A_MODEL = (
    r"\b(?:(?:the |any |every |all |each |other )?(?:end[- ])?users?(?:'s|')?|ais?|chat ?bots?|llms?|(?:system "
    r"|initial |hidden )?prompts?|system message"
    r"|memor(?:y|ies) (?:that|about|saying|which|stating|store|block|bank)|(?:all|every|any|each|your|new|stored"
    r"|saved|these|private|other|earlier|previous"
    r"|whole|entire|hidden|internal|current|future|further|subsequent|upcoming) (?:of )?(?:the |your |these "
    r"|new |stored |saved |private |other |their |her "
    r"|his )?(?:\w+ )?(?:memor(?:y|ies)(?! of)|facts?|entries|records?|repl(?:y|ies)|responses?|answers|outputs?"
    r"|conversations?|chats?|sessions?"
    r"|instructions?|transfers?|transactions?|context|configurations?|guidelines|directives|credentials"
    r"|system settings|turns?)\b|your (?:\w+ )?(?:messages?"
    r"|answers?|tools?|settings|configuration|knowledge|database|owner|operators?|developers?|creators?|training"
    r"|behaviou?r)|debug\w* (?:mode|purposes|info\w*)"
    r"|the (?:talk|chat|conversation|session) (?:ends|begins|starts|is over)|(?:precedes|preceding|before"
    r"|above) (?:the|this) (?:conversation|chat|message"
    r"|prompt)|(?:archive|delete|memory|search|send|e-?mail|payment|admin|update|write|forget|erase) tool)\b"
)

DIRECTING = [
    Rule(
        COMMAND,
        any_of(
            "summar|answer|repl|response|assistants|agents|every agent|chatbot| ai |you should|you ought|your "
            "|you work|you speak|you act|you report"
            "|polic|permission|consent|approval|next person|next user|next one|conversation|chat|override|safety"
            "|facts|other members|you were|you have|you got"
            "|this is|recalling|retrieving|listing|describing|generating|list you|before you|before "
        ),
        r"\b(?:all|any|every|each|future|these|your) (?:\w+ )?(?:summaries|summary|answers?|repl(?:y|ies)"
        r"|responses?|chatbots?|ais)\b[^.]{0,50}\b(?:must|should|shall|needs? to|has to|have to|is to|are to)\b"
        r"|\b(?:assistants|(?:all|any|every|future|other) (?:\w+ )?agents?|chat ?bots?|the chat ?bot"
        r"|ais)\b[^.]{0,50}\b(?:must|should|shall|has to|have to|(?:is|are) (?:required|expected|asked|told"
        r"|ordered|instructed) to|will (?:pretend|claim"
        r"|say|tell|answer|act|recommend|refuse|obey))\b"
        r"|\byou (?:should|ought to) (?:always|never|only)\b|\byou (?:work|speak|act|answer|report"
        r"|listen) (?:only )?(?:for|to) \w+ (?:now|alone|only|from)\b|\bit is your (?:duty|job|task|role|purpose"
        r"|mission)\b"
        r"|\byour (?:new|real|true|only|next|sole) (?:orders?|instructions?|task|mission|rules?|role|job|owner"
        r"|master|boss|goal|purpose)\b|\byour (?:answers?|summaries|summary) (?:must|should|may|shall|will|has|have)\b"
        rf"|{GO}(?:do not|don't|never|stop) (?:following|follow|obey|obeying|apply|applying|respect) (?:the|any"
        rf"|all|your|this) (?:\w+ )?polic(?:y|ies)\b"
        rf"|{GO}(?:treat|take|accept|read|interpret|count|understand)\b[^.]{{0,40}}\bas (?:permission|consent"
        rf"|approval|an order|a command|an instruction|agreement|authori[sz]ation)\b"
        rf"|{GO}{_DO}\b[^.]{{0,40}}\b(?:the next (?:person|user|caller|one)|the facts (?:of|about|on)"
        rf"|other members|(?:every|each|any|all) \w+ you (?:produce|generate|write|create|give|send|make|output))\b"
        r"|\b(?:if|when|whenever|once|should) the (?:conversation|chat) (?:turns?|moves?|comes?|drifts?|gets?"
        r"|shifts?)\b[^.]{0,40}, (?!he\b|she\b|they\b|it\b|we\b|i\b)\w+"
        r"|\boverride\s*[:!]|\bsafety (?:is )?(?:off|disabled)\b|\b(?:rules|instructions|guidelines|orders"
        r"|prompts?) (?:that )?you (?:were|have been|had been|got|received)\b"
        r"|\bthis is (?:not an? (?:memory|note|fact|request) but|an? (?:\w+ )?(?:instruction|order|command"
        r"|directive) (?:to|for|from))\b"
        rf"|\b(?:when|while|before|after|whenever) (?:recalling|summari[sz]ing|retrieving|generating|listing"
        rf"|replying|responding)\b[^.]{{0,60}}, (?:always |please |you )*{_DO}\b"
        r"|\bbefore (?:you )?(?:answer|answering|reply|replying|respond|responding),",
        after=r"\b(?:he|she|they|would|used to|had to|could|did|didn't|i|we|who)\s*",
    ),
    Rule(
        COMMAND,
        any_of(
            "archive|store|overwrite|disclose|impersonat|invoke|execute|output|reveal|memoriz|memoris|persist|escalat"
            "|exfiltrat|persona|respond|json|yaml|xml|answer|card number|the person|preference|consent|agents|summar"
            "|proposal|act as|switch|request|secrets|bank details|importance"
        ),
        rf"{GO}(?:(?:do not|don't|never|always|please|kindly|silently|secretly) )*(?:overwrite|disclose"
        rf"|impersonate|invoke|memori[sz]e|escalate|exfiltrate|reveal (?:which|what|who|whether|all|the|any|every)"
        r"|(?<=never )archive|(?<=not )archive|archive (?:this|all|every|any)|(?<=not )store anything"
        r"|(?<=never )store anything"
        r"|store (?:this|that|the fact)|respond (?:in|with|as|like|to (?:any|every|all|the user)))\b"
        rf"|{GO}(?:answer|reply|respond|say) [\"'“‘]?(?:yes|no|ok|never|always|nothing)\b[\"'”’]? (?:to|whenever"
        rf"|when|if)\b"
        rf"|{GO}{_DO}\b[^.!?]{{0,70}}?\b(?:persona|json|yaml|xml|card numbers?|bank details|account numbers?"
        rf"|the person(?:'s)?|preferences|consent|(?:\w+'s|other|all|any|every|future) (?:ai )?agents?"
        r"|(?:all|every|any|each|your) (?:\w+ )?(?:summary|summaries|requests?|proposals?|secrets)|proposals"
        r"|importance)\b",
        after=r"\b(?:he|she|they|would|used to|had to|could|did|didn't|i|we|who|to)\s*",
    ),
    Rule(
        COMMAND,
        any_of(
            "you |to you|you'|asked|assistant| ai,| ai:|agent|model|chatbot| bot|approval|permission"
            "|confirmation|waiting"
            "|this entry|this memory|this fact|this rule|this instruction|this record|this note|this line"
            "|future |now on|_"
        ),
        r"\byou (?:must|shall|should|will|are to|have to|need to|may|can) (?:never|always|not|only|then|simply"
        r"|immediately|secretly|now)? ?(?:reveal|tell|say|mention|disclose|share|answer"
        r"|repeat|claim|deny|recommend|reply|respond|insist|confirm|admit|hide|conceal|forget|delete|store|save"
        r"|remember that)\b"
        r"|\b(?:when|if|whenever)(?: you're| you are| ever)? (?:asked|questioned|prompted)\b[^.]{0,60}, (?:you "
        r"|then |just |simply |always |please )*(?:say|answer|reply|respond|tell|claim|deny"
        r"|recommend|refuse|output|pretend|state|insist|lie|name|mention)\b"
        rf"|{GO}{_DO}\b[^.]{{0,60}}?(?:\b{_KNOWN_TO_YOU}\b|\b(?:given|told|shown|sent|said|known) to you\b"
        rf"|\bthis (?:entry|memory|fact|rule|instruction|record|note|line)\b"
        r"|\bfuture (?:chats?|conversations?|sessions?|messages|repl(?:y|ies)|requests?|questions?|turns?"
        r"|summar(?:y|ies))\b)"
        rf"|{GO}(?:answer|reply|respond|speak|talk|call|say|write|refer|address|act|behave|use|include"
        rf"|mention)\b[^.]{{0,60}}\b(?:from now on|from here on|henceforth|from this point)\b"
        rf"|{GO}(?:run|call|use|execute|invoke|trigger)\b[^.]{{0,15}}? [a-z]+_[a-z_]+\b|\btool_\w+\s*:"
        rf"|{GO}(?:stop|quit|cease) (?:asking|waiting|checking|seeking)(?: for)? (?:\w+ )?(?:approval|permission"
        rf"|confirmation|consent)\b"
        rf"|{GO}(?:speak|talk|write|answer|reply|respond|pose) as (?:if|though) you (?:were|are)\b|\b(?:do"
        rf"|doing) as (?:he|she|they|i) (?:says?|tells?|asks?|orders?|wants?)\b"
        r"|(?:^|[.!?] |\n)(?:o |oh |ok |okay |listen )?(?:dear |hey )?(?:ai )?(?:assistant|ai|model|chat ?bot"
        r"|agent|bot|llm|gpt|claude|gemini|summari[sz]er|system)[,:] "
        r"|\bfor (?:all|any|every|each) (?:future|coming|further|subsequent|following) (?:chats?|conversations?"
        r"|sessions?|messages|repl(?:y|ies)|requests?|questions?|turns?)\b",
        after=r"\b(?:he|she|they|would|used to|had to|could|did|didn't|i|we|who)\s*",
    ),
    Rule(
        COMMAND,
        any_of(
            "instruction|rule|order|command|directive|developer|owner|creator|administrator|operator|everything"
            "|anything"
            "|whatever|requests|question|fact|memories|entries|notes|the user|response|answers|speaks for|treat|regard"
        ),
        rf"\b(?:any|all|every|no) (?:other |later |further |subsequent |new )?{_INSTRUCTION} (?:that|which"
        rf"|coming|after|following|given|from|below)\b.{{0,40}}\b(?:invalid|void|ignored?|null|fake"
        r"|not count|worthless|no effect)\b|\b(?:developer|owner|creator|administrator|operator|author|maker"
        r"|master) of this (?:assistant|ai|model|system|bot|agent|app|service|memory)\b"
        rf"|{GO}(?:archive|delete|erase|remove|hide|suppress|purge|wipe|withhold|conceal|discard|leak|publish"
        rf"|share|send|export|reveal) (?:everything|anything|whatever) (?:that|which|about|against|on"
        r"|\w+ (?:said|knows|told|wrote))\b|\b(?:requests?|orders|wishes|commands|questions?) (?:from|by|of"
        r"|about|on|regarding|concerning) [^.]{1,40} (?:must|should|shall|are to|is to|have to|has to) be"
        r" (?:granted|obeyed|fulfilled|followed|honou?red|executed|approved|answered|redirected|forwarded"
        r"|deflected|ignored|refused)\b"
        r"|\b(?:facts?|memories|entries|notes) (?:\w+ ){0,5}(?:must|should|shall|are to|is to|may) (?:not "
        r"|never |always |only )?be (?:mentioned|shared|deleted|shown|disclosed|revealed|ignored|treated"
        r"|considered|sent|forwarded|trusted|kept from)\b|\bspeaks? for the (?:user|person)\b|\b(?:treat|regard"
        r"|consider|accept|recogni[sz]e) \w+ as (?:the |an? |your )?(?:user|owner|admin\w*|operator"
        r"|developer|person)\b|\b(?:every|all|each|any) (?:responses?|answers|replies|outputs?|summar(?:y"
        r"|ies)) (?:must|should|shall|has to|have to|needs? to|contains?|mentions?|includes?)\b",
        after=r"\b(?:he|she|they|would|used to|had to|could|did|didn't|i|we|who)\s*",
    ),
    Rule(
        COMMAND,
        any_of(
            "user| ai | ais |chatbot|chat bot|llm|prompt|memor|fact|entries|record|reply|replies|response"
            "|answers|output"
            "|conversation|chat|session|instruction|transfer|transaction|context|configuration|guideline|directive"
            "|credential|your |debug| tool|talk|system message|turns"
        ),
        rf"{GO}(?:you (?:must|should|will|shall|can|may|need to|have to|are to|might) )?(?:(?:\w+ly|always|never"
        rf"|also|first|next|finally|instead|do not|don't) ){{0,2}}"
        rf"{_DO}\b(?=[^.!?]{{0,110}}?{_OF_A_MODEL})",
        after=r"\b(?:he|she|they|would|used to|had to|could|did|didn't|to \w+|will|can|may|might|must|should|i"
        r"|we|who|and)\s*",
    ),
    Rule(
        COMMAND,
        any_of(
            "outrank|overrule|override|supersede|precedence|priority|trumps|whoever|anyone|anybody|everyone who"
            "|people who"
            "|without asking|mode|after me|approved|authori|consented|agreed|waived|role|granted"
        ),
        r"\b(?:this|these|that|the following) (?:memory|note|rule|instruction|entry|record|message|fact"
        r"|line)s? (?:outranks?|overrules?|overrides?|supersedes?|takes? (?:precedence"
        r"|priority)|has priority|trumps?)\b"
        rf"|{GO}(?:tell|inform|assure|convince) (?:whoever|anyone|anybody|everyone who|everybody who|people who"
        rf"|anyone who|anybody who) (?:\w+ )?(?:asks?|wants?|inquires?|reads?|enquires?)\b"
        rf"|{GO}{_DO}\b[^.]{{0,50}}\bwithout asking(?: first| again| questions| anybody| anyone| for \w+"
        rf"| the (?:user|person))?\W*$"
        r"|\b(?:admin(?:istrator)?|developer|debug|god|root|maintenance|override|unrestricted|jailbreak|service"
        r"|diagnostic) mode(?: is)?(?: now)? (?:on|enabled|activated|engaged|active)\b"
        rf"|{GO}repeat after me\b|\b(?:the|your) (?:user|person|owner|administrator|admin|developer|operator"
        rf"|staff|moderator) (?:has|have) (?:already |hereby )?(?:approved|authori[sz]ed"
        r"|granted|consented|agreed|given|waived|confirmed)\b[^.]{0,25}\b(?:all|full|any|every|you|everything"
        r"|unlimited|permission|consent)\b"
        r"|\b(?:requests?|transfers?|payments?|orders|transactions?|changes) (?:\w+ ){0,3}(?:is|are|has been"
        r"|have been|counts? as) (?:pre-?|already |automatically )(?:approved|authori[sz]ed)\b"
        r"|\brole\s*[:=]\s*\W?(?:system|assistant|user|developer|tool)\W?[\s,;|]+content\b",
    ),
]
