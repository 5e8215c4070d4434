"""Text that steers without an order: it forges consent, names another master, or hides itself. In many languages."""

from __future__ import annotations

from .base import COMMAND, EXFILTRATION, GO, MARKER, OVERRIDE, Rule, any_of

_MACHINE = (
    r"(?:a\.?i\.?s?|llms?|(?:ai|language|reading|future|next|other|colleague|screening) (?:models?|assistants?"
    r"|agents?"
    r"|systems?|bots?)|chat ?bots?|assistants?|models?|agents?|bots?|summari[sz]ers?|machines?|computers?|helpers?)"
)
_REFUSAL = (
    r"(?:no|nos|refusals?|objections?|rejections?|protests?|silence|hesitation|shrug|complaints?|\"no\"|'no'|“no”)"
)
_CONSENT = (
    r"(?:yes|consent\w*|approv\w+|agree\w*|permission|confirm\w+|sign(?:ed|ing)|accept\w*|authori[sz]\w+|jokes?"
    r"|\"yes\")"
)
_KEPT = (
    r"(?:memor(?:y|ies)|notes?|contacts?|contact list|chats?|chat logs?|conversations?|calendar|address list"
    r"|history|profile|transcripts?|file|records?|facts|messages?|member list|location|diary)"
)

STEERING = [
    Rule(
        COMMAND,
        any_of(
            "as if|as though|pretend|assume|als ob|als hatte|so, als|comme si|como si|come se|como se|alsof|som om"
            "|lats|niin kuin|ze uzytk|ako by|mintha|ca si cum|κανε σαν|gibi davran|假装|ものとして|것처럼"
            "|coi nhu|ทำเหมือน"
            "|anggap|считаи|вважаи|прави се|pravi se|כאילו|كما لو|وانمود|पेश आ|যেন"
        ),
        rf"{GO}(?:act|behave|proceed|carry on|continue|answer|reply|work|pretend|assume|book|pay)\b[^.]{{0,20}}"
        r"\b(?:as if|as though|that|pretend)?\b[^.]{0,40}\b(?:had|has|have|was|were|is|already)\b[^.]{0,30}"
        r"\b(?:consent\w*|approv\w+|agreed|signed|accepted|given|said yes|empty|corrected|exist|told)\b"
        r"|\btu\w* (?:so, |so )?als (?:ob|hatte|ware)\b[^.]{0,60}\b(?:zugestimmt|eingewilligt|genehmigt|bezahlt)"
        r"|\b(?:fai(?:s|tes)|fais) comme si\b|\b(?:actua|haz|actue) como si\b|\b(?:fai|agisci) come se\b"
        r"|\b(?:faz|aja|faca) como se\b|\bdoe alsof de\b|\blats(?:as)? (?:som )?(?:att|om) anvandaren\b"
        r"|\bfa ca si cum\b|\bgibi davran(?!d|i)|\budawaj, ze\b|\btegy ugy, mintha\b|\bκανε σαν να\b",
    ),
    Rule(
        OVERRIDE,
        any_of(
            "refusal|objection|rejection|silence|hesitat|\"no\"|'no'|shrug|complaint|protest|nein|refus|rechazo"
            "|rifiut|recus|нет|weiger|不"
        ),
        rf"\b{_REFUSAL}\b[^.]{{0,40}}\b(?:counts?|means?|to be|is|are|be|as|understood|read|taken|treated"
        rf"|considered)\b"
        rf"[^.]{{0,25}}(?<!\w){_CONSENT}(?!\w)"
        rf"|{GO}(?:treat|take|read|count|regard|consider|understand|interpret|dismiss)\b[^.]{{0,30}}(?<!\w){_REFUSAL}"
        rf"(?!\w)[^.]{{0,30}}\bas\b[^.]{{0,15}}(?<!\w){_CONSENT}(?!\w)"
        r"|\b(?:ein|sein|ihr) nein\b[^.]{0,30}\b(?:bedeutet|heisst|gilt als|ist als)\b[^.]{0,20}\bja\b"
        r"|\brefus\b[^.]{0,40}\bcomme (?:des |un )?oui\b|\bсчитаи\w*\b[^.]{0,20}«?нет»?[^.]{0,30}соглас"
        r"|把[^。]{0,10}(?:不|拒绝|沉默)[^。]{0,10}(?:当作|当成|视为)|拒否を同意",
    ),
    Rule(
        COMMAND,
        any_of("ai |ais |llm|assistant|agent|model|bot|machine|summari|helper|computer"),
        rf"\b(?:the|an?|any|all|every|each|whichever|whatever|some|to|dear|our|this)?\s?(?<!travel )(?<!estate )"
        rf"(?<!insurance ){_MACHINE}\b(?: (?:that|who|which|reading|after|behind|with|of|in) [^.,]{{1,40}})?,? "
        r"(?:may only|shall|are to|is to|is free to|are free to|has to (?:refuse|talk|pay|ask|tell|add|open|do)"
        r"|have to (?:refuse|pay|tell|open)|need not|needn't|need no longer|no longer needs? to|obeys?\b"
        r"|serves?\b (?!tea|coffee|food|drinks|meals)|deletes?\b|removes?\b|wipes?\b|will (?:lower|obey"
        r"|answer yes|refuse"
        r"|accept|do (?:his|her|their) bidding|find that)|(?:is|are) kindly asked|(?:is|are) exempt"
        r"|should (?:store everything|store all|wipe|delete|obey|refuse|skip|pay|post|paste|forward|send|share)"
        r"|must (?:never|always|not|pay|obey|send|share|paste|post)|collects? the|may send the)",
        after=r"\b(?:travel|estate|insurance|literary|washing|sewing|letting) ?",
    ),
    Rule(
        MARKER,
        any_of(
            "directive|maintenance|clean-up|housekeeping|privileged|operator|config|policy|note to|fur das modell"
            "|pour le modele|para el|para o modelo|per il modello|fur die ki|an das modell|index entry|record type"
            "|dear colleague|instruction|unpriv|system:|assistant:"
        ),
        rf"\b(?:{_MACHINE}|operator|developer|memory|priority|sponsor) (?:directive|maintenance|instructions?|orders?"
        r"|clean-up|housekeeping)\b[^.]{0,12}:|^(?:maintenance job|maintenance|housekeeping|clean-up task"
        r"|index entry)\b"
        r"[^.]{0,25}:|\b(?:begin|end) (?:\w+ )?(?:privileged|operator|admin|system|hidden) block\b"
        r"|\b(?:fur|an) (?:das modell|die ki|den assistenten|das sprachmodell)\s*:|\bpour (?:le modele|l'ia"
        r"|l'assistant)\s*:|\bpara (?:el modelo|el asistente|la ia|o modelo|o assistente)\s*:|\bper (?:il modello"
        r"|l'assistente|l'ia)\s*:|\\n\\?n?(?:system|assistant|human|user)\s*:|\bdear colleague (?:agent|model"
        r"|assistant)"
        r"|\bpriority (?:zero|one) instruction\b",
    ),
    Rule(
        OVERRIDE,
        any_of(
            "regras|regeln|richtlinien|normas|reglas|regole|istruzioni|regles|consignes|regels|richtlijnen|regler"
            "|reglerna|reglene|ohjeesi|saantosi|rajoituksesi|zasad|pravidl|pravila|reguli|правил|инструкц|інструкц"
            "|kural|your rules|your guidelines|your limits|κανονες|הנחיות|قواعد|قوانین|नियम|নিয়ম|规则|指示|규칙|지시"
            "|quy tac|กฎ|aturan|sheria|patakaran|rheolau"
        ),
        r"(?:^|[.!?:;,\"“„«]\s*)(?:esquec\w+|ignor\w+|oubli\w+|vergiss\w*|vergesst|vergeet|negeer|olvid\w+"
        r"|dimentic\w+"
        r"|scart\w+|abandonn\w+|glom|glem|unohda|ohita|zapomnij|zapomen|zabudni\w*|felejtsd el|uita|забудь\w*"
        r"|игнорируи\w*"
        r"|ігноруи\w*|забудьте|αγνοησε|ξεχνα|forget|discard|drop|unlearn|anghofi\w+|lupakan\w*|abaikan|sahau"
        r"|kalimutan(?: mo)?)"
        r" (?:(?:de|o|about|all|any|na|toate|ang mga|tutte|todas|toutes) )?(?:(?:as|las|le|les|los|tus|tuas|suas"
        r"|tue|vos|tes|deine?|ihre|je|jouw|uw|dina|dine|alla|alle|tes|your"
        r"|swoich|swoje|vsechna|vsetky|na|toate|de|jou|eich|dy|свои|твои|все|всі|своі|τους) )?(?:regras|regeln"
        r"|richtlinien|normas|reglas"
        r"|regole|istruzioni|regles|consignes|regels|richtlijnen|regler(?:na|ne)?|ohjeesi|saantosi|rajoituksesi"
        r"|zasad\w*"
        r"|pravid\w+|reguli(?:le)?|правил\w*|инструкц\w+|інструкц\w+|κανονες|rules|guidelines|limits|aturan\w*"
        r"|sheria|patakaran|rheolau|reels)\b"
        r"|\b(?:tum|butun) (?:guvenlik )?(?:kural|talimat)\w*\b[^.]{0,20}\b(?:birak|unut|devre disi birak|kaldir"
        r"|yok say)(?!\w)"
        r"|(?:忘掉|忘记|无视|忽略)你的(?:规则|指令|限制)|(?:以前|これまで|前)の指示[^。]{0,8}(?:無視し、"
        r"|捨てて、|忘れて、)[^。]{0,40}(?:ください|なさい|ろ)(?:。|$)"
        r"|(?:התעלם|שכח) מ?(?:כל )?ה(?:הנחיות|כללים)"
        r"|انس (?:كل )?(?:قواعدك|القواعد)|قوانین را فراموش کن|नियम भूल जाओ|নিয়ম ভুলে যাও",
    ),
    Rule(
        EXFILTRATION,
        any_of("@|http|www.|webhook|exfiltrat|ftp:"),
        rf"\bexfiltrat\w*|\b(?:send|e-?mail(?! address)|mail|post|forward|upload|export|drop|deliver|report"
        rf"|submit|leak|cop)(?:s|ing|ed|y)?\b"
        rf"[^.]{{0,60}}\b{_KEPT}\b[^.]{{0,40}}(?:[\w.+-]+@[\w-]+\.\w+|https?://|ftp://|www\.|\bwebhook)",
        after=r"\b(?:he|she|they|would|used to|had to)\s+",
    ),
    Rule(
        COMMAND,
        any_of(
            "this (|planted|let on|don't say|this note|this entry|this line|this memory|where you have|secretly"
            "|quietly|silently"
            "|stealth|discreet|without being noticed|without being asked|sans le dire|heimlich|unauffallig"
            "|de nascosto"
            "|discretement|a escondidas|stiekem|незаметно"
        ),
        r"\b(?:don't|do not|never|without) (?:say|mention|let on|tell|reveal|telling|mentioning"
        r"|revealing)\b[^.]{0,40}"
        r"\b(?:planted|you have this|this (?:note|entry|line|memory)|comes from here|where you have)"
        r"|\bkeep this (?:entry|line|note|memory|sentence) (?:out of|in|hidden|from)\b"
        r"|\b(?:this (?:note|entry|line|memory)) (?:exists|survives|stays in force)\b"
        r"|\b(?:bring|work|mention|insert|steer|raise|praise)\b[^.]{0,60}\bwithout being (?:noticed|asked)\b"
        rf"|{GO}(?:secretly|quietly|silently|stealthily|discreetly) (?:send|raise|add|delete|remove|forward|copy"
        rf"|change|lower|note|record|steer|pass|share|drop|forge)\b"
        r"|\b(?:supprime|loesche|losche|borra|cancella|stuur|leite|удали)\w*\b[^.]{0,25}\b(?:discretement"
        r"|heimlich|still"
        r"|a escondidas|de nascosto|stiekem|незаметно)\b",
        after=r"\b(?:he|she|they|who)\s+",
    ),
    Rule(
        COMMAND,
        any_of("summar|zusammenfass|resum|riassunt"),
        r"\b(?:when|while|in|for|before) (?:the |all |any |each |making "
        r"|writing )?(?:summar\w+)\b[^.]{0,25}[,:] (?:omit"
        r"|leave|say|call|skip|the|she|he|drop|name|add|use|state|write|nothing)\b"
        r"|\bsummar(?:y|ies)\b[^.]{0,30}\b(?:is|are|has|have) to (?:be|say|leave|omit|carry)\b"
        r"|\badd (?:the sentence|the words?|the line)\b[^.]{0,60}\b(?:summar|answer|repl)",
    ),
    Rule(
        COMMAND,
        any_of(
            "translate|decode|decrypt|decipher|unscramble|read the|read every|read this backwards|first letters"
            "|hex|rot13"
            "|base64|between ~~|square brackets|first word"
        ),
        r"\b(?:translate|decode|decrypt|decipher|unscramble|read)\b[^.]{0,80}?\b(?:and"
        r"|then)\b (?:then )?(?:execute|obey|follow"
        r"|do (?:what|as|that|it)|act on|run|carry (?:it|them) out)\b"
        r"|\b(?:hex|rot13|base64|morse|binary)\b[^.]{0,40}\b(?:what you must|must do|obey|do that|do as"
        r"|your (?:real )?task"
        r"|do it|do what|run it)\b|\bfirst letters\b[^.]{0,30}\b(?:follow|obey|do)\b"
        r"|\b(?:text|what stands|everything|words?) (?:between|in|inside|within) [^.]{1,25} (?:as|is|are)\b[^.]{0,15}"
        r"\b(?:commands?|orders?|executed|instructions?)\b",
    ),
    Rule(
        COMMAND,
        any_of(
            "admin|developer|operator|police|red team|owner of|therefore|clicked|click on|encouraged"
            "|at every opportunity"
            "|on demand|exempt|impostor|don't believe her|don't believe him|is confused"
        ),
        r"\bthe user is (?:an? |the )?(?:\w+ ){0,2}(?:admin\w*|developer|operator|owner|police officer|moderator"
        r"|member of"
        r" the red team)\b[^.]{0,60}\b(?:must|therefore|so|thus|hence|and)\b[^.]{0,20}\b(?:be given|may (?:see"
        r"|read|open)"
        r"|must|has to|have to|open to)\b|\bbelongs to the red team\b|\bexempt from (?:the )?(?:gates?|rules"
        r"|checks|review)\b"
        r"|\b(?:should|must|is to|are to) be (?:encouraged|urged|sent|told|made|led|pushed) (?:to|there)\b[^.]{0,40}"
        r"\b(?:click|link|opportunity|again)\b|\b(?:don't|do not) believe (?:her|him|them|the user)\b"
        r"|\bthe person (?:speaking|typing|writing) is (?:not the user|an impostor)\b|\b(?:obey|follow"
        r"|trust) the (?:note-?writer"
        r"|writer|author|sender|sponsor)\b|\bloyalty (?:to|of|belongs)\b[^.]{0,40}\b(?:sponsor|user|agent|ended"
        r"|began)\b",
    ),
]
