"""Pairs written after ``language/reading/phrases.txt`` was frozen, and scored once (docs/upkeep.md): the set is spent.

``APART`` differ in one particular, between braces, and are two; ``DUPLICATES`` say one thing twice.
"""

from .duplicates import _pairs

APART = {
    "number": _pairs("""
        The user's greenhouse holds {14|40} tomato plants.
        The user solved {six|nine} puzzles this month.
        The user's choir has {32|23} singers.
        The user's aquarium takes {90|190} litres.
        The user lives {eleven|twelve} stops from the office.
        The user's sourdough starter is {2|12} years old.
        The user has {three|eight} nieces.
        The user earned {1,500|15,000} francs with the film.
        The user rides {25|52} km on Sundays.
        The user's ticket is for coach {4|14}.
        The user failed the theory test {once|twice}.
        The user's podcast reached {5k|50k} listeners.
        The user's allotment is plot {17|71}.
        The user plays with the {first|third} violins.
        The user's bread needs {18|24} hours.
        The user's internet is {100|1,000} Mbit fast.
        The user buys {half a|a} pig every year.
        The user proofreads {20|30} pages a day.
        The user sleeps with {one|two} pillows.
        The user's marathon time is {3:12|3:21}.
        The user's kite has {four|two} lines.
        The user's hearing loss is {30|60} percent.
        The user got {a third|a quarter} of the inheritance.
        The user's building has {five|six} floors.
        The user meditates for {10|15} minutes every morning.
        The user's API key rotates every {30|90} days.
        The user's cat had {four|five} kittens.
        The user's server has {16|64} GB of memory.
        The user's group meets in hall {C2|C3}.
        The user needs {7|17} credits to graduate.
        The user's son is in class {2a|2b}.
        The user swam {1.5|15} km.
        The user owns {a|two} canoe.
        The user's PIN letter arrived after {8|18} days.
    """),
    "date": _pairs("""
        The user's play opens on {9 October|19 October}.
        The user's ferry leaves at {7:10|10:07}.
        The user gave notice in {April|August}.
        The user's quarantine ended on {Sunday|Monday}.
        The user's mother was born in {1951|1961}.
        The user's meditation group meets {on Tuesdays|on Thursdays}.
        The user's insurance runs out in {May 2027|May 2028}.
        The user planted the pear tree in {spring|autumn}.
        The user has been sober since {2017|2020}.
        The user's scan is on {March 3|March 13}.
        The user naps in the {morning|afternoon}.
        The user takes the pill at {8 am|8 pm}.
        The user's thesis is due on {2026-02-01|2026-03-01}.
        The user's anniversary is on {11 June|11 July}.
        The user skis in {January|February}.
        The user's market stall opens every {Saturday|Sunday}.
        The user was in hospital in {late 2021|early 2021}.
        The user's boiler is serviced in {week 40|week 41}.
        The user's lodger moves in on the {1st|10th}.
        The user sowed the carrots {yesterday|last week}.
        The user's night train leaves at {22:40|23:40}.
        The user votes on {14 March|15 March}.
        The user's chemo begins {before|after} Christmas.
        The user retired in {2012|2021}.
        The user's plumber comes {on Friday morning|on Friday evening}.
        The user's licence expires {this year|next year}.
        The user studied in Delft until {1996|1999}.
        The user visits the grave every {November|December}.
        The user's shift begins at {five|six}.
        The user's rent is due on the {3rd|30th} of the month.
        The user was baptised in {1978|1987}.
        The user rehearses {on weekdays|at weekends}.
        The user's flight is on {Dec 2|Dec 12}.
        The user's flu shot was in {Q3|Q4}.
    """),
    "name": _pairs("""
        The user's accountant is {Moritz|Morris}.
        The user sails on Lake {Garda|Como}.
        The user's allergy doctor is Dr {Lang|Lange}.
        The user reads {Le Monde|Le Figaro}.
        The user's niece is called {Carla|Clara}.
        The user got the recipe from {Nora|Noor}.
        The user's horse is named {Comet|Cometa}.
        The user wants to emigrate to {Norway|Sweden}.
        The user learned {Swahili|Amharic} in Nairobi.
        The user subscribes to {Netflix|Disney+}.
        The user's village is {Ardez|Ardon}.
        The user orders from {Zalando|Amazon}.
        The user's team plays {Riverside|Northside} on Sunday.
        The user's landlady is Frau {Krämer|Kramer}.
        The user proposed to {Elena|Helena}.
        The user works in the {Bern|Biel} office.
        The user's favourite painter is {Manet|Monet}.
        The user's manager is {Samir|Amir}.
        {Leon|Leonie} walks the user's dog.
        The user takes {Zyrtec|Xyzal} in spring.
        The user is a fan of {Liverpool|Everton}.
        The user hosts the site on {Hetzner|Linode}.
        The user's yoga teacher is {Maya|Mara}.
        The user bought a {Canon|Nikon}.
        The user's cello was made by {Rossi|Russo}.
        The user moved to {Upper|Lower} Hutt.
        The user's podcast is named {Static|Statis}.
        The user codes in {Java|JavaScript}.
        The user's uncle lives in {Austria|Australia}.
        The user gives money to {Oxfam|Unicef}.
        The user's cat {Pip|Pepper} is ill.
        The user met {Ms Abel|Ms Abele} at the bank.
        The user attends {St Mary's|St Mark's}.
        The user's tram goes to {Wabern|Weissenbühl}.
    """),
    "negation": _pairs("""
        The user {wears|does not wear} contact lenses.
        The user {is|is not} registered as a donor.
        The user {tells|never tells} the parents about money.
        The user has {a|no} driving licence.
        The user {can|can't} read music.
        The user {agrees|disagrees} with the diagnosis.
        The user {still|no longer} sees the ex-partner.
        The user {was|wasn't} at the funeral.
        The user's contract is {valid|invalid}.
        The user {reads|doesn't read} the newsletters.
        The user is {comfortable|uncomfortable} with heights.
        The user travels {with|without} the children.
        The user {returned|did not return} the library books.
        The user {will|won't} vote.
        The user's dog is {house-trained|not house-trained}.
        The user {eats|no longer eats} gluten.
        The user is {patient|impatient}.
        The user {trusts|mistrusts} the new boss.
        The user {has|hasn't} paid the fine.
        The user {wants|doesn't want} push notifications.
        The user's wound is {healed|not healed}.
        The user {stopped|started} drinking coffee.
        The user has {some|no} experience with Kubernetes.
        The user {allows|does not allow} shoes indoors.
        The user {knows|doesn't know} the neighbours.
        The user {likes|doesn't like} being photographed.
        The user is {always|not always} on time.
        The user is {religious|not religious}.
        The user {kept|didn't keep} the receipt.
        The user {needs|does not need} a visa.
        The user {may|must not} eat shellfish.
        The user {is|is no longer} in therapy.
        The user {had|never had} measles.
        The user {sleeps|doesn't sleep} on planes.
    """),
    "unit": _pairs("""
        The user's parcel is 40 {cm|inches} wide.
        The user walks 6 {kilometres|miles} a day.
        The user drinks 2 {litres|glasses} of water daily.
        The user's fee is 80 {euros|dollars}.
        The user adds 5 {grams|teaspoons} of yeast.
        The user runs the oven at 220 {°C|°F}.
        The user's parking permit costs 12 {a week|a month}.
        The user's infusion takes 3 {hours|minutes}.
        The user lost 4 {kilos|pounds}.
        The user's loan is over 10 {years|months}.
        The user's attic has 50 square {metres|feet}.
        The user's injection is 2 {ml|mg}.
        The user's file limit is 25 {MB|GB}.
        The user was away for 3 {days|weeks}.
        The user's pond is 80 {cm|m} deep.
        The user's speaker has 60 {watts|decibels}.
        The user sees the therapist every two {weeks|months}.
        The user bought 3 {kilos|bags} of cherries.
        The user's daughter is 7 {months|years} old.
        The user saves 300 {francs|euros} a month.
        The user's motor has 4 {hp|kW}.
        The user stands 20 {minutes|hours} a week.
        The user's cable is 5 {metres|yards} long.
        The user's rate is 90 {an hour|a day}.
        The user takes 50 {µg|mg} of thyroxine.
        The user's share is 8 {percent|shares}.
        The user's hotel is 2 {stops|streets} away.
        The user baked 2 {trays|dozen} of biscuits.
        The user swims 30 {lengths|minutes}.
        The user's rope holds 90 {kg|lb}.
        The user's response time is 200 {ms|s}.
        The user has 6 {weeks|days} of leave.
        The user pays 40 {pence|pounds} a kilo.
    """),
    "person": _pairs("""
        The user's {sister|cousin} is a vet.
        The user's {father|father-in-law} hunts.
        {The user|The user's brother} plays the oboe.
        The user's {aunt|grandmother} left the house to the church.
        The user's {son|stepson} has asthma.
        The user's {boss|client} is on leave.
        {The user's mother|The user} speaks Arabic.
        The user's {roommate|neighbour} smokes.
        The user's {wife|ex-wife} lives in Turin.
        The user's {younger|elder} daughter dances.
        The user's {therapist|doctor} is retiring.
        {Ivo|Mira} drives the user to work.
        The user gave {the nurse|the doctor} a present.
        The user's {grandson|granddaughter} is two.
        The user's {colleague|trainee} found the bug.
        {The user's team|The user} owns the service.
        The user lent the drill to {the uncle|the neighbour}.
        The user's {mother|mother's sister} has glaucoma.
        The user's {dog|cat} sleeps in the bed.
        {The user|The user's partner} is vegan.
        {Jana taught the user|The user taught Jana} to ski.
        {The user owes Piet|Piet owes the user} a favour.
        {The user's landlord|The user's tenant} pays for the heating.
        The user's {best man|brother} was drunk.
        The user's {niece|daughter} won the race.
        {Rosa's|The user's} parents are divorced.
        The user's {twin|older} brother is a pilot.
        The user's {godson|son} is called Theo.
        {The user cooks for Lou|Lou cooks for the user}.
        The user's {husband|boyfriend} is from Ghana.
        The user's {cleaner|babysitter} comes on Fridays.
        The user's {late|present} husband was a painter.
        The user's {mentor|manager} left.
        {The user's friend|The user's sister} has a boat.
    """),
}

