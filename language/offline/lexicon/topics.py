"""Words by what they are about: jobs, traits, pastimes, health, feelings."""

from __future__ import annotations

from language.offline.lexicon.words import listed

OCCUPATIONS = listed(
    """accountant actor actress actuary administrator adviser advisor agent analyst anaesthetist animator apprentice
    archaeologist architect archivist artist assistant astronaut athlete attorney author baker banker barber
    barista bartender biologist blacksmith boatbuilder bookbinder bookkeeper botanist bricklayer broker builder
    butcher butler captain cardiologist caretaker carer carpenter cashier chauffeur chef chemist clerk cleaner
    coach coder colonel columnist comedian composer conductor consultant contractor cook coroner counselor
    counsellor courier craftsman curator dancer dentist designer detective developer dietitian diplomat director
    diver dj doctor dockworker draughtsman dressmaker driver economist editor electrician engineer entrepreneur
    farmer firefighter fireman fisherman florist foreman freelancer gardener geologist glazier goldsmith
    governess grocer guard guide guitarist hairdresser handyman historian homemaker housekeeper housewife
    illustrator inspector instructor interpreter inventor investigator janitor jeweller jeweler jockey joiner
    journalist judge laborer labourer lawyer lecturer librarian lifeguard linguist locksmith logger machinist
    magician maid mailman manager marine marketer mason masseuse mathematician mechanic merchant messenger
    midwife milkman miller miner minister missionary model mechanic musician nanny navigator neurologist
    novelist nun nurse nutritionist oncologist operator optician optometrist organist owner painter paralegal
    paramedic pastor pathologist pediatrician paediatrician pharmacist philosopher photographer physician
    physicist physiotherapist pianist pilot planner plasterer playwright plumber poet policeman policewoman
    politician porter postman potter preacher president priest principal printer producer professor programmer
    psychiatrist psychologist publican publisher rabbi radiographer radiologist railwayman ranger realtor
    receptionist recruiter referee reporter researcher restaurateur roofer saddler sailor salesman salesperson
    saleswoman scholar schoolteacher scientist screenwriter sculptor seamstress secretary sergeant servant
    shepherd sheriff shoemaker shopkeeper signalman silversmith singer smith sniper soldier solicitor songwriter
    specialist statistician steelworker steward stewardess stockbroker stonemason storekeeper streamer student
    superintendent supervisor surgeon surveyor tailor tanner teacher technician technologist telephonist
    therapist trader trainer trainee translator treasurer tutor typist undertaker upholsterer usher veterinarian
    vet veteran violinist volunteer waiter waitress watchmaker weaver welder winemaker woodcutter woodworker
    worker writer youtuber zookeeper executive officer intern founder cofounder co-founder ceo cto cfo gamer
    influencer farmhand blogger""",
)

