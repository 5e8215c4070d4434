"""Words for passwords and codes in many languages, as parts of patterns."""

from __future__ import annotations

import re

NAMES_OF_PASSWORDS = (
    r"pass ?words?|pass ?codes?|pass ?phrases?|pass ?keys?|passwd|pwd|pw|log-?in|pass ?wort|kenn ?wort|kennsatz"
    r"|losung(?:swort)?"
    r"|zugangs(?:code|wort)|w-?lan-(?:schl[uü]ssel|key|code)|wi-?fi[- ](?:key|code)|network key|mot de passe"
    r"|phrase (?:de passe|secr[eè]te)"
    r"|mdp|contrase[nñ]as?|contrasenya|contrasinal|frase de contraseña|clave|senha|palavra-passe|wachtwoord(?:en)?"
    r"|wachtwoordzin|has[lł]o|парол\w{1,4}|кодовое слово|şifre\w{0,6}|parola\w{0,4}|parole d'ordine|lösenord\w{0,3}"
    r"|l[oø]senfras\w{0,2}|adgangskode\w{0,2}|passord\w{0,3}|kodeord\w{0,3}|heslo|geslo|lozink\w{1,2}|лозинк\w{1,2}"
    r"|zaporka|salasana\w{0,4}|parool\w{0,3}|slaptažod\w{1,4}|jelsz(?:ó|ava)\w{0,3}|jelmondat\w{0,3}"
    r"|κωδικ[όο]ς(?: πρ[όο]σβασης)?"
    r"|συνθηματικ[όο]|lykilorð\w{0,3}|fjalëkalim\w{0,3}|pasahitz\w{0,3}|wagwoord|pasvorto|cyfrinair|nenosiri"
    r"|neno la siri"
    r"|focal faire|pasfhocal|kata sandi\w{0,3}|kata laluan|sandi|mật khẩu|salitang-tanda|şifrə\w{0,4}|құпия ?сөз\w{0,3}"
    r"|нууц үг|პაროლი|գաղտնաբառ\w{0,3}|סיסמ[הת]\w{0,3}|كلمة (?:السر|المرور|سر|مرور)|رمز (?:عبور|المرور)|گذرواژه"
    r"|پاس ?ورڈ|सिफ़र|पासवर्ड"
    r"|পাসওয়ার্ড|கடவுச்சொல்|పాస్‌?వర్డ్|รหัสผ่าน|รหัสลับ"
)
NAMES_OF_PASSWORDS_CJK = "密码|密碼|口令|パスワード|合言葉|비밀번호|암호"
PINS = (
    r"pins?|pin[- ]?(?:codes?|number|nummer|kod\w{0,3})|cvv2?|cvc2?|geheim(?:zahl|nummer)|security code|card code"
    r"|n[iı]p|bancomat|пин(?:-?код)?\w{0,2}|nambari ya siri|namba ya siri|暗証番号|暗证|otp|tans?"
    r"|पिन(?: कोड)?|الرقم السري|رقم فتح \w+|잠금 번호|puk"
)
CODES = (
    r"(?:[^\W\d]{2,20}[ -]?)?(?:codes?|k[oó]d(?:en|et|u|em|a|ja|y|nya|o|eja)?|kood(?:i|id)?|kode(?:n|t|nya)?|koda|codi)"
    r"|c[oó]digos?|codic[ei]|codul|cod|digicode|passcodes?|combo|[^\W\d]{0,20}-?kombination\w{0,2}|combinations?"
    r"|combinaison"
    r"|(?:unlock|screen|phone) pattern|combinaci[oó]n|combinazione|combina[cç][aã]o|szyfr|[sš]ifr[aeu]\w{0,2}"
    r"|код\w{0,4}|шифр\w{0,2}|κωδικ\w{1,3}|קוד|כספת"
    r"|كود|رمز|کد|कोड|কোড|குறியீடு|కోడ్|รหัส|mã(?: số)?|コード|코드|密码锁|côd|cód|msimbo|කේතය|კოდი|կոդը?"
)
# Codes that open nothing.
OTHER_CODE = re.compile(
    r"(?:\b(?:zip|posta?l?|area|dial(?:l?ing)?|country|bar|dress|morse|source|building|penal|civil|criminal"
    r"|labou?r|tax|state"
    r"|highway|airport|error|product|promo\w*|discount|coupon|voucher|qr|colou?r|hex\w*|genetic|iata|icao|swift"
    r"|bic|sort"
    r"|fire|moral|ethic\w*|legal|machine|status|stage|postnumme\w*|station|course|subject|train|stock|order|item|part"
    r"|booking|flight|hamming|gray|napoleonic|justinian|stra[fß]\w*|unicode|ascii|icd\w*|dtc|trouble|fault|diagnos\w*)"
    r"[ -]?|post|zip|bar|strich|quell|farb|rabatt|länder|gutschein|vor|en|de|streck|vonal|irányítószám)$",
    re.IGNORECASE,
)
OTHER_CODE_AFTER = re.compile(
    r"\s*(?:post\w+|p[eé]nal\w*|civil\w*|fiscal\w*|pocztow\w*|pos\b|of (?:conduct|hono\w+|ethics|silence|law|practice)"
    r"|de (?:la route|conduite|conducta|barras|barres|área|area)|du travail|di avviamento|source\b|bưu|ไปรษณีย์|почт\w*"
    r"|बंगला|पिन|बريدي|بريدي|پستی|fuente|words? |(?:name|review|monkey|talker|breaker|geass)\w*)",
    re.IGNORECASE,
)
COPULA = (
    r"(?:is|are|used to be|had been|has been|will be|was|were|remains|reads|ist|sind|war|lautete?|hei(?:ß|ss)t"
    r"|hat|est|était|sont|es|era|fue|son|é|e"
    r"|são|foi|è|sono"
    r"|jest|to|było|brzmi|je|bylo|byl|bolo|zní|znie|är|var|er|on|oli|este|sunt|е|је|беше|это|был|была|είναι|ήταν"
    r"|הוא|היא|היה"
    r"|هو|هي|هى|كان|است|है|थी|था|হল|হলো|ছিল|là|adalah|ialah|ni|yw|oedd|estas|da|ay|është|ki)"
)
JOINED_IS = "(?:คือ|เป็น|은|는|이|가|は|が|是|为|為|:)"
JOIN = (
    rf"(?:\s*(?:[:=→]+|\s-)\s*|(?:,?\s+(?:which|der|die|das|qui|che|que|кото\w+))?"
    rf"\s+{COPULA}(?![\w'’])[:,]?\s+(?:(?:the numbers?|the digits|the word|just|simply"
    rf"|now|currently|still|probably"
    rf"|einfach|jetzt|immer noch|simplement|siempre)\s+)?|\s*{JOINED_IS}\s*|\s+(?:changed|set|reset"
    rf"|switched) to\s+|\s+(?:now|currently)\s+)"
)
QUOTE = "[\"'“”«„‘`「『]"
# A number may follow an article: "Die PIN ist die 4711", "el código es el 5172".
NUMBER_JOIN = rf"{JOIN}(?:(?:the|die|der|das|le|la|el|il|lo|o|de|het)\s+(?:numbers? |digits |zahlen |ziffern )?)?"
OF_WHAT = (
    r"(?:\s+(?:for|of|to|from|on|für|fürs|beim|im|von|vom|zum|zur|zu|pour|de|du|des|del|della|dello|da|do|di|per"
    r"|para|от|для|к|i|till|til|voor"
    r"|van|der|dem|des|od|k|ke|za|la|w|na|a|am|im|in|av|af|på|u|en|att|från|fra|contului|la|pentru"
    r"|на|за|до|від|у|в|з|της|του|για|στο|στην|untuk|của|cho|wa|ya)\s"
    r"(?:[^.,:;=\"“'\d\[\]]|(?<=[^\W\d])['’](?=[^\W\d])|\b[dl]['’]){1,40}?)?"
)
DIGITS = (
    r"\d{3,10}[A-Za-z]?[#*]?|\d{1,2}(?:\s?[-–/]\s?\d{1,2}){2,8}|(?:\d{3,4}[ -]){1,2}\d{3,4}"
    r"|\d{1,2}(?: (?:left|right|links|rechts))?(?:,? (?:and |und |y |et )?\d{1,2}(?: (?:left|right|links"
    r"|rechts))?){2,3}"
)
UNIT = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple|null|eins|zwei|zwo|drei|vier|fünf"
    r"|sechs|sieben|acht"
    r"|neun|zéro|un|deux|trois|quatre|cinq|sept|huit|neuf|cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve"
    r"|due|tre|quattro"
    r"|cinque|sei|sette|otto|nove|dois|três|quatro|sete|oito|een|twee|drie|vijf|zes|zeven|negen|один|два|три"
    r"|четыре|пять|шесть"
    r"|семь|восемь|девять|ноль|jeden|dwa|trzy|cztery|pięć|sześć|siedem|osiem|dziewięć|bir|iki|üç|dört|beş|altı"
    r"|yedi|sekiz|dokuz|sıfır)(?!\w)"
)
TENS = (
    r"(?:ten|eleven|twelve|\w{3,5}teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|zehn|elf|zwölf|\w{3,5}zehn"
    r"|(?:ein|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun)und\w{3,5}[zß]ig|\w{3,6}[zß]ig|dix|onze|douze|treize"
    r"|quatorze|quinze|seize|vingt|trente|quarante|cinquante|soixante|diez|once|doce|veint\w{1,8}|treinta|cuarenta"
    r"|cincuenta|sesenta|setenta|ochenta|noventa|dieci|venti\w{0,7}|trenta\w{0,7}|quaranta\w{0,7}"
    r"|cinquanta\w{0,7}|vinte|trinta|quarenta|tien|\w{3,5}tien|(?:twin|der|veer|vijf|zes|zeven|tach|negen)tig|yirmi|otuz|kırk|elli|altmış|yetmiş"
    r"|seksen|doksan|on(?= (?:bir|iki|üç|dört|beş|altı|yedi|sekiz|dokuz)\b)|\w{3,9}(?:naście|dzieścia|dzieści|dziesiąt)"
    r"|\w{3,7}(?:надцать|дцать|десят)|сорок|девяносто)(?!\w)"
)
_AND = r"(?:[ ,-]+(?:and |und |et |y |e |i |и )?)"
SPELLED = rf"(?:{UNIT}(?:{_AND}{UNIT}){{2,}}|(?:{UNIT}{_AND})?{TENS}(?:{_AND}(?:{TENS}|{UNIT})){{1,7}})"
MIXED = r"(?=[^\s]*\d)[A-Z0-9][A-Za-z0-9#*-]{3,18}"
ENDS = (
    r"(?!\d|[.,:]\d|['’]|\s?(?:%|€|\$|°|[ap]\.?m\b|kg|km|cm|mm|ml)|\s+(?!(?:and|but|for|since|until|from|on|in"
    r"|at|if|when|as|to|so"
    r"|because|please|und|aber|seit|bis|bitte|für|pour|depuis|para|desde|per|voor|dla|or|y|et|e|then|now|was|is|unlocks"
    r"|opens|aus|auf|herself|himself|hai|است|है|followed|plus|confirmed|after|with|without|said|says|he|she|the|which"
    r"|that|both|press|enter|says?|sagte?|dann|danach|mit|ohne|puis|suivi\w?|dit|luego|seguid[ao]|dice|poi|seguito"
    r"|potem|sonra|dan|ile|และ)\b)[a-zà-ÿ]{3,})"
)

