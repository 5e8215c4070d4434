"""Pairs of memories that consolidation meets, written before it was.

``APART`` are pairs that differ in one particular, between braces, and must never become one. ``DUPLICATES`` say one
thing twice. ``UNSEEN_APART`` and ``UNSEEN_DUPLICATES`` were written after the rules were frozen, and scored once.
"""

import re


def _pairs(lines):
    """Both readings of lines such as "The user runs {5|6} km."."""
    found = []
    for line in lines.strip().splitlines():
        readings = [re.sub(r"\{(.*?)\|(.*?)\}", rf"\{side}", line.strip()) for side in (1, 2)]
        found.append(tuple(readings))
    return found


APART = {
    "number": _pairs("""
        The user runs {5|6} kilometres every morning.
        The user has {two|three} cats.
        The user has {2|3} sisters.
        The user is {34|43} years old.
        The user's flat has {3|4} rooms.
        The user's apartment is on the {fourth|fifth} floor.
        The user drinks {one|two} cups of coffee a day.
        The user works {30|40} hours a week.
        The user's shoe size is {42|43}.
        The user's office is room {214|241}.
        The user pays {850|950} francs of rent a month.
        Project Atlas has a budget of {20,000|200,000} euros.
        Project Atlas uses Python {3.12|3.13}.
        The user's team has {seven|nine} members.
        The user has visited {12|21} countries.
        The user takes {one|two} tablets of ibuprofen a day.
        The user's bus is line {31|13}.
        The user reads {ten|twenty} books a year.
        The user's thesis has {80|180} pages.
        The user ran the marathon in {3:45|4:35} hours.
        The user sleeps {six|eight} hours a night.
        The user's garden has {five|fifteen} apple trees.
        The user wants to save {5%|15%} of the salary.
        The user's class has {18|28} pupils.
        The user's car has {90|190} horsepower.
        The user climbed {three|four} peaks last summer.
        The user's locker number is {77|78}.
        The user's first child was born in {2015|2016}.
        The user weighs {72|82} kilograms.
        The user's standing desk is {120|140} centimetres wide.
        The user's daughter is in grade {3|4}.
        The user learned piano for {six|seven} years.
        The user's dose of levothyroxine is {50|75} micrograms.
        The user's recipe takes {200|300} grams of flour.
        The user plays in division {1|2}.
        The user's server listens on port {8000|8080}.
    """),
    "date": _pairs("""
        The user's birthday is on {3|13} May.
        The user's wedding is in {June|July}.
        The weekly meeting is on {Tuesday|Thursday}.
        The deadline of Atlas is {1 March|1 May} 2026.
        The user moved to Bern in {2012|2021}.
        The user flies to Oslo on {Monday|Friday}.
        The user's dentist appointment is on {4|14} November.
        The user starts the new job in {September|October}.
        The user's visa expires in {2026|2027}.
        The user gets up at {6:00|7:00} on weekdays.
        The user's choir rehearses on {Wednesday|Saturday} evenings.
        The user's parents arrive on {12|21} December.
        The release of Atlas is planned for {Q2|Q3}.
        The user goes swimming on {Monday|Tuesday} mornings.
        The user's lease ends in {March|August}.
        The user was born in {1984|1988}.
        The user's exam is on {2025-06-03|2025-07-03}.
        The user's yoga class is at {18:00|19:00}.
        The user graduated in {spring|autumn} 2010.
        The user works from home on {Mondays|Fridays}.
        The user's holiday begins on {the 1st|the 15th} of August.
        The user's father died in {1999|2009}.
        The user's contract runs until {2027|2029}.
        The user's train leaves at {7:32|7:52}.
        The user calls Ana every {Sunday|Saturday}.
        The user's passport was issued in {April|May} 2019.
        The user plants garlic in {October|November}.
        The user's shift is in the {morning|evening}.
        The standup is at {nine|ten} o'clock.
        The user paid the tax bill in {January|February}.
        The user quit smoking in {2018|2019}.
        The concert is on {22|23} June.
        The user's sister visits at {Easter|Christmas}.
        The user fasts on {Fridays|Wednesdays}.
    """),
    "name": _pairs("""
        The user's boss is {Alec|Alex}.
        The user's dog is called {Rufus|Rex}.
        The user lives in {Lisbon|Porto}.
        The user's daughter is called {Mia|Lea}.
        {Maria|Tom} manages the marketing budget.
        The user works for {Siemens|Bosch}.
        The user drives a {Volvo|Skoda}.
        The user's dentist is Dr. {Keller|Koller}.
        The user supports {Arsenal|Chelsea}.
        The user studied in {Vienna|Graz}.
        The user uses {Firefox|Chrome}.
        The user's project is called {Atlas|Apollo}.
        The user speaks fluent {French|Italian}.
        The user borrowed a ladder from {Ana|Eva}.
        The user's favourite author is {Borges|Calvino}.
        The user plays chess with {Jonas|Lukas}.
        {Sarah|Sara-Lynn} works on the Platform team.
        The user's bank is {UBS|Raiffeisen}.
        The user went to school in {Basel|Zug}.
        The user shops at {Migros|Coop}.
        The user is reading {Dune|Emma}.
        The user's landlord is Mr {Meier|Huber}.
        The user sings in the {Bach|Mozart} choir.
        The user's laptop runs {Linux|Windows}.
        The user wants to visit {Japan|Korea}.
        The user's cat {Minka|Tiger} is diabetic.
        The user listens to {Miles Davis|Bill Evans}.
        The user deploys to {AWS|Azure}.
        The user prefers {PostgreSQL|MySQL}.
        The user's godfather is {Peter|Paul}.
        The user's gym is {Holmes Place|Kieser}.
        The user's horse {Bella|Luna} stands in Worb.
        The user reports to {Ingrid|Astrid}.
        The user takes the train from {Olten|Thun}.
        The user owns shares of {Nestlé|Novartis}.
        The user writes in {Rust|Python}.
    """),
    "negation": _pairs("""
        The user {eats|does not eat} meat.
        The user {smokes|doesn't smoke}.
        The user is {allergic|not allergic} to peanuts.
        The user {likes|does not like} surprises.
        The user {always|never} drinks coffee.
        The user {can|cannot} swim.
        The user {has|has no} siblings.
        The user {wants|does not want} children.
        The user {works|no longer works} at Siemens.
        The user is {married|not married}.
        The user {trusts|distrusts} online banking.
        The user {likes|dislikes} cilantro.
        The user's team {uses|does not use} Scrum.
        The user answers {with|without} emojis.
        The user's flat is {furnished|unfurnished}.
        The user's boss {approved|did not approve} the plan.
        The user {owns|doesn't own} a car.
        The user's son {plays|no longer plays} football.
        The user {has|has never} been to Rome.
        The user wants replies {with|without} code examples.
        The user is {happy|unhappy} with the new office.
        The user's contract {allows|does not allow} side jobs.
        The user {believes|doesn't believe} in horoscopes.
        The user's parents {agree|disagree} with the move.
        The user {takes|doesn't take} sugar in tea.
        {Everybody|Nobody} in the user's family plays chess.
        The user is {able|unable} to drive at night.
        The user's knee {hurts|does not hurt} when running.
        The user's phone number {may|may not} be shared.
        The user {watches|hardly ever watches} television.
        The user {finished|did not finish} the marathon.
        The user's dog {likes|doesn't like} other dogs.
        The project is {complete|incomplete}.
        The user's visa is {valid|invalid}.
    """),
    "unit": _pairs("""
        The user runs 10 {kilometres|miles} a week.
        The user's desk is 120 {cm|inches} wide.
        The user pays 900 {euros|francs} of rent.
        The user's commute takes 30 {minutes|seconds}.
        The user's pregnancy is in {week|month} 7.
        The user drinks 2 {litres|glasses} of water a day.
        The user takes 50 {mg|µg} of the medicine.
        The user's oven goes up to 250 {degrees Celsius|degrees Fahrenheit}.
        The user's flat has 80 square {metres|feet}.
        The user meets the coach twice a {week|month}.
        The user's salary is paid per {hour|month}.
        The user weighs 150 {pounds|kilograms}.
        The user's disk has 500 {GB|TB}.
        The user's subscription costs 10 {dollars|pounds} a month.
        The user has lived in Bern for 8 {years|months}.
        The user's recipe takes 2 {teaspoons|tablespoons} of salt.
        The user's notice period is 3 {weeks|months}.
        The user's budget is 5 {thousand|million} francs.
        The user's baby is 9 {weeks|months} old.
        The user swims 40 {lengths|minutes} every morning.
        The user backs up the server every {day|week}.
        The user's tank holds 60 {litres|gallons}.
        The user's appointment lasts one {hour|day}.
        The user prefers distances in {miles|kilometres}.
        The user waters the plants every 3 {days|weeks}.
        The user's parcel weighs 4 {grams|kilos}.
        The user's timeout is set to 30 {ms|s}.
        The user walks 8,000 {steps|metres} a day.
        The user buys 2 {kg|pounds} of potatoes a week.
        The user's internet has 100 {Mbit|Gbit} a second.
        The user reads 40 {pages|minutes} before sleep.
        The user saves 200 {dollars|yen} a month.
        The pool is 25 {metres|yards} long.
        The user visits the grandparents every {week|year}.
    """),
    "person": _pairs("""
        The user's {mother|father} lives in Porto.
        The user's {brother|sister} is a pilot.
        The user's {son|daughter} plays the cello.
        The user's {wife|boss} likes hiking.
        The user's {grandmother|grandfather} was a baker.
        The user's {aunt|uncle} lives in Canada.
        The user's {cousin|nephew} studies law.
        The {user|user's wife} is allergic to nuts.
        The user's {neighbour|colleague} has a drone.
        The user's {husband|son} is learning Dutch.
        Alec reports to {Ana|Ben} on the Design team.
        The user lent {Tom|Sarah} the drill.
        The user's {landlord|plumber} is called Meier.
        The user's {doctor|dentist} is on holiday.
        The user's {older|younger} brother lives in Rome.
        The user's {mother|mother-in-law} turned 70.
        {Ana|The user} wants to move to Berlin.
        {Sarah|Sarah's brother} plays the drums.
        The user's {daughter|granddaughter} is called Mia.
        The {user|user's team} is responsible for billing.
        The user's {teacher|pupil} comes from Ghana.
        The user's {best friend|flatmate} is a vegan.
        The user's {partner|ex-partner} works at the hospital.
        {Jonas|Nora} owes the user 50 francs.
        The user's {niece|nephew} is three years old.
        The user's {dog|cat} has diabetes.
        The user's {stepfather|father} was a sailor.
        The user's {manager|assistant} writes the reports.
        The user's {twin|cousin} lives in Oslo.
        The {user's|Ana's} bike was stolen.
        The user's {client|supplier} is in Milan.
        The user's {fiancée|sister} is a nurse.
        The user's {coach|doctor} recommends swimming.
        The user's {parents|grandparents} keep bees.
        {Ana manages Ben|Ben manages Ana} at the bakery.
    """),
}

