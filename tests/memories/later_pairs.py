"""Pairs of memories written after the rules of consolidation were, and scored once (docs/upkeep.md): the set is spent.

``APART`` differ in one particular, between braces, and are two; ``DUPLICATES`` say one thing twice.
"""

from .duplicates import _pairs

APART = {
    "number": _pairs("""
        The user owes the bank {12,000|21,000} euros.
        The user keeps {four|five} hens behind the shed.
        The user swims {40|60} lengths on Mondays.
        The user's bus leaves from platform {7|9}.
        The user takes {2|3} tablets with breakfast.
        The user's team has {eleven|twelve} players.
        The user's locker number is {118|181}.
        The user reads about {20|30} books a year.
        The user has been divorced {once|twice}.
        The user's son is in grade {5|6}.
        The user's garden is {300|400} square metres large.
        The user pays {850|950} euros of rent.
        The user owns {three|four} violins.
        The user's savings goal is {10|15} percent of the salary.
        The user smokes {half a|a whole} pack of cigarettes a day.
        The user's flight number is LX {38|83}.
        The user practises scales for {15|25} minutes.
        The user's house was built with {two|three} storeys.
        The user's choir has {60|80} members.
        The user's grandmother had {seven|eight} children.
        The user's record in the 10k is {48|49} minutes.
        The user bakes {two|six} loaves every Saturday.
        The user needs glasses of {1.5|2.5} dioptres.
        The user's desk is {72|75} cm high.
        The user manages a staff of {9|19} people.
        The user drank {none|one} of the bottles.
        The user's tent sleeps {two|four}.
        The user lost {4|14} kilograms last year.
        The user's train card costs {0.5|1.5} percent more now.
        The user is the {second|third} of five siblings.
        The user's class meets in room {B12|B21}.
        The user walks the dog {twice|three times} a day.
        The user's phone plan includes {5|50} gigabytes.
        The user keeps bees in {two|ten} hives.
        The user's piano has {85|88} keys.
    """),
    "date": _pairs("""
        The user's lease ends in {June|July} 2027.
        The user was born on {3|13} March.
        The user moved to Leeds in {1998|1989}.
        The user's therapy is on {Tuesdays|Thursdays}.
        The user quit smoking on {1|11} January 2020.
        The user gets up at {5:30|6:30}.
        The user's wedding anniversary is in {April|August}.
        The user retires in {2031|2033}.
        The user visited Japan in the {spring|autumn} of 2019.
        The user's visa expires on {30 June|30 July}.
        The user takes the night shift on {weekdays|weekends}.
        The user's mother died in {1995|2005}.
        The user plants tomatoes in {May|March}.
        The user's choir rehearses on {Monday|Wednesday} evenings.
        The user's sister married in {2010|2011}.
        The user's dentist appointment is {today|tomorrow}.
        The user started the job in {February|September}.
        The user's exam was {last|next} week.
        The user takes the pill in the {morning|evening}.
        The user's shop opens at {nine|ten}.
        The user bought the van {two|three} years ago.
        The user's father was a child in the {1940s|1950s}.
        The user goes skiing at {Christmas|Easter}.
        The user's holiday begins on {Friday|Saturday}.
        The user graduated in the {summer|winter} of 2004.
        The user's car inspection is due in {week 12|week 21}.
        The user's shift ends at {14:00|16:00}.
        The user adopted the cat in {2017|2018}.
        The user's parents emigrated {before|after} the war.
        The user calls home every {first|second} Sunday.
        The user's lecture is at {8:15|10:15}.
        The user broke an arm in {kindergarten|2002}.
        The user's contract was signed on {2 May|2 June}.
        The user does the taxes {monthly|yearly}.
        The user's passport was renewed in {November|December}.
    """),
    "name": _pairs("""
        The user's best friend is {Tamara|Tatiana}.
        The user works at {Siemens|Philips}.
        The user studied in {Uppsala|Lund}.
        The user's boat is called {Marlin|Merlin}.
        The user drives a {Volvo|Saab}.
        The user's doctor is Dr {Weber|Huber}.
        The user supports {Arsenal|Everton}.
        The user's street is {Elm|Oak} Street.
        The user speaks fluent {Czech|Polish}.
        The user's niece goes to school with {Emil|Emilia}.
        The user deploys on {Azure|AWS}.
        The user's favourite author is {Woolf|Wolfe}.
        The user reports to {Priya|Petra}.
        The user banks with {ING|UBS}.
        The user uses {Emacs|Vim} at work.
        The user flies from {Gatwick|Heathrow}.
        The user's choir sings {Bach|Brahms}.
        The user holidays in {Crete|Corfu}.
        The user votes for the party of {Lindgren|Lundgren}.
        The user's tailor is in {Via Roma|Via Verdi}.
        The user buys bread at {Brot & Co|Beck & Co}.
        The user's laptop is a {ThinkPad|MacBook}.
        The user is engaged to {Jonas|Jonathan}.
        The user writes for the {Guardian|Telegraph}.
        The user's ferry goes to {Mull|Skye}.
        The user takes {ibuprofen|paracetamol} for migraines.
        The user plays in a band named {Rust|Dust}.
        The user's teacher was Mrs {Cole|Cohen}.
        The user keeps a {beagle|poodle}.
        The user's project runs on {MySQL|SQLite}.
        The user's favourite opera is {Tosca|Aida}.
        The user's brother lives in {Lyon|Lille}.
        The user's dealer is in {East|West} Berlin.
        The user paints with {acrylics|watercolours}.
        The user grows {leeks|beets}.
    """),
    "negation": _pairs("""
        The user {likes|dislikes} surprises.
        The user {can|cannot} drive.
        The user {has|has no} insurance.
        The user {eats|never eats} fish.
        The user {trusts|does not trust} the landlord.
        The user {still|no longer} plays the drums.
        The user {is|isn't} on good terms with Lea.
        The user {wants|doesn't want} children.
        The user works {with|without} a contract.
        The user {is|is not} allowed to lift weights.
        The user {uses|avoids} the lift.
        The user {finished|didn't finish} university.
        The user {speaks|does not speak} to the brother.
        The user is {able|unable} to travel alone.
        The user {remembers|does not remember} the accident.
        The user's flat is {furnished|unfurnished}.
        The user is {happy|unhappy} at work.
        The user {agreed|refused} to sell the house.
        The user {accepted|rejected} the offer from Basel.
        The user's visa was {granted|denied}.
        The user {passed|failed} the driving test.
        The user {kept|gave up} the allotment.
        The user's cat is {vaccinated|not vaccinated}.
        The user drinks coffee {with|without} sugar.
        The user {always|rarely} answers the phone.
        The user {supports|opposes} the new bypass.
        The user {is|isn't} afraid of dogs.
        The user tolerates {lactose|no lactose}.
        The user {ever|never} flew alone.
        The user's phone is {on|off} at night.
        The user {has|has not} been to Africa.
        The user {owns|does not own} a television.
        The user {may|may not} drink alcohol.
        The user lost {all|no} contact with Jo.
        The user {loves|hates} karaoke.
    """),
    "unit": _pairs("""
        The user runs 8 {kilometres|miles} before work.
        The user earns 4,000 {euros|dollars} a month.
        The user's baby weighs 9 {kilograms|pounds}.
        The user's pool is 3 {metres|feet} deep.
        The user takes 5 {mg|ml} of the medicine.
        The user waits 20 {minutes|seconds} for the kettle.
        The user keeps the flat at 68 {degrees Fahrenheit|degrees Celsius}.
        The user's trip takes 6 {hours|days}.
        The user's file has 40 {kilobytes|megabytes}.
        The user buys 2 {litres|gallons} of milk.
        The user's mortgage runs for 15 {years|months}.
        The user pays 30 {francs|euros} for the class.
        The user's field has 3 {acres|hectares}.
        The user adds 2 {teaspoons|tablespoons} of salt.
        The user's engine has 90 {hp|kW}.
        The user trains 4 times a {week|month}.
        The user's cable is 10 {inches|centimetres} long.
        The user's notice period is 3 {weeks|months}.
        The user gets 100 {pounds|kroner} from the aunt.
        The user sleeps 7 hours {a night|a weekend}.
        The user's rent rose by 50 {euros|percent}.
        The user needs 300 {grams|ounces} of flour.
        The user's boat makes 12 {knots|km/h}.
        The user's parcel weighs 5 {tonnes|kilograms}.
        The user is billed {hourly|daily}.
        The user's battery lasts 8 {hours|minutes}.
        The user swims 2 {laps|kilometres}.
        The user donates 20 {a month|a year}.
        The user's backup holds 2 {TB|GB}.
        The user drinks 2 {cups|pots} of tea.
        The user's heating uses 900 {litres|kWh} a year.
        The user invested 5 {thousand|million} in the firm.
        The user's string is 2 {mm|cm} thick.
        The user's loan costs 3 percent per {year|month}.
        The user's tank holds 60 {litres|gallons}.
    """),
    "person": _pairs("""
        The user's {mother|father} is a surgeon.
        The user's {sister|brother} lives abroad.
        {The user|The user's wife} is allergic to nuts.
        The user's {uncle|aunt} raised goats.
        The user's {son|daughter} plays handball.
        The user's {boss|colleague} speaks Dutch.
        The user's {neighbour|landlord} is ill.
        The user's {grandfather|grandmother} fled in 1945.
        {The user|The user's husband} hates flying.
        The user's {nephew|niece} studies law.
        The user's {ex-wife|wife} keeps the dog.
        {The user|The user's mother} has diabetes.
        The user's {flatmate|cousin} cooks on Fridays.
        The user's {doctor|dentist} advised a rest.
        {The user|The user's team} won the cup.
        The user's {stepson|son} needs braces.
        The user's {girlfriend|sister} works nights.
        {The user|The user's boss} prefers phone calls.
        The user's {mother-in-law|mother} sews well.
        The user's {teacher|coach} was strict.
        {The user's friend|The user} broke a leg.
        The user's {godmother|grandmother} left a ring.
        The user's {lawyer|accountant} is on holiday.
        {The user|The user's daughter} loves horses.
        The user's {older|younger} brother is a baker.
        The user's {first|second} husband was a pilot.
        {The user's father|The user} built the shed.
        The user's {twins|parents} were born in Oslo.
        The user's {tenant|plumber} owes money.
        {The user's aunt|The user's sister} sings jazz.
        The user's {fiancé|brother} converted to Islam.
        The user's {nanny|grandma} taught the user Polish.
        {The user|Ben} paid for the dinner.
        The user lent {Kim|Sam} the car.
        The user's {pupil|son} failed the exam.
    """),
}

