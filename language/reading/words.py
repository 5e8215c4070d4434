"""Word lists for the reading: kinship terms, names, hobbies, occupations. All are in lower case."""

from __future__ import annotations


def listed(text: str) -> frozenset[str]:
    """Turn a block of words separated by white space into a set; ``_`` stands for a space inside an entry."""
    return frozenset(in_order(text))


def in_order(text: str) -> list[str]:
    """Turn a block of words into a list, as ``listed`` turns it into a set."""
    return [word.replace("_", " ") for word in text.split()]


SMALL_NUMERALS = in_order(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen"""
)
TENS = in_order("twenty thirty forty fifty sixty seventy eighty ninety")
NUMERALS = {word: at for at, word in enumerate(SMALL_NUMERALS)} | {word: 10 * at for at, word in enumerate(TENS, 2)}
ENGLISH = listed(
    """the a an and or but of to in on at for from with by as is are was were be been am do does did have has had
    not i he she it we they you my his her our their me him us them this that who which when where what so very
    never always every all would could will can about after before into out up there if then too also just more
    most some any no only i'm don't"""
)
"""English function words; used to recognise a sentence as English."""

KIN_WORDS: dict[str, tuple[str, frozenset[str]]] = {
    # group: (gender f, m or ?, the words for it)
    "mother": ("f", listed("mother mom mum mama mamma mommy mummy ma momma mam mammy")),
    "father": ("m", listed("father dad daddy papa pa pop pops da dada poppa")),
    "grandmother": (
        "f",
        listed(
            "grandmother grandma granny gran nana nan nanna nanny grannie gram grams grammy abuela abuelita nonna "
            "oma yaya babushka bubbe lola halmoni gogo ouma vovó grandmama grandmom meemaw mawmaw mamaw mémé"
        ),
    ),
    "grandfather": (
        "m",
        listed(
            "grandfather grandpa granddad grandad grandda gramps grandpop granddaddy abuelo nonno opa dedushka "
            "oupa zayde lolo vovô pawpaw papaw pépé grampa grandpapa"
        ),
    ),
    "great-grandmother": ("f", listed("great-grandmother great-grandma great-gran")),
    "great-grandfather": ("m", listed("great-grandfather great-grandpa great-granddad")),
    "sister": ("f", listed("sister sis")),
    "brother": ("m", listed("brother bro")),
    "aunt": ("f", listed("aunt auntie aunty great-aunt tía")),
    "uncle": ("m", listed("uncle great-uncle tío")),
    "wife": ("f", listed("wife")),
    "husband": ("m", listed("husband hubby")),
    "daughter": ("f", listed("daughter girl")),
    "son": ("m", listed("son boy lad")),
    "child": ("?", listed("child kid toddler baby")),
    "cousin": ("?", listed("cousin")),
    "niece": ("f", listed("niece")),
    "nephew": ("m", listed("nephew")),
    "granddaughter": ("f", listed("granddaughter")),
    "grandson": ("m", listed("grandson")),
    "grandchild": ("?", listed("grandchild")),
    "partner": ("?", listed("partner spouse fiancé fiancée fiance fiancee ex")),
    "girlfriend": ("f", listed("girlfriend ex-girlfriend ex-wife")),
    "boyfriend": ("m", listed("boyfriend ex-boyfriend ex-husband")),
    "friend": ("?", listed("friend bestie buddy pal mate")),
    "stepmother": ("f", listed("stepmother stepmom stepmum")),
    "stepfather": ("m", listed("stepfather stepdad")),
    "stepchild": ("?", listed("stepson stepdaughter stepchild stepbrother stepsister")),
    "mother-in-law": ("f", listed("mother-in-law sister-in-law daughter-in-law")),
    "father-in-law": ("m", listed("father-in-law brother-in-law son-in-law")),
    "godmother": ("f", listed("godmother goddaughter")),
    "godfather": ("m", listed("godfather godson")),
    "parent": ("?", listed("parent grandparent guardian twin sibling")),
    "boss": ("?", listed("boss manager supervisor lead chef")),
    "colleague": ("?", listed("colleague coworker co-worker teammate deputy assistant intern client cofounder")),
    "mentor": ("?", listed("mentor teacher tutor coach professor instructor advisor adviser trainer")),
    "neighbour": ("?", listed("neighbour neighbor roommate housemate flatmate landlord landlady tenant")),
    "carer": ("?", listed("doctor dentist therapist lawyer accountant physio physiotherapist hairdresser gp vet")),
}
KIN: dict[str, str] = {word: group for group, (_, group_words) in KIN_WORDS.items() for word in group_words}
KIN_GENDER: dict[str, str] = {group: gender for group, (gender, _) in KIN_WORDS.items()}
# Capitalised or without "my", these refer to one person, as "Dad" does.
NAMING_KIN = frozenset().union(
    *(KIN_WORDS[group][1] for group in ("mother", "father", "grandmother", "grandfather", "aunt", "uncle"))
) - listed("ma pa pop lead pops")
FAMILY = frozenset(KIN_WORDS) - {"boss", "colleague", "mentor", "neighbour", "carer", "friend"}
KIN_PLURALS = listed(
    """children kids brothers sisters sons daughters siblings grandchildren grandkids cousins nieces nephews aunts
    uncles twins triplets parents grandparents babies stepchildren stepsons stepdaughters godchildren boys girls
    great-grandchildren friends"""
)
PETS = listed(
    """dog dogs cat cats puppy puppies kitten kittens parrot parrots rabbit rabbits bunny hamster hamsters horse
    horses pony goldfish turtle turtles tortoise snake lizard budgie canary canaries hen hens chickens goat goats
    cow cows donkey pig pigs sheep bees pigeons guinea terrier labrador retriever poodle beagle dachshund collie
    spaniel husky corgi bulldog shepherd pug dalmatian pet pets"""
)
DIAGNOSING = listed("doctor doc gp nurse consultant specialist dietician optician dentist vet")
"""Whose word on somebody's health is taken for a fact."""
TITLES = listed("mr mrs ms miss dr doctor prof professor sir lady father sister brother st saint rev reverend captain")

FEMALE_NAMES = listed(
    """mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty margaret sandra ashley
    kimberly emily donna michelle carol amanda dorothy melissa deborah stephanie rebecca sharon laura cynthia
    kathleen amy angela shirley anna ana brenda pamela emma nicole helen samantha katherine catherine christine
    debra rachel carolyn janet maria maría heather diane ruth julie olivia joyce virginia victoria kelly lauren
    christina joan evelyn judith megan andrea cheryl hannah jacqueline martha gloria teresa ann anne sara
    madison frances kathryn janice jean abigail alice julia judy sophia grace denise amber doris marilyn
    danielle beverly isabella theresa diana natalie brittany charlotte marie kayla alexis lori rosa rose inês
    ines beatriz lucia lucía sofia sofía clara carla elena eleanor ellen irene eva nora ivy mia chloe zoe leah
    lucy ella lily isla ava aisha fatima amina priya anita sunita mei yuki ingrid astrid greta hilda edith agnes
    ethel florence gertrude mabel pearl hazel iris violet daisy molly nina tina gina paula claire caroline
    melanie joanna jolene miriam esther naomi deb mel jo jen kate katie liz beth sue rosie maggie peggy penny
    wendy tracy stacy audrey vera olga natasha svetlana carmen pilar dolores mercedes consuelo guadalupe luísa
    luisa joana catarina helena teodora amália amalia francesca giulia chiara bridget maeve siobhan fiona morag
    eileen phyllis lois rita norma wanda loretta bonnie sally tamara leila layla yasmin zainab nadia sonia
    monica veronica gabriela gabriella daniela valentina camila mariana juliana alma"""
)
MALE_NAMES = listed(
    """james robert john michael david william richard joseph thomas charles christopher daniel matthew anthony mark
    donald steven paul andrew joshua kenneth kevin brian george timothy ronald edward jason jeffrey ryan jacob
    gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory alexander patrick
    frank raymond jack dennis jerry tyler aaron jose josé adam nathan henry zachary douglas peter kyle noah
    ethan jeremy walter christian keith roger terry austin sean gerald carl harold dylan arthur lawrence jordan
    jesse bryan billy bruce gabriel joe logan alan juan albert willie elijah wayne randy vincent mason roy ralph
    bobby russell bradley philip eugene tom tim tony ted ben bob bill jim mike dave steve dan sam max leo oscar
    hugo luis luís carlos miguel manuel joão joao pedro paulo antónio antonio francisco fernando ricardo rafael
    diego pablo javier jorge alejandro marco mario luigi giovanni giuseppe pietro paolo hans karl heinz fritz
    otto klaus jürgen stefan lars sven erik olaf ivan sergei dmitri vladimir boris mohammed muhammad ahmed ali
    omar hassan ibrahim yusuf kwame kofi chidi raj arjun rahul vikram ravi amit hiroshi kenji takeshi wei ming
    nate alec alex greg darryl craig stuart neil ian graham derek barry trevor nigel simon colin duncan ewan
    liam owen rhys gareth declan cormac padraig seamus ernest ernie stanley walt herbert leonard bernard norman
    clarence cecil percy reginald rupert edgar edmund felix luke lucas luca matteo martin rodrigo tiago duarte
    nuno vasco álvaro alvaro joaquim domingos"""
) - {"jordan"}
NATIONALITIES = listed(
    """english french german spanish portuguese italian irish scottish welsh british american canadian mexican
    brazilian chinese japanese korean indian russian polish dutch swedish norwegian danish finnish greek turkish
    jewish catholic christian muslim buddhist hindu ukrainian african asian european australian vietnamese thai
    filipino nigerian kenyan egyptian iranian persian pakistani hungarian czech romanian swiss austrian belgian
    argentinian colombian chilean peruvian cuban jamaican latino latina hispanic protestant atheist agnostic sikh
    quaker methodist baptist lutheran anglican"""
)
LANGUAGES = listed(
    """english french german spanish portuguese italian irish gaelic welsh chinese mandarin cantonese japanese korean
    hindi urdu bengali punjabi tamil telugu russian polish dutch swedish norwegian danish finnish greek turkish
    arabic hebrew yiddish ukrainian czech slovak hungarian romanian bulgarian serbian croatian swahili yoruba
    igbo zulu tagalog vietnamese thai indonesian malay persian farsi catalan basque galician latin"""
)
# Not cities: "lives in Spain" gives no city.
REGIONS = listed(
    """portugal spain france germany italy england scotland wales ireland britain uk usa us america canada mexico
    brazil argentina chile peru colombia china japan korea india russia poland netherlands holland belgium
    luxembourg switzerland austria sweden norway denmark finland iceland greece turkey egypt morocco nigeria
    ghana kenya ethiopia australia zealand ukraine romania hungary bulgaria croatia serbia israel iran iraq
    pakistan bangladesh vietnam thailand indonesia malaysia philippines europe africa asia california texas
    florida ohio oregon washington michigan illinois georgia virginia carolina dakota jersey massachusetts maine
    vermont hampshire connecticut minnesota wisconsin iowa kansas nebraska missouri arkansas louisiana
    mississippi alabama tennessee kentucky indiana pennsylvania maryland delaware colorado utah nevada arizona
    idaho montana wyoming alaska hawaii oklahoma bavaria tuscany catalonia andalusia normandy brittany provence
    quebec ontario algarve alentejo sicily sardinia cornwall devon yorkshire kent sussex montserrat cuba jamaica
    bahamas barbados wisconsin lebanon syria jordan"""
)
# Words that are often capitalised but are not names.
_NO_NAMES = listed(
    """able absolutely across actually again against ago ah ai ain almost alone along already although amazing
    among another anyhow anyone anything anyway anyways api apparently apr april around aug august aw away awesome
    aww back barely basically because behind being beside besides best better between beyond big bit both btw bye
    came cant certainly christmas clearly come coming completely congrats constantly cool currently d day days
    dearly dec december deeply definitely despite didnt different don done dont down during each easter easy else
    enough especially eu even eventually ever everyone everything exactly excited famously feb february feel
    feeling feelings feels felt few finally find firmly first fortunately found free frequently friday full fully
    funnily further fyi gave generally genuinely get gets getting give given glad go god goes going gone gonna good
    gosh got great haha happen happened happens happily happy hard hardly hear heard hearing hello help helped
    helps here hers herself hey hi himself hm hmm honestly hope how however im immediately important indeed
    initially inside interestingly internet its itself ive jan january jul july jun june keep kept kind kinda knew
    know known knows last lately later least less let lets lgbt lgbtq like liked literally little live lived ll lol
    long look looked looking looks lot lots love loved lovely luckily m made main mainly make makes making many mar
    march may maybe mean means meant might mine mm monday month months morning mostly much must myself n't nah near
    nearly need needed needs new next nice night nonetheless nope nor normally nothing nov november now o obviously
    occasionally oct october off often oh ok okay old omg once one ones onto originally other others ours ourselves
    outside over own particularly people per perhaps personally please plus pretty primarily probably proudly
    puerto put quietly quite rarely rather re real really recently regularly remember remembered remembers right s
    sad sadly said same saturday saw say saying says secretly see seem seems seen seldom sep sept september shall
    should simply since somehow someone something sometimes soon sort sound sounds special start started still
    strictly strongly such sunday super sure t take takes talk talked talking tell telling than thank thanks
    thanksgiving thats theirs themselves these thing things think thinks those though thought through throughout
    thurs thursday time times today together told tomorrow took totally towards tried true truly try trying tues
    tuesday tv two typically u ugh uh uk um under unfortunately until upon ur usa used usually ve wanna want wanted
    wants way ways wed wednesday week weeks well well, went while whole whom whose why within without wonderful
    work worked wow y'all ya yeah yeh year years yep yes yesterday yet your youre yours yourself yourselves yup"""
)
NOT_NAMES = (ENGLISH | NATIONALITIES | LANGUAGES | _NO_NAMES) - FEMALE_NAMES - MALE_NAMES

# Those that neither WordNet's kinds of workers nor the endings of such words tell (see ``kinds``).
OCCUPATIONS = listed(
    """accountant actuary agent analyst architect astronaut athlete barista ceo cfo chauffeur coach consultant cto
    detective dj entrepreneur executive guard jockey mason masseuse merchant model nanny nun poet president principal
    rabbi referee restaurateur scholar secretary sheriff smith steward superintendent"""
)
# Nouns for a person that are not occupations.
IDENTITIES = listed(
    """vegetarian vegan pescatarian widow widower pensioner retiree catholic christian muslim jew buddhist hindu atheist
    quaker methodist baptist introvert extrovert perfectionist pacifist socialist feminist conservative liberal
    diabetic polyglot teetotaler teetotaller immigrant refugee orphan twin lefty expat citizen native mother father
    mom mum dad parent grandmother grandfather stepfather stepmother beginner survivor undergraduate graduate
    freshman sophomore junior senior bachelor homebody workaholic bookworm foodie"""
)
PERSON_NOUNS = listed(
    "man woman gentlewoman nobleman madman layman person soul guy lady gentleman fellow human mother father mom mum "
    "dad parent friend"
)
TRAITS = listed(
    """kind stubborn generous patient impatient quiet loud shy funny witty clever smart intelligent wise brave strong
    gentle strict stern warm cold tough hardworking hard-working lazy honest loyal humble proud modest curious
    creative cheerful happy grumpy moody serious playful silly optimistic pessimistic religious devout spiritual
    frugal thrifty stingy tidy messy punctual organised organized meticulous careful careless reckless
    adventurous cautious calm nervous anxious fearless sociable social outgoing introverted extroverted reserved
    private friendly polite rude charming caring loving affectionate tender compassionate empathetic selfless
    selfish thoughtful considerate sensitive sentimental romantic practical pragmatic principled fair
    independent resourceful determined ambitious competitive perfectionist superstitious sarcastic blunt direct
    outspoken opinionated argumentative temperamental hot-tempered short-tempered even-tempered quick-tempered
    easygoing easy-going laid-back relaxed energetic lively tireless restless disciplined dependable reliable
    responsible trustworthy faithful forgiving unforgiving understanding supportive protective overprotective
    nurturing welcoming hospitable talkative chatty quiet-spoken soft-spoken well-spoken elegant graceful
    glamorous vain eccentric quirky unconventional old-fashioned traditional conservative liberal open-minded
    narrow-minded broad-minded scatterbrained forgetful absent-minded handy artistic musical mischievous cheeky
    feisty fierce formidable tenacious resilient stoic dignified gracious sincere genuine down-to-earth
    no-nonsense good-natured good-hearted kind-hearted big-hearted soft-hearted warm-hearted light-hearted
    level-headed strong-willed headstrong obstinate bossy fussy picky particular distant aloof critical
    demanding controlling jealous angry bitter melancholic lonely homesick self-taught self-sufficient studious
    bookish inquisitive imaginative inventive ingenious talented gifted skilled brilliant wonderful amazing
    great good remarkable extraordinary special sweet lovely humorous hilarious jolly joyful merry humorless
    timid"""
)
HOBBY_VERBS = listed(
    """collect paint knit sew garden fish hunt dance sing hike sail bake cook draw sculpt read write swim ski cycle
    crochet quilt carve whittle embroider bowl golf surf camp bike jog run skate kayak photograph meditate sketch
    climb juggle play practise practice volunteer"""
)
HOBBY_NOUNS = listed(
    """gardening fishing football soccer tennis golf cricket rugby basketball baseball chess bridge cards dominoes
    bingo crosswords puzzles jigsaws sudoku knitting sewing cooking baking reading books poetry music opera jazz
    painting pottery woodworking carpentry photography birdwatching hiking cycling swimming sailing dancing
    singing camping travelling traveling running yoga skiing surfing hunting theatre theater films movies cinema
    stamps coins trains planes stargazing astronomy genealogy embroidery crochet quilting guitar piano violin
    accordion trumpet harmonica drums flute cello banjo fiddle clarinet saxophone gaming videogames anime
    climbing pilates crafts calligraphy origami archery fencing boxing karate judo martial_arts bowling darts
    billiards snooker rowing kayaking scuba-diving volleyball hockey writing drawing sketching"""
)
INSTRUMENTS = listed(
    """guitar piano violin accordion trumpet harmonica drums flute cello banjo fiddle clarinet saxophone organ harp
    ukulele mandolin bass keyboard trombone tuba oboe concertina bagpipes viola recorder"""
)

CASUAL_SPELLINGS = {
    "im": "I'm", "ive": "I've", "dont": "don't", "cant": "can't", "wont": "won't", "didnt": "didn't",
    "wasnt": "wasn't", "isnt": "isn't", "arent": "aren't", "werent": "weren't", "hasnt": "hasn't",
    "havent": "haven't", "hadnt": "hadn't", "doesnt": "doesn't", "couldnt": "couldn't", "wouldnt": "wouldn't",
    "shouldnt": "shouldn't", "hes": "he's", "shes": "she's", "theyre": "they're", "youre": "you're",
    "thats": "that's", "theres": "there's", "whats": "what's", "wouldve": "would've", "couldve": "could've",
    "shouldve": "should've", "theyd": "they'd", "hed": "he'd", "abt": "about", "w": "with",
    "w/": "with", "tho": "though", "cos": "because", "cuz": "because", "bc": "because", "coz": "because",
    "ppl": "people", "tmrw": "tomorrow", "tmr": "tomorrow", "u": "you", "ur": "your", "r": "are", "yr": "year",
    "yrs": "years", "til": "until", "till": "until", "gf": "girlfriend", "bf": "boyfriend", "bff": "best friend",
    "bday": "birthday", "rly": "really", "sm": "so much", "prob": "probably", "probs": "probably",
    "obvs": "obviously", "obv": "obviously", "gonna": "going to", "wanna": "want to", "gotta": "have to",
    "thru": "through", "fav": "favourite", "fave": "favourite", "ty": "thanks", "thx": "thanks", "ik": "I know",
    "dunno": "don't know", "wk": "week", "wks": "weeks", "mo": "month", "mos": "months", "uni": "university",
    "n": "and", "em": "them", "pls": "please", "plz": "please", "idk": "I don't know", "def": "definitely",
    "sis": "sister", "bro": "brother", "hubby": "husband", "pb": "peanut butter", "outta": "out of", "kinda": "rather",
    "sorta": "rather", "rn": "now", "b4": "before", "alot": "a lot",
    "tryna": "trying to", "nite": "night", "nites": "nights", "prolly": "probably", "lil": "little", "luv": "love",
    "cus": "because", "imma": "I'm going to", "evry": "every", "everyday": "every day", "bout": "about",
    "bf's": "boyfriend's", "veggie": "vegetarian",
}  # fmt: skip

PROPER = {
    word: word.capitalize()
    for word in listed(
        """mondays tuesdays wednesdays thursdays fridays saturdays sundays
        monday tuesday wednesday thursday friday saturday sunday january february april june july august september
        october november december english british french german dutch italian spanish irish scottish portuguese polish
        chinese japanese indian american christmas easter"""
    )
}
"""Names of days, months, languages and feasts in lower case, and as they are written."""
