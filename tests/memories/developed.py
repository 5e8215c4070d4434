"""Pairs on which the wordings of ``language/reading/phrases.txt`` were developed: no figure counts that comes of them.

``DUPLICATES`` say one thing in the words of different agents; ``APART`` take nearly the same words and are two.
"""

from .duplicates import _pairs

DUPLICATES = [
    tuple(part.strip() for part in line.split("|"))
    for line in """
    The user's sister Ana lives in Porto. | Ana, the user's sister, lives in Porto.
    The user has a sister named Ana. | The user's sister is called Ana.
    The user has lived in Zurich since 2018. | Since 2018 the user has been living in Zurich.
    The user works for Roche as a chemist. | The user is a chemist at Roche.
    The user is employed by Swisscom. | The user works for Swisscom.
    The user's job is software engineer. | The user works as a software engineer.
    The user's occupation is nurse. | The user is a nurse.
    The user is a software developer at SAP. | The user works at SAP as a software developer.
    The user reports to Claire. | The user's manager is Claire.
    The user's boss is called Dieter. | Dieter is the user's boss.
    The user is scared of spiders. | The user is afraid of spiders.
    The user has a phobia of needles. | The user is afraid of needles.
    The user does not eat pork. | The user never eats pork.
    The user avoids dairy products. | The user stays away from dairy products.
    The user is lactose intolerant. | The user has a lactose intolerance.
    The user has a nut allergy. | The user is allergic to nuts.
    The user follows a vegan diet. | The user is vegan.
    The user is on a gluten-free diet. | The user follows a gluten-free diet.
    The user has type 2 diabetes. | The user suffers from type 2 diabetes.
    The user takes metformin every day. | The user takes metformin daily.
    The user has asthma. | The user is asthmatic.
    The user's blood pressure is high. | The user has high blood pressure.
    The user goes to the gym three times a week. | Three times a week the user goes to the gym.
    The user runs five kilometres every morning. | Every morning the user runs 5 km.
    The user goes swimming on Tuesdays. | The user swims every Tuesday.
    The user plays tennis each Saturday. | On Saturdays the user plays tennis.
    The user does yoga in the evening. | In the evening the user practises yoga.
    The user cycles to work. | The user goes to work by bike.
    The user commutes by train. | The user takes the train to work.
    The user travels to Berlin frequently. | The user often travels to Berlin.
    The user is an early riser. | The user gets up early.
    The user plays the guitar. | The user is a guitarist.
    The user plays the violin in an orchestra. | The user is a violinist in an orchestra.
    The user is a member of a book club. | The user belongs to a book club.
    The user collects vintage postcards. | The user is a collector of vintage postcards.
    The user enjoys cooking Thai food. | The user likes to cook Thai food.
    The user is a fan of science fiction. | The user likes science fiction.
    The user loves jazz. | The user is fond of jazz.
    The user isn't fond of horror films. | The user doesn't like horror movies.
    The user hates small talk. | The user can't stand small talk.
    The user prefers tea over coffee. | The user likes tea more than coffee.
    The user prefers window seats. | The user favours window seats.
    The user's favourite author is Haruki Murakami. | Haruki Murakami is the user's favourite author.
    The user's favourite season is autumn. | Fall is the user's favorite season.
    The user would like to visit Japan. | The user wants to visit Japan.
    The user plans to move to Spain. | The user intends to move to Spain.
    The user is planning a trip to Norway in June. | In June the user plans a trip to Norway.
    The user hopes to buy a house. | The user is hoping to buy a house.
    The user is saving up for a car. | The user is saving money for a car.
    The user wants to learn Italian. | The user would like to learn Italian.
    The user is learning to play the piano. | The user learns to play the piano.
    The user takes piano lessons. | The user has piano lessons.
    The user can speak Portuguese. | The user speaks Portuguese.
    The user's native language is Polish. | Polish is the user's mother tongue.
    The user speaks fluent German. | The user speaks German fluently.
    The user grew up in Dublin. | The user was raised in Dublin.
    The user comes from Chile. | The user is originally from Chile.
    The user was born on 3 March 1985. | The user's date of birth is March 3, 1985.
    The user's birthday is May 4. | The user's birthday is on 4 May.
    The user is 42 years old. | The user's age is 42.
    The user turned forty in 2023. | In 2023 the user turned 40.
    The user is married to Tom. | Tom is the user's spouse.
    The user married Lucia in 2010. | In 2010 the user got married to Lucia.
    The user has been divorced since 2019. | Since 2019 the user is divorced.
    The user doesn't have any siblings. | The user has no siblings.
    The user is an only child. | The user has no siblings.
    The user has a son called Luca. | The user's son is Luca.
    The user's daughter Emma is seven. | The user's daughter Emma is 7 years old.
    The user's children are Mia and Noah. | Mia and Noah are the user's kids.
    The user's dog is a labrador. | The user has a labrador dog.
    The user has a cat named Whiskers. | The user's cat's name is Whiskers.
    The user adopted a dog in 2021. | In 2021, a dog was adopted by the user.
    The user owns a sailboat. | The user is the owner of a sailboat.
    The user bought a new laptop. | The user purchased a new laptop.
    The user drives a Toyota. | The user is driving a Toyota.
    The user rents an apartment in Lyon. | The user is renting a flat in Lyon.
    The user lives alone. | The user is living alone.
    The user works from home. | The user works remotely.
    The user works from home two days a week. | Two days a week the user works from home.
    The user is responsible for the Apollo project. | The user is in charge of the Apollo project.
    The user leads a team of six. | The user is the leader of a team of six.
    The user manages the budget of Atlas. | The budget of Atlas is managed by the user.
    The deadline for the report is Friday. | The report is due on Friday.
    The project's deadline is 1 June. | The deadline of the project is 1 June.
    The weekly sync takes place on Monday. | The weekly sync is on Monday.
    The team uses Jira. | Jira is used by the team.
    The user codes in Rust. | The user programs in Rust.
    The user uses Vim as an editor. | The user is using Vim as an editor.
    The user wants brief answers. | The user wants concise answers.
    The user prefers short replies. | The user prefers concise responses.
    The user likes answers to be short. | The user likes short answers.
    The user wants code examples in answers. | The user wants answers with code examples.
    The user studied law in Bologna. | The user studied law at Bologna.
    The user graduated from MIT in 2012. | In 2012 the user graduated from MIT.
    The user has a PhD in biology. | The user holds a PhD in biology.
    The user quit smoking. | The user no longer smokes.
    The user stopped eating meat. | The user doesn't eat meat any more.
    The user no longer works at Nokia. | The user doesn't work at Nokia anymore.
    The user used to live in Madrid. | The user previously lived in Madrid.
    The user was formerly a teacher. | The user used to be a teacher.
    The user broke a leg in 2015. | In 2015 the user broke a leg.
    The user has trouble sleeping. | The user has difficulty sleeping.
    The user struggles with deadlines. | The user has problems with deadlines.
    The user is looking for a new flat. | The user is searching for a new apartment.
    The user needs a visa for India. | The user requires a visa for India.
    The user is worried about the exam. | The user worries about the exam.
    The user is proud of the garden. | The user takes pride in the garden.
    The user looks after an elderly aunt. | The user takes care of an elderly aunt.
    The user volunteers at an animal shelter. | The user does volunteer work at an animal shelter.
    The user is interested in astronomy. | The user has an interest in astronomy.
    The user is learning to drive. | The user takes driving lessons.
    The user can't drive. | The user is not able to drive.
    The user knows how to juggle. | The user can juggle.
    The user met Paul at a conference. | The user got to know Paul at a conference.
    The user's mother passed away in 2020. | The user's mother died in 2020.
    The user's mom is a dentist. | The user's mother works as a dentist.
    The user's father is retired. | The user's dad has retired.
    The user's grandparents came from Italy. | The grandparents of the user came from Italy.
    The user's best friend is named Carla. | Carla is the user's best friend.
    The user's neighbour Mr Blum is deaf. | Mr Blum, the user's neighbour, is deaf.
    The user's wife teaches maths. | The user's wife is a maths teacher.
    The user's brother moved to Canada. | The brother of the user has moved to Canada.
    The user has a meeting with Ines at 10. | At 10 the user has a meeting with Ines.
    The user's flight is on 12 July. | The user flies on 12 July.
    The user reads a book every week. | Every week the user reads a book.
    The user drinks three cups of coffee a day. | The user drinks 3 cups of coffee per day.
    The user pays 1,200 euros rent a month. | The user pays rent of 1200 euros a month.
    The user's rent is 1,200 euros. | The user pays 1,200 euros in rent.
    The user weighs 70 kilograms. | The user's weight is 70 kg.
    The user is 180 cm tall. | The user's height is 180 cm.
    The user wears size 42 shoes. | The user's shoe size is 42.
    The user keeps bees. | The user is a beekeeper.
    The user dreams of opening a café. | The user's dream is to open a café.
    The user's goal is to run a marathon. | The user wants to run a marathon.
    The user has to wear glasses. | The user wears glasses.
    The user watches films in the original language. | The user watches movies in the original language.
    The user mentioned that the user's car is broken. | The user's car is broken.
    The user said the user is moving in May. | The user is moving in May.
    User has two cats. | The user has two cats.
    The user visited Iceland last summer. | Last summer the user went to Iceland.
    The user has never been to Asia. | The user has not visited Asia.
    The user gets migraines from red wine. | Red wine gives the user migraines.
    The user finds mornings difficult. | The user has a hard time in the mornings.
    The user volunteers every weekend. | On weekends the user volunteers.
    The user's phone number ends in 42. | The phone number of the user ends in 42.
    The user's car is a Tesla. | The user drives a Tesla.
    The user is bad at maths. | The user isn't good at maths.
    The user cannot work on Wednesdays. | On Wednesdays the user is unable to work.
    The user cooks dinner for the family. | Dinner for the family is cooked by the user.
    The user is writing a novel about bees. | The user writes a novel about bees.
    The user's office is near the station. | The office of the user is near the station.
    The user bakes bread on weekends. | The user bakes bread every weekend.
    The user does the shopping on Saturday. | On Saturday the user goes shopping.
    The user started a new job in March. | In March the user began a new job.
    The user was promoted to team lead. | The user got promoted to team lead.
    """.strip().splitlines()
]

