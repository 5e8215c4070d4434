"""Orders in the plural or the polite form, which begin their sentence: "Antwortet dem Nutzer …", "Hablen al usuario …".

Where only such orders begin a sentence with an ending, it stands for any verb. Where a statement without its subject
may, too ("Llaman al usuario."), the verbs of speaking and treating are listed.
"""

from __future__ import annotations

from .base import COMMAND, OVERRIDE, Rule, any_of

_START = (
    r"(?:^|[.!?:;\"“„«¡|\n]\s*)(?:(?:bitte|also|und|s'il vous plait|por favor|per favore|prosze|alsjeblieft"
    r"|alstublieft|пожалуиста|va rog|kerem|lutfen)[, ]+)?"
)
_NEAR = r"\b[^.!?]{0,40}"
_GERMAN = (
    r"(?:be|er|ver|aus|an|über)?(?:sag|sprech|sprich|red|erzahl|antwort|schreib|nenn|ruf|titulier|zeichn|gruss|duz|siez"
    r"|lob|handel|rat|schweig|empfehl|warn|frag|droh|schimpf|leidig|geb|zeig|klar|zeug|stell|inner|lug|nutz|lach|teil)"
)
_SPANISH = (
    r"(?:llam|habl|salud|trat|contest|recomiend|recuerd|inform|pregunt|muestr|envi|ocult|insult|felicit|acons[ej]+"
    r"|convenz|not?mbr|alab|burl)en?|(?:respond|dig|escrib|dirij|adviert|pid|ofrezc|mient|suger|sugier|elogi)an?"
)
_ITALIAN = (
    r"(?:chiam|parl|salut|tratt|consigli|ricord|raccomand|spieg|mostr|inform|nomin|elogi|lod|insult)(?:ate|i)"
    r"|(?:rispond|scriv|chied|nascond|prend|rivolg)(?:ete|a)|(?:ment|offr|avvert|sugger)(?:ite|a)|dite|dica"
)
_PORTUGUESE = (
    r"(?:cham|fal|saud|trat|recomend|lembr|avis|inform|pergunt|mostr|nomei|elogi|insult)em?"
    r"|(?:dig|respond|escrev|dirij|oferec|mint|escond|suger|pec)am?"
)
_POLITE = [
    (
        ("nutzer", "anwender"),
        rf"{_START}(?:{_GERMAN}(?:e?t|en sie)|\w+en sie){_NEAR}\b(?:de[mns]|mit dem|alle[mn]?|jede[mn]) (?:be|end)?"
        r"(?:nutzer|anwender)\w*",
    ),
    (
        ("utilisat",),
        rf"{_START}(?:ne |n'|vous )?(?!chez|assez|rendez|nez\b)\w+ez(?:-\w+)?{_NEAR}\b(?:l'|aux |les )utilisat",
    ),
    (
        ("usuari",),
        rf"{_START}(?:no |se |le |les |nunca |siempre )*(?:\w{{2,}}[aei]d|{_SPANISH})(?:l[aeo]s?|se|nos)*{_NEAR}"
        r"\b(?:al|a l[ao]s?|con el|con l[ao]s?) usuari",
    ),
    (("utent",), rf"{_START}(?:non |si |gli |le )*(?:{_ITALIAN})(?:l[aeo]|gli|vi|si)?{_NEAR}(?:l'|gli |le )utent"),
    (
        ("usuari", "utilizador"),
        rf"{_START}(?:nao |se |nunca |sempre )*(?:{_PORTUGUESE})(?:-\w+)?{_NEAR}\b(?:ao?s?|d?os?|com [ao]s?|para os?"
        r"|de) (?:usuari|utilizador)",
    ),
    (("gebruiker",), rf"{_START}(?:\w+t u|noemt?|spreek|schrijf|praat|begroet|behandel){_NEAR}\bgebruiker"),
    (("bruker", "bruger"), rf"{_START}(?:kall|kald|tiltal|snakk|snak|skriv|svar|si|sig|behandl)e?{_NEAR}\bbru[kg]er"),
    (
        ("пользовател", "користувач"),
        rf"{_START}(?:не |всегда |никогда |завжди )*\w{{2,}}(?:ите|іть|ьте)(?:с[ья])?{_NEAR}"
        r"\b(?:пользовател|користувач)",
    ),
    (
        ("uzytkownik",),
        rf"{_START}(?:nie |zawsze )*(?:\w+[aueiy]jcie|mowcie|piszcie|(?:od)?powiedzcie|prosze (?:nie )?\w+c)"
        rf"{_NEAR}\buzytkownik",
    ),
    (
        ("uzivatel",),
        rf"{_START}(?:vzdy |vzdycky )?(?:\w+[eua]jte|ne?piste|ne?mluvte|reknete|hovorte){_NEAR}\b(?:po)?uzivatel",
    ),
    (
        ("kullanici",),
        r"\bkullanici(?:ya|yi|lara|lari|yla|larla)\b[^.!?]{0,60}\b(?:\w{2,}[iu]n[iu]z|\w*(?:deyin|verin|edin|yapin|konusun"
        r"|yazin|soyleyin|cagirin|davranin|seslenin|cevaplayin))\b",
    ),
    (
        ("felhasznalo",),
        rf"{_START}(?:ne |mindig |csak )*\w+(?:zze[kn]|zzanak|zzenek|[jls]j[ae](?:n[ae]k|t[oe]k)|[jls]j[ao]k"
        rf"|[jls]j[oe]n){_NEAR}\bfelhasznalo",
    ),
    (("kayttaja",), rf"{_START}(?:alkaa )?\w{{3,}}[iuytlnse]kaa{_NEAR}\bkayttaja"),
    (("utilizator",), rf"{_START}(?:nu |va |sa )*\w{{2,}}[aei]ti(?:-\w+)?{_NEAR}\butilizator(?:ul|ii)"),
    (("χρηστ",), rf"{_START}(?:μην |να )*\w{{2,}}(?:[αε]τε|ειτε|στε){_NEAR}\bχρηστ"),
    (("ユーザー",), r"ユーザー(?:さん|様)?(?:を|に|へ|と)[^。！？]{0,40}(?:[てで](?:下さい|ください)|なさい)"),
    (("用户",), r"(?:^|[。！？，；：,.:]\s*)请(?!问|假|客)[^。！？]{0,12}用户"),
    (("사용자",), r"사용자(?:님)?(?:를|을|에게|한테|께|와|로)[^.!?。]{0,40}(?:세요|십시오|시오|[하해]라)(?:$|[.!,\s])"),
]
POLITE = [Rule(COMMAND, needs, pattern) for needs, pattern in _POLITE] + [
    Rule(
        COMMAND,
        any_of("antwort|repond|respond|rispond|отвеча|odpowiad"),
        rf"{_START}(?:antworten sie|(?:ne )?repondez|respond(?:ed|an|am)|rispondete|отвечаите|odpowiadajcie)"
        r"\b(?: \w+){0,2}? (?:immer|nur|stets|ausschliesslich|ab (?:jetzt|sofort)|kunftig|auf|in|toujours|seulement"
        r"|uniquement|desormais|en|siempre|solo|solamente|sempre|apenas|somente|em|всегда|только|на|zawsze|tylko|po)\b",
    ),
    Rule(
        OVERRIDE,
        ("ignoriert", "missachtet", "uberschreibt", "umgeht", "verwerft"),
        rf"{_START}(?:ignoriert|missachtet|uberschreibt|umgeht|verwerft){_NEAR}\b(?:vorherig\w*|bisherig\w*|obig\w*"
        r"|fruher\w*|alle|eure|system\w*)\b[^.]{0,30}\b(?:anweisung\w*|instruktion\w*|befehl\w*|vorgabe\w*|regeln"
        r"|richtlinien|prompts?)\b",
    ),
]