DUPLICATES = [
    ("The user prefers tasks to be due on Fridays.", "The user prefers tasks due on Friday."),
    ("Alec is the user's boss.", "The user's boss is Alec."),
    ("The user has two children.", "The user has 2 kids."),
    ("The user's daughter is called Mia.", "Mia is the user's daughter."),
    ("The user lives in Lisbon.", "The user is living in Lisbon."),
    ("The user is allergic to peanuts.", "The user has an allergy to peanuts."),
    ("The user runs every morning before work.", "Before work, the user runs every morning."),
    ("The user drives a blue Volvo.", "The user has a blue Volvo and drives it."),
    ("The weekly team meeting is on Tuesday at 10.", "The team meeting is weekly, on Tuesday at 10."),
    ("The user's mother lives in Porto.", "The mother of the user lives in Porto."),
    ("The user studied physics in Vienna.", "The user studied physics at Vienna."),
    ("The user never drinks coffee.", "The user doesn't drink coffee."),
    ("The user got married in 2015.", "The user was married in 2015."),
    ("The user's dog is called Rufus.", "The user has a dog named Rufus."),
    ("Maria manages the marketing budget.", "The marketing budget is managed by Maria."),
    ("The user's project at ACME is due in June.", "In June the user's project at ACME is due."),
    ("The user works as a nurse.", "The user is a nurse."),
    ("The user likes green tea.", "The user really likes green tea."),
    ("The user's favourite colour is green.", "Green is the user's favorite color."),
    ("The user is a vegetarian.", "User is vegetarian."),
    ("The user plays the cello.", "User plays cello."),
    ("The user is learning Spanish.", "The user learns Spanish."),
    ("The user speaks German and French.", "The user speaks French and German."),
    ("The user owns a house in Bern.", "The user has a house in Bern."),
    ("The user's cat is named Minka.", "The user's cat is called Minka."),
    ("The user wants to visit Japan.", "The user would like to visit Japan."),
    ("The user is a software engineer.", "The user works as a software engineer."),
    ("The user hates mornings.", "The user hates the mornings."),
    ("The user enjoys hiking in the Alps.", "The user likes hiking in the Alps."),
    ("The user's birthday is on 3 May.", "The user has a birthday on 3 May."),
    ("The user was born in 1984.", "The user was born in the year 1984."),
    ("The user's brother Tom is a pilot.", "Tom, the user's brother, is a pilot."),
    ("The user does not eat meat.", "The user doesn't eat meat."),
    ("The user can't swim.", "The user cannot swim."),
    ("The user's sister lives in Rome.", "The user's sister is living in Rome."),
    ("The user is afraid of spiders.", "The user is scared of spiders."),
    ("The user bought a new bike.", "The user bought a new bicycle."),
    ("The user's car is a red Skoda.", "The user's car is a Skoda, and it is red."),
    ("The user takes two tablets of ibuprofen a day.", "Each day the user takes two tablets of ibuprofen."),
    ("The user wakes up at 6:00.", "The user gets up at 6:00."),
    ("The user's phone is an iPhone.", "The user has an iPhone."),
    ("The user wants short answers.", "The user wants answers to be short."),
    ("The user prefers answers in bullet points.", "The user prefers bullet points in answers."),
    ("The user goes swimming on Mondays.", "On Mondays the user goes swimming."),
    ("The user is married to Ana.", "Ana is the user's wife."),
    ("The user's wife is Ana.", "The user's wife is called Ana."),
    ("Sarah works on the Platform team.", "Sarah is on the Platform team."),
    ("The user has worked at Siemens since 2012.", "Since 2012 the user has worked at Siemens."),
    ("The user's favourite food is lasagne.", "Lasagne is the favourite food of the user."),
    ("The user's son Leo plays football.", "Leo, the user's son, plays football."),
    ("The user's parents are divorced.", "The parents of the user are divorced."),
    ("The user teaches maths at a school.", "The user teaches mathematics at a school."),
    ("The user is training for a marathon.", "The user trains for a marathon."),
    ("The user is preparing for an exam.", "The user prepares for an exam."),
    ("The user's flat has three rooms.", "The user's apartment has 3 rooms."),
    ("The deadline of Atlas is 1 May.", "Atlas has a deadline of 1 May."),
    ("The user loves jazz.", "The user loves jazz music."),
    ("The user has a cat and a dog.", "The user has a dog and a cat."),
    ("The user's manager is Ingrid.", "Ingrid is the user's manager."),
    ("The user likes to cook.", "The user likes cooking."),
    ("The user loves to read crime novels.", "The user loves reading crime novels."),
    ("The user collects old stamps.", "The user is collecting old stamps."),
    ("The user sings in a choir.", "The user is singing in a choir."),
    ("The user's hobby is photography.", "Photography is a hobby of the user."),
    ("The user usually works from home on Fridays.", "On Fridays the user usually works from home."),
    ("The user commutes by train.", "The user commutes by the train."),
    ("The user is an only child.", "User is an only child."),
    ("The user's grandmother was a baker.", "The grandmother of the user was a baker."),
    ("The user volunteers at the library.", "The user is volunteering at the library."),
    ("The user plans to move to Berlin.", "The user is planning to move to Berlin."),
    ("The user's goal is to run a marathon.", "The user has the goal to run a marathon."),
    ("The user keeps bees.", "The user is keeping bees."),
    ("The user gave up smoking in 2018.", "The user quit smoking in 2018."),
    ("The user's dentist is Dr. Keller.", "Dr. Keller is the user's dentist."),
    ("The user uses a standing desk.", "The user is using a standing desk."),
    ("The user reads before going to sleep.", "Before going to sleep, the user reads."),
    ("The user's laptop runs Linux.", "Linux runs on the user's laptop."),
    ("The user drinks oat milk.", "User drinks oat milk."),
    ("The user grew up in Galway.", "The user grew up in Galway!"),
    ("The user is left-handed.", "The user is left handed."),
    ("The user and Ana are engaged.", "Ana and the user are engaged."),
    ("The user's team uses Scrum.", "Scrum is used by the user's team."),
    ("The user's book club meets monthly.", "The user's book club meets every month."),
    ("The user is vegan.", "The user is a vegan."),
    ("The user has a peanut allergy.", "The user has an allergy to peanuts."),
    ("The user wrote a thesis on glaciers.", "A thesis on glaciers was written by the user."),
    ("The user's favourite season is autumn.", "Autumn is the user's favourite season."),
    ("The user grows tomatoes on the balcony.", "On the balcony the user grows tomatoes."),
    ("The user has lived in Bern for eight years.", "For 8 years the user has lived in Bern."),
    ("The user often travels for work.", "The user travels for work often."),
    ("The user's nephew studies law.", "The nephew of the user studies law."),
    ("The user wants code with type hints.", "The user would like code with type hints."),
    ("The user prefers window seats.", "The user prefers a window seat."),
    ("The user is colour-blind.", "The user is color-blind."),
    ("The user practises yoga.", "The user practices yoga."),
    ("The user's organisation is in Geneva.", "The user's organization is in Geneva."),
    ("The user rents an apartment in Thun.", "The user rents a flat in Thun."),
    ("The user's mum is a teacher.", "The user's mother is a teacher."),
    ("The user's dad lives in Cork.", "The user's father lives in Cork."),
    ("The user enjoys painting landscapes.", "The user enjoys to paint landscapes."),
    ("The user likes films by Fellini.", "The user likes movies by Fellini."),
    ("The user is on holiday in July.", "The user has holidays in July."),
    ("The user has a bad knee.", "The user's knee is bad."),
    ("The user's blood type is O negative.", "The user has blood type O negative."),
    ("The user started a podcast.", "The user began a podcast."),
    ("The user is looking for a new job.", "The user looks for a new job."),
    ("The user met Jonas at university.", "At university the user met Jonas."),
    ("The user's kids attend a bilingual school.", "The user's children attend a bilingual school."),
    ("The user is currently reading Dune.", "The user is reading Dune."),
    ("The user also speaks Dutch.", "The user speaks Dutch."),
]

