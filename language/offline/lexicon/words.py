"""Closed word classes and word lists that the rules look words up in. All entries are lower case."""

from __future__ import annotations

from collections.abc import Iterable


def listed(text: str) -> frozenset[str]:
    """Turn a block of words separated by white space into a set; ``_`` stands for a space inside an entry."""
    return frozenset(word.replace("_", " ") for word in text.split())


def by_first_word(phrases: Iterable[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Split phrases into words and index them by the first one, the longest first."""
    index: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted((tuple(phrase.split()) for phrase in phrases), key=len, reverse=True):
        index.setdefault(phrase[0], []).append(phrase)
    return {first: tuple(found) for first, found in index.items()}


USER_PRONOUNS = listed("i me my mine myself")
GROUP_PRONOUNS = listed("we us our ours ourselves")
YOU_PRONOUNS = listed("you your yours yourself yourselves u ur ya y'all")
SHE = listed("she her hers herself")
HE = listed("he him his himself")
THEY = listed("they them their theirs themselves")
SUBJECT_PRONOUNS = listed("i he she we they you it")

AUXILIARIES = listed(
    "am is are was were be been being do does did have has had will would can could shall should may might must"
)
MODALS = listed("will would can could shall should may might must")

# Words that may stand between a subject and its verb.
ADVERBS = listed(
    """always never often usually sometimes rarely seldom also still really truly actually just only even ever
    generally normally typically mostly mainly simply absolutely definitely certainly honestly frequently
    occasionally regularly constantly hardly barely originally finally eventually later first once recently
    currently now already both all again almost nearly quite so very pretty particularly especially deeply dearly
    secretly quietly proudly happily genuinely literally basically totally completely kinda lately mainly
    primarily personally strongly firmly probably initially then soon immediately obviously clearly famously
    strictly fully somehow nonetheless apparently sadly""",
)
HABIT_ADVERBS = listed(
    "always never often usually sometimes rarely seldom generally normally typically frequently regularly constantly "
    "occasionally"
)
ADVERBS_LEFT_OUT = listed("just really actually honestly literally basically kinda also recently already then")

DETERMINERS = listed("a an the this that these those my your his her its our their some any no every each")
PREPOSITIONS = listed(
    "in on at for from with to of by as about near during after before until since through over under around into "
    "onto without within across along behind beside between beyond despite like outside inside upon against towards "
    "throughout among per off out up down back away"
)
NUMBERS = listed(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand"
)
DAYS = listed("monday tuesday wednesday thursday friday saturday sunday tues wed thurs")
MONTHS = listed(
    "january february march april may june july august september october november december jan feb mar apr jun jul "
    "aug sep sept oct nov dec"
)

# What a sentence may open with before it says anything.
OPENERS = listed(
    """well yes yeah yep yup no nope nah oh ah aw aww wow hey hi hello ok okay so and but also actually honestly
    anyway haha lol hmm um uh like thanks please sure right true absolutely exactly definitely totally indeed
    sadly unfortunately luckily fortunately interestingly funnily basically plus or then now again well, still
    hm mm omg ugh gosh btw fyi anyways anyhow besides obviously congrats""",
)

# Words of English that show that a sentence is in it; a sentence of five words or more needs some of them.
ENGLISH = listed(
    """the a an and or but of to in on at for from with by as is are was were be been am do does did have has had
    not n't i he she it we they you my his her our their me him us them this that these those who which when where
    what how why because so very always never every all would could will can should about after before into out up
    there here if then than too also just more most some any no only own other really still loved love used worked
    work lived live like liked""",
)

STOPWORDS = (
    ENGLISH
    | SHE
    | HE
    | THEY
    | USER_PRONOUNS
    | GROUP_PRONOUNS
    | YOU_PRONOUNS
    | AUXILIARIES
    | ADVERBS
    | PREPOSITIONS
    | OPENERS
    | listed(
        """its itself ours whom whose while during since again further once here there both each few many much nor
        such same s t don now d ll m o re ve ain get gets got getting go goes going went gone gonna wanna say says
        said saying tell told telling think thinks thought know knows knew known make makes made making take takes
        took want wants wanted thing things something anything everything nothing someone anyone everyone lot lots
        bit kind sort way ways back even ever yes yeah no okay ok well maybe perhaps one two great good nice cool
        awesome amazing wonderful lovely sure thanks thank please hope hey hi hello bye wow yet though although
        however another around let lets us come came coming look looks looked looking feel feels felt see saw seen
        need needs needed help helps helped try tried trying give gave given put keep kept sounds sound seems seem
        new old big little long time times today yesterday tomorrow day days week weeks month months year years
        morning night remember remembers remembered told talk talked talking mean means meant happen happened
        happens im dont didnt thats cant its ive youre ones best better less least start started excited glad happy
        sad love loved totally definitely hear heard hearing find found feeling feelings super kinda must might may
        shall first last next able done always together important special different own real sure same full whole
        main true others else ago enough quite rather alone free easy hard people""",
    )
)

# --- who ------------------------------------------------------------------------------------------------------------

KIN_WORDS: dict[str, tuple[str, frozenset[str]]] = {
    # group: (gender f, m or ?, the words for it)
    "mother": ("f", listed("mother mom mum mama mamma mommy mummy ma momma mam")),
    "father": ("m", listed("father dad daddy papa pa pop pops dada poppa")),
    "grandmother": (
        "f",
        listed(
            "grandmother grandma granny gran nana nan nanna nanny grannie gram grams grammy abuela abuelita nonna "
            "oma yaya babushka bubbe lola halmoni vovó grandmama grandmom meemaw mawmaw mamaw mémé"
        ),
    ),
    "grandfather": (
        "m",
        listed(
            "grandfather grandpa granddad grandad gramps grandpop granddaddy abuelo nonno opa dedushka zayde lolo "
            "vovô pawpaw papaw pépé grampa grandpapa"
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
    "daughter": ("f", listed("daughter")),
    "son": ("m", listed("son")),
    "child": ("?", listed("child kid toddler baby")),
    "cousin": ("?", listed("cousin")),
    "niece": ("f", listed("niece")),
    "nephew": ("m", listed("nephew")),
    "granddaughter": ("f", listed("granddaughter")),
    "grandson": ("m", listed("grandson")),
    "grandchild": ("?", listed("grandchild")),
    "partner": ("?", listed("partner spouse fiancé fiancée fiance fiancee")),
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
    "colleague": ("?", listed("colleague coworker co-worker teammate assistant intern client co-founder cofounder")),
    "mentor": ("?", listed("mentor teacher tutor coach professor instructor advisor adviser trainer")),
    "neighbour": ("?", listed("neighbour neighbor roommate housemate flatmate landlord landlady tenant")),
    "carer": ("?", listed("doctor dentist therapist lawyer accountant physio physiotherapist hairdresser gp vet")),
}
KIN: dict[str, str] = {word: group for group, (_, group_words) in KIN_WORDS.items() for word in group_words}
KIN_GENDER: dict[str, str] = {group: gender for group, (gender, _) in KIN_WORDS.items()}
# Said with a capital or without "my" these name one person, as "Dad" does.
NAMING_KIN = frozenset().union(
    *(KIN_WORDS[group][1] for group in ("mother", "father", "grandmother", "grandfather", "aunt", "uncle"))
) - listed("ma pa pop lead pops")
FAMILY = frozenset(KIN_WORDS) - {"boss", "colleague", "mentor", "neighbour", "carer", "friend"}
KIN_PLURALS = listed(
    """children kids brothers sisters sons daughters siblings grandchildren grandkids cousins nieces nephews aunts
    uncles twins triplets parents grandparents babies stepchildren stepsons stepdaughters godchildren boys girls
    great-grandchildren friends""",
)
PETS = listed(
    """dog dogs cat cats puppy puppies kitten kittens parrot parrots rabbit rabbits bunny hamster hamsters horse
    horses pony goldfish turtle turtles tortoise snake lizard budgie canary canaries hen hens chickens goat goats
    cow cows donkey pig pigs sheep bees pigeons guinea terrier labrador retriever poodle beagle dachshund collie
    spaniel husky corgi bulldog shepherd pug dalmatian pet pets""",
)
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
    monica veronica gabriela gabriella daniela valentina camila mariana juliana alma""",
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
    nuno vasco álvaro alvaro joaquim domingos""",
) - {"jordan"}
FIRST_NAMES = FEMALE_NAMES | MALE_NAMES

# Words that begin with a capital and are no one's name.
NOT_NAMES = (
    DAYS
    | MONTHS
    | STOPWORDS
    | listed(
        """english french german spanish portuguese italian irish scottish welsh british american canadian mexican
        brazilian chinese japanese korean indian russian polish dutch swedish norwegian danish finnish greek turkish
        arabic hebrew jewish catholic christian muslim buddhist hindu christmas easter thanksgiving god internet
        ukrainian african asian european australian vietnamese thai filipino nigerian kenyan egyptian iranian
        persian pakistani hungarian czech romanian swiss austrian belgian argentinian colombian chilean peruvian
        cuban jamaican puerto latino latina hispanic protestant atheist lgbtq lgbt tv uk us usa eu ai api""",
    )
) - FIRST_NAMES
NATIONALITIES = listed(
    """english french german spanish portuguese italian irish scottish welsh british american canadian mexican
    brazilian chinese japanese korean indian russian polish dutch swedish norwegian danish finnish greek turkish
    jewish catholic christian muslim buddhist hindu ukrainian african asian european australian vietnamese thai
    filipino nigerian kenyan egyptian iranian persian pakistani hungarian czech romanian swiss austrian belgian
    argentinian colombian chilean peruvian cuban jamaican latino latina hispanic protestant atheist agnostic sikh
    quaker methodist baptist lutheran anglican""",
)
LANGUAGES = listed(
    """english french german spanish portuguese italian irish gaelic welsh chinese mandarin cantonese japanese korean
    hindi urdu bengali punjabi tamil telugu russian polish dutch swedish norwegian danish finnish greek turkish
    arabic hebrew yiddish ukrainian czech slovak hungarian romanian bulgarian serbian croatian swahili yoruba
    igbo zulu tagalog vietnamese thai indonesian malay persian farsi catalan basque galician latin""",
)
# Not cities; who lives in one of them has not named a city.
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
    bahamas barbados wisconsin lebanon syria jordan""",
)