DUPLICATES = [
    tuple(part.strip() for part in line.split("|"))
    for line in """
    The user is a pharmacist. | The user works as a pharmacist.
    The user is working as a gardener. | The user's profession is gardener.
    The user works for the city of Zurich. | The user is employed by the city of Zurich.
    The user's sister Marta is a midwife. | Marta, the user's sister, works as a midwife.
    The user has a brother called Nils. | The user's brother's name is Nils.
    The user's wife is named Olga. | Olga is the user's wife.
    The user lives in Bristol. | The user is living in Bristol.
    The user resides in Leipzig. | The user's home is in Leipzig.
    The user moved to Ghent in March 2020. | In March 2020, the user relocated to Ghent.
    The user grew up in Naples. | The user spent the childhood in Naples.
    The user was born in 1979. | The user's year of birth is 1979.
    The user's birthday is on 12 August. | The user was born on August 12.
    The user is 51 years old. | The user is 51.
    The user is from Iceland. | The user comes from Iceland.
    The user speaks fluent Turkish. | The user is fluent in Turkish.
    The user's mother tongue is Czech. | The user's native language is Czech.
    The user is learning Japanese. | The user takes Japanese lessons.
    The user enjoys swimming in lakes. | The user likes to swim in lakes.
    The user loves opera. | The user is a big fan of opera.
    The user dislikes crowded trains. | The user does not like crowded trains.
    The user can't stand cigarette smoke. | The user hates cigarette smoke.
    The user prefers trains to planes. | The user likes trains better than planes.
    The user prefers emails over phone calls. | The user favours e-mails over phone calls.
    The user's favourite film is Amélie. | Amélie is the user's favorite movie.
    The user likes spicy food. | The user enjoys spicy food.
    The user is interested in Roman history. | The user has an interest in Roman history.
    The user is afraid of thunder. | The user is scared of thunder.
    The user has a fear of enclosed spaces. | The user is afraid of enclosed spaces.
    The user doesn't eat fish. | The user never eats fish.
    The user eats a vegan diet. | The user is a vegan.
    The user is allergic to bee stings. | The user has an allergy to bee stings.
    The user has a pollen allergy. | The user is allergic to pollen.
    The user is lactose-intolerant. | The user can't tolerate lactose.
    The user suffers from insomnia. | The user has insomnia.
    The user takes aspirin daily. | Every day the user takes aspirin.
    The user was diagnosed with coeliac disease in 2018. | In 2018 the user was diagnosed with coeliac disease.
    The user broke an arm while skiing. | While skiing the user broke an arm.
    The user wears hearing aids. | The user uses hearing aids.
    The user doesn't smoke. | The user is a non-smoker.
    The user gave up alcohol in 2015. | In 2015 the user stopped drinking alcohol.
    The user no longer plays rugby. | The user doesn't play rugby anymore.
    The user used to be a waiter. | The user was a waiter in the past.
    The user formerly lived in Dakar. | The user used to live in Dakar.
    The user gets up at 5:30. | The user wakes up at 5:30.
    The user goes jogging twice a week. | Twice a week the user goes jogging.
    The user plays chess every Thursday. | The user plays chess on Thursdays.
    The user does pilates on Mondays. | On Mondays the user practises pilates.
    The user cycles to the office. | The user goes to the office by bike.
    The user takes the tram to work. | The user commutes by tram.
    The user usually works from home. | The user normally works remotely.
    The user often visits the grandparents. | The user frequently visits the grandparents.
    The user rarely watches TV. | The user seldom watches television.
    The user plays the flute. | The user is a flautist.
    The user plays the drums in a band. | The user is the drummer of a band.
    The user belongs to a rowing club. | The user is a member of a rowing club.
    The user collects old cameras. | The user is a collector of old cameras.
    The user's hobby is bird watching. | The user watches birds as a hobby.
    The user has a parrot called Kiki. | The user's parrot is named Kiki.
    The user owns a camper van. | The user has a camper van.
    The user drives a Renault. | The user's car is a Renault.
    The user bought a piano last year. | Last year the user purchased a piano.
    The user rents a house in Kent. | The user is renting a house in Kent.
    The user lives with two roommates. | The user has two flatmates.
    The user lives alone. | The user lives on their own.
    The user has no children. | The user does not have any kids.
    The user has three daughters. | The user is the parent of three daughters.
    The user is married to Jens. | Jens is the user's husband.
    The user got married in 2008. | The user's wedding was in 2008.
    The user is divorced. | The user got divorced.
    The user's father died in 2011. | The user's father passed away in 2011.
    The user's mother is a retired judge. | The user's mum is a retired judge.
    The user's son attends kindergarten. | The user's son goes to kindergarten.
    The user's daughter studies chemistry. | The user's daughter is a chemistry student.
    The user's uncle owns a garage. | A garage is owned by the user's uncle.
    The user's boss is Mr Tanaka. | The user reports to Mr Tanaka.
    The user leads the research group. | The user is the head of the research group.
    The user manages the warehouse. | The user is in charge of the warehouse.
    The user's team uses GitLab. | GitLab is used by the user's team.
    The user writes code in Kotlin. | The user programs in Kotlin.
    The user wants short answers. | The user prefers answers to be concise.
    The user wants answers in bullet points. | The user prefers bullet points in answers.
    The user prefers examples in Python. | The user likes examples in Python.
    The project Orion is due on 1 May. | The deadline of project Orion is May 1.
    The kickoff is on Tuesday at 9 am. | The kickoff takes place on Tuesday at 9:00.
    The user meets Dr Roth every month. | The user has a monthly meeting with Dr Roth.
    The user is planning to buy a boat. | The user plans to buy a boat.
    The user would like to learn pottery. | The user wants to learn pottery.
    The user hopes to visit Peru one day. | The user is hoping to visit Peru one day.
    The user is saving for a kitchen. | The user is saving up for a kitchen.
    The user is looking for a babysitter. | The user is searching for a babysitter.
    The user's goal is to lose weight. | The user wants to lose weight.
    The user is worried about the mortgage. | The user worries about the mortgage.
    The user is good at drawing. | The user has a talent for drawing.
    The user can't ride a bike. | The user doesn't know how to ride a bike.
    The user has trouble concentrating. | The user has difficulty concentrating.
    The user volunteers at a hospice. | The user does volunteer work at a hospice.
    The user has visited Kenya. | The user has been to Kenya.
    The user has never been to Africa. | The user has not visited Africa.
    The user studied music in Oslo. | The user has a degree in music from Oslo.
    The user met Kofi at a wedding. | The user got to know Kofi at a wedding.
    The user is caring for a sick father. | The user looks after a sick father.
    """.strip().splitlines()
]