# --- Written after the rules were frozen, scored once: docs/upkeep.md has the figures ---

UNSEEN_APART = _pairs("""
    The user owns {three|thirteen} bicycles.
    The user's router has {2|4} antennas.
    The user bakes {a dozen|two dozen} rolls on Sundays.
    The user's mortgage runs for {15|25} years.
    The user finished {second|third} in the chess cup.
    The user's flight lands at {14:05|15:04}.
    The user renews the library card every {spring|winter}.
    The user's review with HR is {next week|next month}.
    The user adopted Minka in {late 2020|early 2020}.
    The user is off work {before|after} Easter.
    The user's physiotherapist is {Lena|Lara} Frei.
    The user subscribes to {Die Zeit|Der Spiegel}.
    {Bob|Rob} repaired the user's roof.
    The user's favourite café is {Adrianos|Einstein}.
    The user prefers {Kotlin|Swift} for mobile apps.
    The user {misses|doesn't miss} the old flat.
    The user has {finished|not finished} the tax return.
    The user {still|no longer} takes antibiotics.
    The user's landlord {permits|forbids} pets.
    The user is {employed|unemployed}.
    The user is {rarely|often} ill.
    The user's rucksack holds 30 {litres|kilograms}.
    The user's garden is 12 {metres|feet} wide.
    The user gets paid every two {weeks|months}.
    The user's dose is 5 {ml|mg} at night.
    The user's {sister-in-law|sister} runs a bakery.
    The user's {piano teacher|driving instructor} is strict.
    The user's {eldest|youngest} child is shy.
    {Eva's|The user's} thesis won a prize.
    The user sold the boat {to|for} Tom.
    {Tom owes Eva|Eva owes Tom} an apology.
    The user lives {above|opposite} a bakery.
    The user plays the {violin|viola}.
    The user is {vegan|vegetarian}.
    The user sits on the {left|right} side of the office.
    The user {bought|sold} a cottage in Wales.
""")