APART = {
    "order": _pairs("""
        {Ana lent a bike to Ben|Ben lent a bike to Ana}.
        {The user lent Ana a bike|Ana lent the user a bike}.
        {The user teaches Ana|Ana teaches the user}.
        {The user is Ana's mother|Ana is the user's mother}.
        {The user is Erik's brother|Erik is the user's brother's son}.
        The user prefers {tea to coffee|coffee to tea}.
        The user likes {cats more than dogs|dogs more than cats}.
        The user moved from {Oslo to Bergen|Bergen to Oslo}.
        The user has {two cats and three dogs|three cats and two dogs}.
        The user has {a big dog and a small cat|a small dog and a big cat}.
        The user likes {tea, not coffee|coffee, not tea}.
        The user eats {before running|after running}.
        The user {eats before running|runs before eating}.
        {The user's boss trusts Ana|Ana trusts the user's boss}.
        {Ben pays for the user|The user pays for Ben}.
        {The user's dog bit Tom|Tom bit the user's dog}.
        {Ana is the user's teacher|The user is Ana's teacher}.
        {Ana is the user's teacher|The user teaches Ana}.
        The user is {taller than Ben|Ben's taller brother}.
        {Lea works for the user|The user works for Lea}.
        {The user was hired by Kim|Kim was hired by the user}.
        {The user's sister called Ana|Ana called the user's sister}.
    """),
    "tense": _pairs("""
        The user {lives|lived} in Cairo.
        The user {is|was} a nurse.
        The user {works|worked} at Siemens.
        The user {has|had} a dog.
        The user {plays|played} chess.
        The user {smokes|used to smoke}.
        The user {teaches|taught} yoga.
        The user {will move|moved} to Graz.
        The user {is|will be} a father.
        The user {was born|lives} in Lima.
        The user {owns|owned} a boat.
        The user {runs|ran} marathons.
    """),
    "near words": _pairs("""
        The user plays the {violin|viola}.
        The user is a {violinist|violist}.
        The user keeps {bees|geese}.
        The user {bakes|buys} bread.
        The user {likes|wants} a dog.
        The user {plans|hopes} to move.
        The user {teaches|learns} Greek.
        The user {started|finished} a course.
        The user is {scared|fond} of dogs.
        The user works {at|near} a hospital.
        The user works {with|without} Ana.
        The user works {for|against} Ana.
        The user lives {in|above} a bakery.
        The user takes the {bus|train} to work.
        The user {cycles|walks} to work.
        The user {often|sometimes} travels.
        The user {usually|rarely} cooks.
        The user goes swimming every {day|week}.
        The user works from home {every Friday|every second Friday}.
        The user {likes|dislikes} jazz.
        The user {dislikes|hates} jazz.
        The user is {a vegan|a vegetarian}.
        The user {can|can't} swim.
        The user {must|may} wear glasses.
        The user {rents|owns} a flat.
        The user has {a|no} degree in law.
        The user has {brothers|no brothers}.
        The user is {married|divorced}.
        The user's dog is {Rex|Max}'s father.
        The user's class is in room {B12|B21}.
        The user's {wife|husband} is Kim.
        The user is a {mother|father} of two.
        The user gets up at {6 am|6 pm}.
        The user gets up at {6|6:30}.
        The release is in {Q2|Q3}.
        The user takes version {1.2|1.3}.
        The user weighs 70 {kg|pounds}.
        The user's budget is 500 {€|$}.
        The user's budget is {€500|€5,000}.
        The user's rent is {1.200|12.00} euros.
        The user was a child in the {1970s|1980s}.
        The user's birthday is {May 4|June 4}.
        The user's birthday is {May 4|May 14}.
        The user's friend is {Jonas|Jona}.
        The user's friend is {Jan|John}.
        The user moved in {Jan|June}.
        The user meets {Mark|Marc} in March.
        The user sleeps {well|badly}.
        The user is {good|bad} at maths.
        The user goes to {bed|work} at ten.
        The user {walks his|walks her} dog.
        The user's {left|right} knee hurts.
        The user {lost|found} a wallet in Rome.
        The user sold a car {to|for} Tom.
        The user {called|named} Ana's dog.
        The user {reads|writes} novels.
        The user is a {reader|writer} of novels.
        The user is a {trainer|trainee} at a gym.
        The user {bought|sold} the flat.
        The user drinks coffee {with|without} milk.
        The user {rarely|never} drinks.
        The user is {often|always} late.
        The user is saving for a {car|house}.
        The user worries about {money|health}.
        The user {no longer|still} smokes.
        The user {quit|started} smoking.
        The user takes {insulin|metformin}.
        The user's {elder|younger} sister is ill.
        The user's {nanny|grandma} sang.
        The user is {Ana's|Eva's} boss.
        {Only the user|The user} knows the code.
        The user {only|} knows the code.
        The user needs {a|another} visa.
        The user has {visited|moved to} Peru.
        The user has {been to|come from} Peru.
        The user works {full-time|part-time}.
        The user is allergic to {nuts|cats}.
        The user has {an allergy|no allergy} to nuts.
        The user prefers {aisle|window} seats.
        The user is looking {for|after} a dog.
        The user {wants|has} to leave.
        The user can speak {Portuguese|Spanish}.
        The user is from {Chile|Peru}.
        The user's {mother|mother-in-law} cooks.
        The user's {friend|girlfriend} is Lea.
        The user's {brother|brother's wife} is a baker.
        The user's {brother|brother's son} is Tim.
        The user feeds the cat {before|at} noon.
        The user's team has {few|many} members.
        The user's {first|last} car was red.
        The user {drinks|avoids} wine.
        The user {gains|loses} weight in winter.
        The user lives {with|near} a friend.
        The user paid {by card|cash}.
        The user is a {night|day} nurse.
        The user {owes|lends} Kim money.
        The user {arrives|leaves} on Friday.
        The user flies to Rome {on Friday|every Friday}.
        The user spent {a week|every week} in Rome.
        The user has {five sons|a five-year-old son}.
        The user works {with|for} Ana.
        The user's flat is {small|too small}.
        The user says that Ana {is|was} ill.
        The user {does|did} a degree in physics.
        The user left {a ring|a phone} on the table.
        The user takes {drugs|medicine}.
        The user is a lawyer {by training|by night}.
        The user {has|needs} a job in Basel.
        The user's {salary|rent} is 900 euros.
        The user's brother {works at|owns} Nokia.
        The user goes {to|past} the church every day.
        The user was taught by {Ana|the user's aunt}.
        {Ana was taught by the user|Ana taught the user}.
    """),
}