DUPLICATES = [
    tuple(part.strip() for part in line.split("|"))
    for line in """
    The user owns a sailing boat. | The user has a sailing boat.
    The user is a vegetarian. | The user's diet is vegetarian.
    The user lives in Ghent. | The user's home is in Ghent.
    The user works as a plumber. | The user is a plumber by trade.
    The user dislikes loud music. | The user doesn't like loud music.
    The user's cat is named Miso. | The user has a cat called Miso.
    The user is learning Greek. | The user learns Greek.
    The user prefers tea to coffee. | Tea is what the user prefers to coffee.
    The user goes jogging every morning. | Every morning the user goes jogging.
    The user is married to Paula. | The user's wife is called Paula.
    The user was born in Lima. | The user's birthplace is Lima.
    The user drives an electric car. | The user is driving an electric car.
    The user can't swim. | The user is unable to swim.
    The user plays chess. | The user is a chess player.
    The user likes hiking in the Alps. | The user enjoys hiking in the Alps.
    The user's favourite colour is green. | Green is the user's favourite colour.
    The user has two sons. | The user is the parent of two sons.
    The user hates spinach. | The user really hates spinach.
    The user wants to learn the cello. | The user would like to learn the cello.
    The user is allergic to penicillin. | The user has an allergy to penicillin.
    The user reads crime novels. | The user reads novels about crime.
    The user studied physics in Graz. | The user did a degree in physics in Graz.
    The user collects stamps. | The user is a stamp collector.
    The user's brother is Erik. | The user has a brother named Erik.
    The user lives with a dog. | The user lives together with a dog.
    The user speaks Finnish. | The user is a speaker of Finnish.
    The user has a fear of heights. | The user is afraid of heights.
    The user plays the trumpet in a band. | In a band the user plays the trumpet.
    The user eats no meat. | The user doesn't eat meat.
    The user volunteers at a shelter. | The user works as a volunteer at a shelter.
    The user cooks every evening. | The user cooks each evening.
    The user is a night owl. | The user's a night owl.
    The user's job is teaching. | The user works as a teacher.
    The user needs a quiet desk. | The user needs a desk that is quiet.
    The user wears glasses. | The user has to wear glasses.
    The user often travels to Rome. | The user frequently travels to Rome.
    The user is retired. | The user has retired.
    The user prefers short answers. | The user likes short answers better.
    The user bakes sourdough bread. | The user makes sourdough bread.
    The user takes the bus to work. | The user goes to work by bus.
    The user's hobby is pottery. | The user does pottery as a hobby.
    The user moved to Oslo in 2015. | In 2015 the user moved to Oslo.
    The user's daughter is called Ines. | Ines is the user's daughter.
    The user owns an old typewriter. | The user is the owner of an old typewriter.
    The user got divorced in 2019. | In 2019 the user was divorced.
    The user likes rainy days. | The user is fond of rainy days.
    The user's boss is Ms Okafor. | The user works for Ms Okafor, the boss.
    The user keeps a diary. | The user is keeping a diary.
    The user gave up smoking. | The user has given up smoking.
    The user rents a flat. | The user lives in a rented flat.
    The user runs a small bakery. | The user is running a small bakery.
    The user sings in a choir. | The user is a singer in a choir.
    The user avoids gluten. | The user stays away from gluten.
    The user has visited Peru. | The user has been to Peru.
    The user grew up on a farm. | The user was raised on a farm.
    The user buys clothes second-hand. | The user buys second-hand clothes.
    The user takes insulin. | The user is taking insulin.
    The user loves old films. | The user adores old films.
    The user's phone is a Fairphone. | The user has a Fairphone.
    The user has a garden with roses. | The user has a rose garden.
    The user doesn't drink alcohol. | The user never drinks alcohol.
    The user is the oldest of four siblings. | Of four siblings the user is the oldest.
    The user works from home on Fridays. | On Fridays the user works from home.
    The user repairs bicycles. | The user fixes bicycles.
    The user's mother tongue is Catalan. | Catalan is the user's mother tongue.
    The user is saving for a house. | The user saves for a house.
    The user wakes up early. | The user is an early riser.
    The user dreams of a trip to Iceland. | The user dreams about a trip to Iceland.
    The user suffers from migraines. | The user has migraines.
    The user was a nurse before. | Before, the user was a nurse.
    The user likes dark chocolate most. | Dark chocolate is what the user likes most.
    The user knows how to sew. | The user can sew.
    The user's team uses Slack. | Slack is used by the user's team.
    The user feeds the birds in winter. | In winter the user feeds the birds.
    The user teaches yoga. | The user is a yoga teacher.
    The user spends summers in Crete. | The user spends the summers in Crete.
    The user prefers window seats. | The user has a preference for window seats.
    The user lost a wallet in Prague. | In Prague the user lost a wallet.
    The user trusts Dr Novak. | The user has trust in Dr Novak.
    The user has a twin sister. | The user's sister is a twin of the user.
    The user pays by card. | The user pays with a card.
    The user hopes to retire early. | The user hopes for an early retirement.
    The user has no children. | The user doesn't have children.
    The user watches the news at night. | At night the user watches the news.
    The user is a member of a tennis club. | The user belongs to a tennis club.
    The user walks to the office. | The user goes to the office on foot.
    The user misses the sea. | The user is missing the sea.
    The user likes to paint landscapes. | The user likes painting landscapes.
    The user met Rob at school. | The user got to know Rob at school.
    The user is left-handed. | The user is a left-hander.
    The user orders groceries online. | The user orders the groceries online.
    The user's house has a balcony. | The user has a house with a balcony.
    The user celebrates Diwali. | The user is celebrating Diwali.
    The user plans to buy a van. | The user is planning to buy a van.
    The user sleeps badly. | The user doesn't sleep well.
    The user's birthday is on 4 May. | The user has a birthday on 4 May.
    The user prefers e-mail to calls. | The user prefers e-mail over calls.
    The user's favourite food is ramen. | The user's favourite dish is ramen.
    The user once lived in Cairo. | The user used to live in Cairo.
    The user has a degree in law. | The user holds a degree in law.
    """.strip().splitlines()
]