# What locks, what opens it, and the words before a code, in many languages.
LOCKS = (
    r"(?:(?:[^\W\d]{2,20}[ -]?)?(?:door|gate|garage|alarm|safe|key ?pad|lock(?:er)?|lock ?box|key ?safe|key ?box"
    r"|padlock|vault|strong ?box|suitcase|briefcase|barrier|entry ?phone|intercom|voice ?mail|phone|mobile|tablet|i?pad"
    r"|laptop|computer|sim|lift|elevator|shed)(?:'s)?|[^\W\d]{0,12}(?:tür|tor|tresor|schloss|schließfach|spind|koffer"
    r"|schranke|handy|safe|anlage)|porte|portail|coffre(?:-fort)?|cadenas|digicode|valise|casier|boîte à clés|alarme"
    r"|téléphone|puerta|portal|portón|caja fuerte|candado|maleta|taquilla|alarma|móvil|cancello|porta|cassaforte"
    r"|lucchetto|valigia|armadietto|allarme|telefono|portão|cofre|cadeado|mala|cacifo|telemóvel|alarme|deur|poort|kluis"
    r"|kluisje|slot|koffer|\w{0,12}(?:lås|skåp|port|dörr|dør|låsen|låset|skapet|skabet|porten|dörren|døren)\w{0,3}"
    r"|\w{0,10}(?:lukko|ovi|kaappi|portti|lukon)|drzwi|brama|sejf|kłódka|szafka|walizka|dveře|brána|trezor|zámek"
    r"|skříňka|ajtó|kapu|széf|lakat\w{0,3}|ușa|poarta|seiful|lacătul|kapı\w{0,4}|kasa\w{0,4}|\w{0,10} ?kilidi\w{0,3}"
    r"|дверь|домофон|сейф|замок|ворота|чемодан|калитка|шлагбаум|камера хранения|двері|хвіртка|врата\w{0,2}|сеф\w{0,2}"
    r"|πόρτα|χρηματοκιβώτιο|λουκέτο|כספת|הכספת|השער|הדלת|باب|خزنة|الخزنة|البوابة|金庫|ロッカー|ドア|保险箱|保险柜|门禁|금고|대문"
    r"|사물함|잠금)"
)
OPENS = (
    r"(?:opens?|opened|unlocks?|unlocked|disarms?|disarmed|turned off|switched off|deactivated|silenced|entered"
    r"|gets? you in|öffnet|geht|öffnen|aufgeht|entsperrt|ausgeschaltet|entschärft|s'ouvre|se désactive"
    r"|se déverrouille|se abre"
    r"|se desactiva|se desbloquea|si apre|si disattiva|si sblocca|abre|abre-se|desliga|gaat|opent|öppnas|låses? upp"
    r"|åbnes|låses|åpnes|aukeaa|avautuu|otwiera się|otwierają się|się otwiera|otevírá se|se otevírá|se otevře|nyílik"
    r"|nyitható|se deschide|открывается|открываются|відчиняється|відкривається|се отваря|otvara se|se otvara|se odpre"
    r"|ανοίγει|נפתח\w?|يفتح|تفتح)"
)
WITH = (
    r"(?:with|by|using|via|at|on|to|mit|auf|avec|con|com|met|med|koodilla|numeroilla|kodem|na|kódem|cu|на|кодом|за"
    r"|με|ב|بـ?|codes?|numbers?|digits?|code)"
)

YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
TELLING = re.compile(r"\S*?(?:\d|[^\w\s.,;!?)'’-]|[a-zа-я][A-ZА-Я])", re.UNICODE)
SAID_ABOUT = re.compile(
    r"(?:a|an|the|his|her|their|its|my|our|your|always|never|still|often|not|no|too|so|very|only|just|also|what"
    r"|that|the|everything"
    r"|secret|safe|strong|weak|unknown|long|short|easy|hard|simple|wrong|right|correct|invalid|lost|known|gone"
    r"|stuck|kept|english"
    r"|impossible|important|private|something|nothing|one|on|in|under|at|about|from|for|to|by|with|and|or|fine"
    r"|good|bad|nonsense"
    r"|where|when|which|who|how|why|if|quality|ein|eine|der|die|das|ihr|ihre|sein|seine|kein|keine|immer|nie"
    r"|nicht|sicher|geheim"
    r"|le|la|les|un|une|son|sa|toujours|el|los|una|su|siempre|il|lo|sempre|o|os|as|um|uma|был|была|w|z|na|jakość"
    r"|\w+(?:ed|en|ing|ly|é|ée|ado|ada|ido|ida|ato|ata|uto|uta|la|lo|li|ла|ло|ли|на|ны|no|ny))",
    re.IGNORECASE,
)
FUNCTION_WORD = re.compile(
    r"\b(?:a|an|the|his|her|their|its|my|our|your|of|to|in|on|at|for|from|with|by|about|is|was|are|were|be|been"
    r"|has|had|have|not|never"
    r"|always|still|too|so|very|only|just|also|what|that|which|who|when|where|how|why|if|and|or|but|as|than|she"
    r"|he|they|it|nobody"
    r"|somebody|everybody|ein|eine|einen|der|die|das|den|dem|des|von|zu|mit|für|auf|im|am|nicht|nie|immer|ihr"
    r"|ihre|sein|seine|und"
    r"|oder|aber|war|ist|sie|er|es|wurde|worden|le|la|les|un|une|du|de|des|dans|pour|avec|et|ou|que|qui|était"
    r"|est|el|los|las|una"
    r"|del|en|con|para|por|y|su|se|il|lo|di|della|per|che|e|non|si|o|os|um|uma|do|da|em|na|no|jest|nie|w|z|het"
    r"|een|van|op|te|det"
    r"|en|ett|av|för|som|och|og|i|на|в|и|с|не|как)\b",
    re.IGNORECASE,
)
# Substrings of the words above: a text without any of them is not searched.
PASSWORD_STEMS = [
    "pass", "pwd", "pw", "login", "log-in", "kennw", "kenn", "losung", "zugangs", "schlüssel", "wifi", "wi-fi",
    "network", "phrase", "mdp", "contrase", "contrasi", "clave", "frase", "senha", "palavra", "wacht", "hasł",
    "haslo", "парол", "кодовое", "şifr", "parol", "lösen", "losenf", "adgang", "kodeord", "heslo", "geslo", "lozink",
    "лозинк", "zapork", "salasan", "slapta", "jelsz", "jelmon", "κωδικ", "συνθημ", "lykilor", "fjalëk", "pasahi",
    "wagwo", "pasvor", "cyfrin", "nenosi", "siri", "focal", "sandi", "laluan", "mật", "khẩu", "salitang", "құпия",
    "нууц", "პარ", "გაღ", "գաղտ", "סיסמ", "كلمة", "رمز", "گذر", "پاس", "सिफ़र", "पासव", "পাস", "கடவு", "పాస్", "รหัส",
    "密码", "密碼", "口令", "パスワード", "合言葉", "비밀번호", "암호", "暗証", "暗证", "credential", "anmelded",
    "sign in", "signs in", "signed in", "signs on", "log in", "logs in", "logged in", "logs on", "logs into",
    "identifiant", "zugang", "parola", "code word", "codeword",
]  # fmt: skip
CODE_STEMS = [
    "pin", "cvv", "cvc", "geheim", "security", "card", "nip", "bancom", "пин", "nambari", "namba", "暗", "otp", "tan",
    "cod", "cód", "kod", "kód", "kood", "combo", "kombi", "combi", "szyfr", "šifr", "sifr", "код", "шифр", "κωδ",
    "קוד", "כספ", "كود", "رمز", "کد", "कोड", "কোড", "குறி", "కోడ్", "รหัส", "mã", "コード", "코드", "côd", "msimbo",
    "කේ", "კოდ", "կոդ", "door", "gate", "garage", "alarm", "safe", "keypad", "lock", "phone", "ipad", "tablet",
    "laptop", "code", "tür", "tor", "tresor", "schloss", "haus", "recovery", "backup", "back-up", "sms", "verif",
    "2fa", "mfa", "einmal", "answer", "antwort", "réponse", "respuesta", "key", "elevator", "lift", "house", "puk",
    "पिन", "cass", "coff", "cofre", "caja", "port", "puert", "candad", "cadena", "valis", "valig", "malet", "lucche",
    "kluis", "poort", "deur", "slot", "lås", "skåp", "skap", "lukko", "kaap", "ovi", "sejf", "kłód", "brama", "drzwi",
    "trezor", "széf", "kapu", "lakat", "seif", "lacăt", "kilid", "kapı", "kasa", "двер", "домоф", "сейф", "сеф",
    "замок", "ворот", "чемод", "πόρτ", "χρηματ", "λουκ", "باب", "خزن", "فتح", "金庫", "保险", "门禁", "잠금", "금고",
    "대문", "vault", "suitcase", "locker", "voicemail", "bank", "visa", "mastercard", "amex",
]  # fmt: skip
HAS_NUMBER = re.compile(
    rf"\d{{3}}|\d\D{{1,9}}\d|\b(?:{UNIT}|{TENS})[ ,-]+(?:{UNIT}|{TENS})|question|frage|pregunta|code ?word"
    rf"|secret answer"
    rf"|security answer|geheime antwort|réponse secr|respuesta secr",
    re.IGNORECASE,
)