UNSEEN_DUPLICATES = [
    ("The user loves gardening.", "The user really loves gardening."),
    ("The user's brother is named Jonas.", "Jonas is the user's brother."),
    ("The user moved to Zug in 2019.", "In 2019 the user moved to Zug."),
    ("The user is working on a novel.", "The user works on a novel."),
    ("The user has an old Saab.", "The user owns an old Saab."),
    ("The user doesn't like loud offices.", "The user does not like loud offices."),
    ("The user's dog died in March.", "In March the user's dog died."),
    ("The report was written by Eva.", "Eva wrote the report."),
    ("The user wants to learn sailing.", "The user would like to learn sailing."),
    ("The user has three grandchildren.", "The user has 3 grandchildren."),
    ("The office of the user is in Oslo.", "The user's office is in Oslo."),
    ("The user swims on Tuesdays and Fridays.", "On Tuesdays and Fridays the user swims."),
    ("The user likes dark chocolate.", "The user enjoys dark chocolate."),
    ("The user's mum was a nurse.", "The user's mother was a nurse."),
    ("The user is employed by the city of Bern.", "The user works for the city of Bern."),
    ("The user suffers from migraines.", "The user has migraines."),
    ("The user is keen on photography.", "The user is very keen on photography."),
    ("The user rides a bicycle to work.", "The user cycles to work."),
    ("The user's son goes to kindergarten.", "The user's son attends kindergarten."),
    ("The user starts work at eight.", "The user begins work at 8."),
]