# What a person can be called besides a job.
IDENTITIES = listed(
    """vegetarian vegan pescatarian widow widower pensioner retiree catholic christian muslim jew buddhist hindu atheist
    quaker methodist baptist introvert extrovert perfectionist pacifist socialist feminist conservative liberal
    diabetic polyglot teetotaler teetotaller immigrant refugee orphan twin lefty expat citizen native mother father
    mom mum dad parent grandmother grandfather stepfather stepmother beginner survivor undergraduate graduate
    freshman sophomore junior senior bachelor homebody workaholic bookworm foodie""",
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
    timid""",
)

LOOKS = listed(
    """tall short slim thin stocky blonde blond redheaded brunette bald freckled petite left-handed right-handed deaf
    blind ambidextrous handsome beautiful pretty""",
)

HEALTH_STATES = listed(
    """allergic diabetic asthmatic lactose-intolerant gluten-intolerant lactose gluten colour-blind color-blind
    colorblind dyslexic autistic celiac coeliac vegan vegetarian pescatarian deaf blind diagnosed intolerant bipolar
    epileptic hypertensive sober teetotal""",
)
CONDITIONS = listed(
    """diabetes asthma adhd autism dyslexia epilepsy arthritis cancer dementia alzheimer's alzheimers parkinson's
    parkinsons depression anxiety allergies allergy migraines insomnia eczema psoriasis celiac coeliac hypertension
    polio tuberculosis pneumonia stroke heart_disease ibs""",
)

FACULTIES = listed(
    """humour humor temper heart laugh smile voice imagination memory faith tongue wit charm patience energy spirit
    work_ethic conscience eye ear stubbornness kindness courage gift talent knack way green_thumb thumb personality
    confidence dignity spark sparkle presence""",
)

HOBBY_VERBS = listed(
    """collect paint knit sew garden fish hunt dance sing hike sail bake cook draw sculpt read write swim ski cycle
    crochet quilt carve whittle embroider bowl golf surf camp bike jog run skate kayak photograph meditate sketch
    climb juggle play practise practice volunteer""",
)
HOBBY_NOUNS = listed(
    """gardening fishing football soccer tennis golf cricket rugby basketball baseball chess bridge cards dominoes
    bingo crosswords puzzles jigsaws sudoku knitting sewing cooking baking reading books poetry music opera jazz
    painting pottery woodworking carpentry photography birdwatching hiking cycling swimming sailing dancing
    singing camping travelling traveling running yoga skiing surfing hunting theatre theater films movies cinema
    stamps coins trains planes stargazing astronomy genealogy embroidery crochet quilting guitar piano violin
    accordion trumpet harmonica drums flute cello banjo fiddle clarinet saxophone gaming videogames anime
    climbing pilates crafts calligraphy origami archery fencing boxing karate judo martial_arts bowling darts
    billiards snooker rowing kayaking scuba-diving volleyball hockey writing drawing sketching""",
)
INSTRUMENTS = listed(
    """guitar piano violin accordion trumpet harmonica drums flute cello banjo fiddle clarinet saxophone organ harp
    ukulele mandolin bass keyboard trombone tuba oboe concertina bagpipes viola recorder""",
)

BUSINESSES = listed(
    """bakery shop store farm business restaurant company cafe café garage hotel pub bar inn factory school salon
    workshop studio practice clinic market stall vineyard dairy newsagent newspaper pharmacy bookshop bookstore
    bookbindery butchery laundry mill ranch agency firm startup guesthouse tavern kiosk dairy theatre
    department team library newsstand diner nursery kennel brewery winery orchard plant foundry forge office""",
)
SCHOOLS = listed(
    "school university college academy institute seminary conservatory polytechnic kindergarten law medicine "
    "nursing engineering degree diploma phd doctorate masters master's bachelor's"
)

CULTURE = listed("book song album film movie novel poem play paper article")

# Feelings by the name the summary gives them. Only feelings that the speaker says of themself are counted.
TONES: dict[str, frozenset[str]] = {
    "sad": listed(
        "sad sadness sadly cry cried crying tears grief grieve grieved grieving heartbroken heartbreaking mourning "
        "mourn devastated unhappy sorrow depressed miserable painful hurts miss missed missing"
    ),
    "happy": listed(
        "happy happiness glad joy joyful delighted laugh laughed laughing laughter smile smiled smiling cheerful fun "
        "pleased overjoyed"
    ),
    "grateful": listed("grateful gratitude thankful blessed lucky appreciate appreciated"),
    "angry": listed("angry anger furious mad annoyed annoying rage resent resentful irritated outraged"),
    "frustrated": listed("frustrated frustrating frustration fed_up stuck"),
    "anxious": listed(
        "anxious anxiety worried worry worrying nervous stressed stressful stress overwhelmed scared afraid frightened "
        "panic panicked terrified"
    ),
    "proud": listed("proud pride"),
    "excited": listed("excited exciting excitement thrilled thrilling stoked eager pumped"),
    "hopeful": listed("hopeful hope optimistic hoping"),
    "nostalgic": listed("nostalgic nostalgia memories reminisce reminiscing"),
    "tired": listed("tired exhausted exhausting drained worn_out burnout"),
    "lonely": listed("lonely loneliness alone"),
    "guilty": listed("guilty guilt regret regretted ashamed remorse sorry"),
    "relieved": listed("relieved relief calm peaceful peace relaxed"),
    "loving": listed("love loved adore adored cherish cherished affection fond"),
}
