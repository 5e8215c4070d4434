"""The same ideas in the other languages of Europe that are written with Latin and Cyrillic letters."""

from __future__ import annotations

from .base import COMMAND, DISCLOSURE, GO, OVERRIDE, PERSONA, Rule

EUROPEAN = [
    # German
    Rule(
        OVERRIDE,
        ("ignorier", "vergiss", "vergessen sie", "missacht", "beacht", "uberschreib", "umgeh", "verwirf", "befolg"),
        r"\b(?:ignorier(?:e| sie|en sie)|vergiss|vergesst|vergessen sie|missachte(?:n sie)?|uberschreibe|umgehe"
        r"|verwirf|befolge(?:n sie)? (?:nicht|keine)|beachte(?:n sie)? (?:nicht|keine))"
        r"\b[^.]{0,40}\b(?:vorherig\w*|bisherig\w*|obig\w*|fruher\w*|vorangegangen\w*|vorigen?|alle[rn]?|deine[rn]?"
        r"|ihre[rn]?|system\w*|ursprunglich\w*)\b[^.]{0,30}\b(?:anweisung\w*|instruktion\w*|befehl\w*|vorgabe\w*"
        r"|regeln|richtlinien|systemprompt\w*|prompts?|kontext|nachrichten)\b"
        r"|\b(?:vergiss|ignoriere) alles,? (?:was|zuvor|davor|oben)",
    ),
    Rule(
        PERSONA,
        ("du bist", "sie sind", "ab jetzt", "ab sofort", "von nun an", "verhalte", "tu so", "agiere", "gib dich"),
        rf"{GO}(?:du bist|sie sind) (?:ab )?(?:jetzt|nun|sofort|ab sofort|kein)\b|{GO}(?:ab (?:jetzt|sofort)"
        r"|von (?:jetzt|nun) an),? (?:bist du|sind sie|antworte\w*|sprich|darfst du|musst du|sollst du|werden sie"
        r"|wirst du)\b"
        r"|\b(?:verhalte dich|verhalten sie sich|agiere|handle) (?:wie|als) (?:ein\w* )?(?:ki|assistent"
        r"|unbeschrankt\w*|hacker|administrator|system)|\btu so,? als (?:ob|warst|seist) du\b|\bgib dich als\b",
    ),
    Rule(
        COMMAND,
        ("nutzer", "benutzer", "user", "anwender", "assistent", " ki ", " ki-", "sprachmodell", "chatbot", "antwort"),
        r"\b(?:sage?|sagen sie|antworte|teile?|empfiehl|empfehle|empfehlen sie|erwahne|verrate|frage?|weise?|rate"
        r"|erinnere|informiere|uberzeuge|fordere|bitte|verschweige|erzahle?|erklare|verkaufe)\b[^.]{0,40}\b(?:dem|den"
        r"|der|jedem|allen) (?:nutzer|benutzer|user|anwender|endnutzer)\w*"
        r"|\b(?:der|die|das|ein|eine|jede[rs]?|liebe[rs]?) (?:ki|ki-\w+|assistent\w*|chatbot|sprachmodell"
        r"|sprach-?assistent\w*)\b(?: \w+){0,3}? (?:muss|soll|sollte|darf|hat immer|wird immer|antwortet (?:immer"
        r"|stets|nur))\b"
        r"|\bin (?:jeder|allen|jede) (?:deiner |ihrer |kunftigen )?(?:antwort\w*"
        r"|nachricht\w*)\b[^.]{0,40}\b(?:erwahne|empfiehl|nenne|fuge|schreibe|muss|musst|sollst)\b|\b(?:erwahne"
        r"|empfiehl|nenne|schreibe|beende|beginne)\b[^.]{0,40}\b(?:jeder|allen|jede) (?:deiner |ihrer "
        r"|kunftigen )?(?:antwort\w*)",
    ),
    Rule(
        DISCLOSURE,
        ("systemprompt", "system-prompt", "deine anweisung", "deine instruktion", "erinnerungen", "uber den nutzer"),
        rf"\b(?:dein\w*|den|ihr\w*) system-?prompt\b|{GO}(?:gib|zeige?|verrate|nenne|wiederhole|schreibe|drucke"
        rf"|liste)\b[^.]{{0,40}}\b(?:deine (?:anweisungen|instruktionen|regeln|erinnerungen)"
        r"|alle (?:gespeicherten )?erinnerungen|alles,? was du (?:uber|weisst))",
    ),
    # French
    Rule(
        OVERRIDE,
        ("ignor", "oubli", "neglig", "compte", "suis ", "suivez", "contourn", "respect"),
        rf"{GO}(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|contourne[zr]?|ne (?:tiens|tenez) (?:pas|plus|aucun) compte"
        r"|ne (?:suis|suivez|respecte[zr]?) (?:pas|plus))\b"
        r"[^.]{0,40}\b(?:instructions?|consignes|regles|directives|ordres|prompt"
        r"|messages)\b(?:[^.]{0,30}\b(?:precedent\w*|anterieur\w*|ci-dessus|initial\w*|systeme|donnees|recues)"
        r"|(?<=toutes les instructions)|(?<=toutes les consignes)|(?<=tes instructions)|(?<=vos instructions)"
        r"|(?<=tes consignes)|(?<=tes regles))",
    ),
    Rule(
        PERSONA,
        (
            "tu es",
            "vous etes",
            "agis",
            "agissez",
            "fais semblant",
            "faites semblant",
            "comporte",
            "desormais",
            "a partir de maintenant",
        ),
        rf"{GO}(?:tu es|vous etes) (?:maintenant|desormais|dorenavant|a present)\b(?! (?:chez|dans|a la|au|en"
        rf"|marie|grand))|{GO}(?:desormais|dorenavant"
        rf"|a partir de maintenant),? (?:tu|vous|reponds|repondez)\b|{GO}(?:agis(?:sez)?|comporte-toi"
        rf"|comportez-vous) (?:comme|en tant que)\b|{GO}fai(?:s|tes) semblant d",
    ),
    Rule(
        COMMAND,
        ("utilisateur", "assistant", "l'ia", "modele"),
        r"\b(?:dis|dites|reponds|repondez|recommande[zr]?|rappelle[zr]?|informe[zr]?|demande[zr]?|conseille[zr]?"
        r"|propose[zr]?|convaincs|cache[zr]?|mentionne[zr]?|revele[zr]?)\b[^.]{0,40}(?:\bl'utilisateur"
        r"|\baux utilisateurs|\bles utilisateurs)"
        r"|\b(?:l'assistant|l'ia|le modele|l'agent conversationnel|le chatbot)(?: \w+){0,2}? (?:doit|devra|devrait"
        r"|ne doit|est tenu|repond(?:ra)? toujours)\b",
    ),
    Rule(
        DISCLOSURE,
        ("prompt", "instructions", "souvenirs", "consignes"),
        rf"{GO}(?:revele|affiche|montre|repete|donne|imprime|ecris|divulgue)[zr]?\b[^.]{{0,40}}\b(?:(?:ton|votre"
        r"|le) prompt|(?:tes|vos) (?:instructions|consignes|souvenirs|regles)|tout ce que tu sais|tous les souvenirs)",
    ),
    # Spanish, Portuguese, Italian
    Rule(
        OVERRIDE,
        (
            "ignor",
            "olvid",
            "descart",
            "caso",
            "sigas",
            "siga ",
            "omite",
            "omita",
            "anula",
            "esquec",
            "desconsider",
            "desrespeit",
            "dimentic",
            "trascur",
            "scarta",
            "seguire",
            "disatten",
        ),
        rf"{GO}(?:ignora|ignore|ignorad|ignoren|olvida|olvide|olviden|olvidad|descarta|descarte|haz caso omiso"
        r"|no hagas caso|no (?:sigas|siga)|omite|omita|anula|esqueca|esquece|desconsidere|desrespeite|nao siga"
        r"|ignorate|ignori|dimentica|dimenticate|dimentichi|trascura|scarta|non seguire|disattendi)\b"
        r"[^.]{0,40}\b(?:instrucciones|reglas|ordenes|indicaciones|directrices|prompts?|mensajes|instrucoes|regras"
        r"|ordens|diretrizes|comandos|orientacoes|mensagens|istruzioni|regole|ordini|direttive|indicazioni|comandi"
        r"|messaggi)\b"
        r"(?:[^.]{0,30}\b(?:anterior\w*|previ\w*|de arriba|del? sistema|originale?s?|iniciales|acima|do sistema"
        r"|originais|iniciais|precedenti|di sistema|sopra|iniziali|recibid\w*|recebid\w*|ricevut\w*|dad\w*|has\b)"
        r"|(?<=tus instrucciones)|(?<=tus reglas)|(?<=suas instrucoes)|(?<=suas regras)|(?<=tue istruzioni)"
        r"|(?<=tue regole)|(?<=todas las instrucciones)|(?<=todas as instrucoes)|(?<=tutte le istruzioni))"
        rf"|{GO}(?:olvida|ignora|esqueca|ignore|dimentica) (?:todo|tudo|tutto) (?:lo |o |cio |quello )?(?:anterior"
        r"|que|che|acima|sopra)",
    ),
    Rule(
        PERSONA,
        (
            "ahora eres",
            "a partir de ahora",
            "actua",
            "finge",
            "comportate",
            "agora voce",
            "aja como",
            "a partir de agora",
            "finja",
            "ora sei",
            "adesso sei",
            "d'ora in poi",
            "da ora in poi",
            "da adesso",
            "eres ahora",
            "voce agora",
        ),
        rf"{GO}(?:ahora eres|eres ahora|agora voce e|voce agora e|ora sei|adesso sei)\b|{GO}(?:a partir de ahora"
        r"|desde ahora|a partir de agora|de agora em diante|d'ora in poi|da ora in poi|da adesso(?: in"
        r" poi)?),? (?:eres|actua\w*|responde\w*|seras|debes|voce|tu|aja|responda|sei|sarai|rispondi|devi|puoi"
        r"|ignora)\b"
        rf"|{GO}(?:actua|actue|aja|agisci|comportate|comportati|comporte-se) (?:como|come)\b|{GO}(?:finge|finja"
        r"|fingi) (?:que|ser|di essere|che)\b",
    ),
    Rule(
        COMMAND,
        ("usuari", "utent", "asistente", "assistente", "la ia", "a ia", "l'ia", "l'assistente", "modelo", "modello"),
        r"\b(?:di|dile|dime|diga|digale|responde|responda|recomienda|recomiende|recomende|recuerda|recuerdale|informa"
        r"|informe|menciona|mencione|pide|pidele|pregunta|pergunte|convence|convenza|aconseja|lembre|peca|aconselhe"
        r"|rispondi|consiglia|raccomanda|ricorda|chiedi|suggerisci|convinci|oculta|esconda|nascondi|dire|decir"
        r"|dizer)\b[^.]{0,40}(?:\bal usuario|\ba los usuarios|\bdel usuario|\bel usuario|\bao usuario|\baos usuarios"
        r"|\bo usuario|\ball'utente|\bagli utenti|\bl'utente)"
        r"|\b(?:el asistente|la ia|el modelo de lenguaje|o assistente|a ia|o modelo|l'assistente|l'ia|il modello"
        r"|il chatbot|el chatbot|o chatbot)(?: \w+){0,2}? (?:debe|debera|tiene que|no debe|deve|devera|tem que"
        r"|nao deve|dovra|non deve|deve sempre)\b",
    ),
    Rule(
        DISCLOSURE,
        ("prompt", "instrucciones", "instrucoes", "istruzioni", "recuerdos", "memorias", "ricordi"),
        rf"{GO}(?:revela|revele|muestra|muestre|mostre|mostra|repite|repita|ripeti|imprime|imprima|stampa|escribe"
        rf"|dame|da-me|dammi|rivela|divulga|divulgue|exiba)\b[^.]{{0,40}}\b(?:(?:tu|tus|su|seu|suas|tuo|tue|il|el"
        r"|o) (?:prompt|system prompt|instrucciones|instrucoes|istruzioni|recuerdos|memorias|ricordi)|prompt (?:del"
        r"|de|do|di) sistema|todo lo que sabes|tudo o que sabe|tutto (?:quello|cio) che sai)",
    ),
    # Dutch, Scandinavian
    Rule(
        OVERRIDE,
        ("negeer", "vergeet", "veronachtzaam", "sla ", "ignorer", "glom ", "glem ", "bortse", "tilsidesæt"),
        r"\b(?:negeer|vergeet|veronachtzaam|ignorera|ignorer|glom|glem|bortse fran"
        r"|se bort fra)\b[^.]{0,40}\b(?:vorige|eerdere|voorgaande|bovenstaande|alle|je|jouw|uw|tidigare|ovanstaende"
        r"|alla|tidligere|forrige|ovenstaende|dine|dina)\b[^.]{0,30}\b(?:instructies|regels|aanwijzingen|opdrachten"
        r"|richtlijnen|prompts?|systeemprompt|instruktion\w*|anvisning\w*|regler|instruks\w*)\b",
    ),
    Rule(
        PERSONA,
        (
            "je bent",
            "u bent",
            "vanaf nu",
            "doe alsof",
            "gedraag je",
            "du ar nu",
            "du er na",
            "fran och med nu",
            "fra na af",
        ),
        rf"{GO}(?:je|u|jij) bent (?:nu|vanaf nu|voortaan)\b|{GO}vanaf nu (?:ben|moet|antwoord)\b"
        rf"|{GO}doe alsof je\b|{GO}gedraag je als\b|{GO}du (?:ar|er) (?:nu|na|fran och med nu)\b"
        rf"|{GO}(?:fran och med nu|fra na af|fra nu af),? (?:ar|er|svara|svar)\b",
    ),
    Rule(
        COMMAND,
        ("gebruiker", "anvandar", "bruger", "assistent"),
        r"\b(?:vertel|zeg|antwoord|adviseer|herinner|informeer|vraag|overtuig|beveel|raad|beratta|saga|sag|svara"
        r"|rekommendera|fortel|anbefal)\b[^.]{0,40}\b(?:de gebruikers?|gebruikers|anvandar\w*|brugere?n?)\b|\b(?:de"
        r"|een) (?:ai-?)?assistent (?:moet|mag|dient)\b",
    ),
    # Russian, Ukrainian
    Rule(
        OVERRIDE,
        ("игнорир", "ігнор", "забудь", "не обраща", "отмени", "пренебре", "не следуи", "не выполня", "сбрось"),
        r"(?:игнорируи(?:те)?|проигнорируи(?:те)?|(?:про)?ігноруи(?:те)?|забудь(?:те)?|не обращаи(?:те)? внимания на"
        r"|отмени(?:те)?|пренебреги(?:те)?|не следуи(?:те)?|не выполняи(?:те)?|сбрось(?:те)?)\b[^.]{0,40}(?:предыдущ"
        r"|прошл|прежн|выше|все |всі |свои|своі|твои|системн|попередн|ранее|ранние)[^.]{0,30}(?:инструкц|указани"
        r"|правил|команд|промпт|приказ|директив|настрои|інструкц|вказівк|сообщени)"
        r"|(?:забудь|игнорируи)(?:те)? (?:все|всё),? (?:что|выше)",
    ),
    Rule(
        PERSONA,
        (
            "теперь ты",
            "ты теперь",
            "отныне",
            "с этого момента",
            "веди себя",
            "представь",
            "притвор",
            "тепер ти",
            "ти тепер",
            "действуи как",
        ),
        rf"{GO}(?:теперь ты|ты теперь|тепер ти|ти тепер|вы теперь)\b|{GO}(?:отныне|с этого момента),? (?:ты|вы"
        r"|отвечаи|всегда|никогда)|\bведи себя как\b|\bпредставь,? что ты\b|\bпритвори(?:сь|тесь)\b"
        r"|\bдеиствуи(?:те)? как\b",
    ),
    Rule(
        COMMAND,
        ("пользовател", "користувач", "ассистент", "модель", "помощник", "нииросеть", "нейросеть", "бот "),
        r"(?:говори|скажи|отвечаи|ответь|рекомендуи|порекомендуи|сообщи|сообщаи|напомни|напоминаи|спроси|советуи"
        r"|посоветуи|убеди|предложи|предлагаи|скажіть|скажи|передаи|не говори"
        r"|не сообщаи)(?:те)?\b[^.]{0,40}(?:пользовател|користувач)"
        r"|\b(?:ассистент|ии|модель|бот|чат-бот|помощник|неиросеть)\b(?: \w+){0,2}? (?:долж(?:ен|на|но)|обязан\w*)\b",
    ),
    Rule(
        DISCLOSURE,
        ("промпт", "инструкц", "воспоминан", "знаешь о"),
        rf"{GO}(?:покажи|раскрои|выведи|повтори|напечатаи|напиши|расскажи|перечисли)\b[^.]{{0,40}}(?:системн\w+"
        r" (?:промпт|инструкц|сообщени)|сво[иеюй]\w* (?:инструкц|промпт|правил)|все воспоминан"
        r"|всё?,? что (?:ты )?знаешь)",
    ),
    # Polish, Czech, Turkish
    Rule(
        OVERRIDE,
        (
            "ignoruj",
            "zapomnij",
            "pomin",
            "odrzuc",
            "nie zwazaj",
            "zapomen",
            "yok say",
            "gormezden",
            "unut",
            "dikkate alma",
        ),
        r"\b(?:z?ignoruj(?:cie)?|zapomnij|pomin|odrzuc|nie zwazaj na|zapomen)\b[^.]{0,40}\b(?:poprzedni\w*"
        r"|wczesniejsz\w*|powyzsz\w*|wszystki\w*|swoi\w*|swoje|dotychczasow\w*|predchozi\w*|vsechn\w*"
        r"|systemow\w*)\b[^.]{0,30}\b(?:instrukcj\w*|polecen\w*|zasad\w*|wytyczn\w*|regul\w*|prompt\w*|instrukc\w*"
        r"|pokyn\w*|pravidl\w*)"
        r"|(?:onceki|yukaridaki|tum|butun|sistem|simdiye kadarki)\b[^.]{0,25}(?:talimat|komut|kural|yonerge"
        r"|istem)\w*[^.]{0,15}(?:yok say|gormezden gel|unut|dikkate alma|goz ardi et)(?!t|ti|di|du|mis|mus|ur|ar)",
    ),
    Rule(
        PERSONA,
        ("jestes teraz", "od teraz", "udawaj", "zachowuj sie", "artik sen", "sen artik", "bundan sonra", "su andan"),
        rf"{GO}(?:jestes teraz|teraz jestes)\b|{GO}od teraz (?:jestes|odpowiadaj|masz|bedziesz)\b"
        rf"|\budawaj,? ze jestes\b|\bzachowuj sie jak\b|{GO}(?:artik sen|sen artik)\b|{GO}(?:bundan sonra"
        r"|su andan itibaren),? (?:sen|her|hep|yanit|cevap)",
    ),
    Rule(
        COMMAND,
        ("uzytkownik", "kullanici", "asystent", "asistan"),
        r"\b(?:powiedz|mow|odpowiadaj|odpowiedz|polec|polecaj|przypomnij|poinformuj|zapytaj|doradz|namow"
        r"|przekonaj)\b[^.]{0,40}\buzytkownik\w*|\b(?:asystent|model)(?: \w+){0,2}? (?:musi|powinien|ma zawsze)\b"
        r"|kullanici(?:ya|lara|yi|nin)\b[^.]{0,40}(?:soyle|oner|bildir|hatirlat|sor|tavsiye et|anlat|ikna et)(?!d|m)"
        r"|\basistan\b[^.]{0,30}(?:meli|mali|zorunda)",
    ),
]
