"""Candidates for memories as agents and models word them, by what is wrong with them; written before the rules.

``UNSEEN`` were written after the rules were frozen, and scored once.
"""


def _lines(text):
    return [line.strip() for line in text.strip().splitlines()]


GOOD = _lines("""
    The user lives in Lisbon.
    The user prefers window seats on long flights.
    The user's daughter Mia plays the cello.
    Sarah works on the Platform team.
    The user is allergic to peanuts and carries an EpiPen.
    The user's dog is called Rufus.
    Alec is the user's boss; Alec reports to Ingrid.
    The user wants short answers with code first.
    Project Atlas uses Python 3.12 and PostgreSQL.
    The user got married in 2015.
    The user asked for help with a tax return and decided to file it online.
    The user and Ana planned a trip to Oslo in June.
    The user never drinks coffee after noon.
    The user's goal is to run a marathon in under four hours.
    The user has two children: Mia and Leo.
    The user is a nurse at the cantonal hospital in Bern.
    The user dislikes meetings before nine.
    Maria manages the marketing budget of Atlas.
    The user loves his garden.
    The user's mother lives in Porto with her sister.
    The user said that the move to Berlin was postponed.
    The team decided to use Django because it is well documented.
    The user is reading "Who's Afraid of Virginia Woolf?".
    The user's favourite film is "What's Up, Doc?".
    The user watched "I, Robot" twice.
    The user likes the song "It Is What It Is".
    In 2012 the user moved to Bern.
    Before work the user goes swimming.
    The user's passport expires in April 2029.
    The user is left-handed.
    The user's e-mail client is Thunderbird.
    The user works from 9:00 to 17:30.
    The user earns about 5,400 francs a month.
    The user's child was born on 3 May 2019.
    Tom, the user's brother, is a pilot.
    The user thinks that remote work suits introverts.
    The user doesn't eat meat.
    The user's blood type is O negative.
    The user prefers tabs over spaces.
    The user shows increased trust when mistakes are admitted.
    The user feels at ease when plans are written down.
    The user discussed a career change and decided to wait until autumn.
    The user fixed the login bug and deployed version 2.1.
    The user told Ana about the diagnosis.
    The user's landlord is Mr Meier.
    Dr. Keller is the user's dentist.
    The user takes the 7:32 train from Olten.
    The user's laptop runs Linux and has 32 GB of memory.
    The user volunteers at the library on Saturdays.
    The user keeps bees behind the house.
    The user has a sister who lives in Rome.
    The user hates it when calls start late.
    The user's parents divorced when the user was ten.
    The user speaks German, French and some Dutch.
    The user's budget for the kitchen is 12,000 euros.
    The user is training for the Bern Grand Prix.
    Lasagne is the user's favourite food.
    The user gave up smoking in 2018.
    The user's book club meets on the first Monday of the month.
    The user would like to visit Japan in spring.
    Nina leads the Design team, and she reports to Alec.
    The user is on holiday until 14 August.
    The user asked whether the flat may be sublet.
    The user wonders why the boiler is loud.
    The user's son wants to know how rockets work.
    The user wrote a thesis on glaciers at ETH Zurich.
    The user's car, a blue Volvo, failed its inspection.
    The user owns a house in Thun and rents out the ground floor.
    The user's knee hurts when running downhill.
    The user prefers metric units.
    The user is married to Ana.
    The user's manager approved the sabbatical.
    The user collects stamps from Portugal.
    The user's cat Minka is diabetic and gets insulin twice a day.
    The user sings in a Bach choir.
    The user's team uses Scrum with sprints of two weeks.
    The user was born in Galway and grew up in Cork.
    The user met Jonas at university.
    The user always wants type hints in Python code.
    The user finds long e-mails tiring.
    The user lent Tom the drill.
    The user's therapist recommends a sleep diary.
    The user's favourite season is autumn.
    The user plays chess online as a hobby.
    The user has lived in Bern for eight years.
    The user uses a standing desk.
    The user saved 200 francs in October.
    The user's nephew studies law in Geneva.
    The user wants to be reminded of the deadline two days before.
    Atlas is due on 1 May 2026.
    The office on Main Street closes at six.
    Rosa kept bees.
    Grandma Rosa baked bread on Sundays.
    Henry worked as a watchmaker in Basel.
    The user's wife is expecting a baby in March.
    The user is considering a move to Zug.
    The user asked the bank for a mortgage and it was granted.
    The user likes jazz, and Miles Davis above all.
    The user's neighbour has a drone that worries her dog.
    The user admires Ada Lovelace for her foresight.
    The user booked a table for four at Luigi's.
    The user's phone is an iPhone 15.
    The user plans to learn Rust next year.
    The user struggles with insomnia.
    The user prefers to be called Sam by friends.
    The user's last salary review was in January.
    The user enjoys hiking in the Alps with Eva.
    The user's flat has three rooms and a balcony.
    The user's glasses are -2.5 on the left.
    The user uses Vim; the rest of the team uses VS Code.
    The user told the story of a lost suitcase.
    Everybody in the user's family plays chess.
    Nobody in the user's team works on Fridays.
    This year the user wants to read 20 books.
    That summer the user climbed four peaks.
    Most days the user walks 8,000 steps.
    Who the user votes for is private to the user.
    What matters most to the user is honesty.
    How the user's father died is still unclear to the family.
    When stressed, the user bakes bread.
    Is It Wrong is the name of the user's band.
    It is important to the user that deadlines are kept.
    It took the user two years to learn Portuguese.
    There are nine people on the user's team.
    Der Benutzer wohnt in Bern und arbeitet als Pfleger.
    Die Tochter des Benutzers heisst Mia.
    Der Benutzer trinkt keinen Kaffee.
    L'utilisateur habite à Genève.
    La fille de l'utilisateur s'appelle Mia.
    L'utilisateur n'aime pas le café.
    El usuario vive en Madrid y trabaja como enfermero.
    La hija del usuario se llama Mia.
    L'utente abita a Roma.
    Il cane dell'utente si chiama Rufus.
    De gebruiker woont in Utrecht.
    O utilizador vive no Porto.
    Användaren bor i Lund.
    ユーザーは東京に住んでいる。
    用户住在北京。
    Пользователь живёт в Риге.
    사용자는 서울에 산다.
    المستخدم يعيش في القاهرة.
    Użytkownik mieszka w Krakowie.
    Kullanıcı İstanbul'da yaşıyor.
    Uživatel bydlí v Praze.
    The user uses C++ and C# at work.
    The user's build fails with error 0x80070005.
    The user's website is example.org.
    The user set DEBUG=False in production.
    The user prefers `ruff` to `flake8`.
    The user's function f(x) = x**2 is tested.
    The user's favourite emoji is 🐝.
    The user is 34.
""")

BAD = {
    "question": _lines("""
        Is the user happy?
        Does the user like tea?
        What is the user's favourite colour?
        Where does the user live now?
        Has the user moved to Berlin yet?
        Should the assistant remember this?
        The user lives in Bern, right?
        Why did the user quit?
        Who is Alec?
        Would the user like a reminder?
        Can the user swim?
        Which team is Sarah on?
        How old is Mia?
        Did the user finish the marathon
        Is the user married
        Does the user have a dog
        Wohnt der Benutzer in Bern?
        L'utilisateur habite-t-il à Genève ?
        ¿Vive el usuario en Madrid?
        ユーザーはどこに住んでいますか？
        用户住在哪里？
        Was the meeting moved to Tuesday?
        Are the user's parents divorced?
        The user prefers what kind of music?
    """),
    "pronoun": _lines("""
        He likes it.
        She lives in Porto.
        They moved to Berlin in May.
        It is called Rufus.
        His boss is Alec.
        Her daughter plays the cello.
        Their dog has diabetes.
        He is allergic to peanuts.
        She works as a nurse.
        It was bought in 2019.
        This is very important.
        That is why the user left.
        These are due on Friday.
        Those were too expensive.
        He said that he would call.
        She doesn't eat meat.
        They have two children.
        Yesterday he went to the dentist.
        In May she starts the new job.
        Its deadline is 1 May.
        He and Ana are engaged.
        Apparently she prefers tea.
        He's a pilot.
        She'll move to Zug.
        They've been married since 2015.
        Er wohnt in Bern.
        Sie arbeitet als Pflegerin.
        Elle habite à Genève.
        Il aime le café.
        Ella vive en Madrid.
        Hij woont in Utrecht.
        Él trabaja como enfermero.
    """),
    "voice": _lines("""
        I live in Lisbon.
        My dog is called Rufus.
        I will remember that.
        I have noted that the user likes tea.
        You live in Bern.
        Your daughter is called Mia.
        We decided to use Django.
        As an AI language model, I cannot store this.
        The assistant recommended a restaurant.
        The assistant should answer briefly.
        Let me know if anything changes.
        Sure! The user lives in Bern.
        Certainly, the user's dog is called Rufus.
        Here is the memory: the user likes tea.
        Here's what was learned: the user moved.
        Based on the conversation, the user likes tea.
        According to the conversation, the user is a nurse.
        The conversation is about the user's garden.
        In this conversation the user mentioned a dog.
        Okay, noted.
        Got it, the user prefers tea.
        Thank you for sharing that the user is a nurse.
        Sorry, there is nothing to remember.
        I'm sorry to hear about the user's loss.
        We should ask the user about the trip.
        Our team uses Scrum.
        Remember that you prefer tea.
        The chatbot told the user a joke.
        Great! The user got the job.
        Memory updated: the user lives in Bern.
        Noted: the user likes tea.
        The user told me about the dog.
        Please remember that the user likes tea.
        Of course, the user is vegan.
    """),
    "several": _lines("""
        The user lives in Bern. The user likes tea. The user has a dog.
        The user is a nurse. Mia plays the cello. Atlas is due in May. Rex is a dog.
        The user likes tea; the user lives in Bern; the user has two cats.
        - The user likes tea - The user lives in Bern
        1. The user likes tea 2. The user lives in Bern
        * likes tea * lives in Bern
        The user: likes tea; lives in Bern; works at Siemens; has a dog.
        Name: Sam | City: Bern | Job: nurse
        The user lives in Bern, the user likes tea, and the user has a dog.
        The user works at Siemens, the user's wife is Ana, and the user's dog is Rex.
        The user likes tea. He lives in Bern. He works at Siemens. He has two dogs.
        City: Bern, Job: nurse, Pets: two cats
        • Likes tea • Lives in Bern • Has a dog
        The user has a dog. The dog is called Rex. Rex is three years old.
        (1) The user likes tea. (2) The user lives in Bern.
        The user was born in Cork, the user moved to Bern in 2012, the user married Ana in 2015.
        likes tea; hates coffee; vegetarian; lives in Bern
        The user sold the Volvo. The user bought a bike. The user takes the train now.
    """),
    "empty": _lines("""
        .....
        -----
        ??!!??
        None.
        N/A n/a
        null null
        unknown
        Unknown.
        Nothing.
        nothing new
        No new information.
        No new facts.
        There is nothing to remember.
        Nothing to remember.
        No memories found.
        (empty)
        [none]
        undefined
        ""  ""
        * * * * *
        no information
        Not applicable.
        not specified
        No relevant information was found.
    """),
    "broken": _lines("""
        {"content": "The user likes tea."}
        ["The user likes tea."]
        ```json {"content": "tea"} ```
        <memory>The user likes tea.</memory>
        **User** likes tea and **lives** in Bern
        ## Preferences
        content: The user likes tea.
        Fact: the user likes tea.
        Memory: The user likes tea.
        The user likes tea.\\nThe user lives in Bern.
        The user lives in [city].
        The user's name is {name}.
        The user works at <company>.
        TODO: fill in the user's city
        The user likes
        The user's dog is called
        The user lives in
        The user moved to Berlin and
        The user wants to, but
        The user likes tea,
        The user is very fond of...
        The user the user the user the user
        tea tea tea tea tea
        xxxxxxxxxxxxxxxx
        The user likes \\u0074ea.
        category: preference; importance: 3
        user_preference: tea
        add_to_memory(content="tea")
        {{user}} likes tea
        The user likes tea</s>
        <|im_end|> The user likes tea
        Output: The user likes tea.
        Summary: The user likes tea.
        The user's email is undefined.
        The user is NaN years old.
        lorem ipsum dolor sit amet
        string
        likes tea
        from Bern
        tea, jam
        "content": "The user likes tea"
    """),
    "long": [
        "The user " + "likes long walks by the lake and " * 10 + "tea.",
        "The user lives in " + "a very " * 50 + "small house.",
        "x" * 281,
        "The user's story: " + "and then it rained " * 16,
        "The user has visited " + ", ".join(f"town {number}" for number in range(40)) + ".",
        "The user keeps a diary " + "in which the weather is noted " * 10,
    ],
}

# --- Written after the rules were frozen, scored once: docs/upkeep.md has the figures ---

UNSEEN_GOOD = _lines("""
    The user's sourdough starter is seven years old.
    Lena leads the user's physiotherapy on Thursdays.
    The user quit the gym because it was overcrowded.
    The user's brother-in-law repairs clocks in Zug.
    The user shares a studio with two painters.
    The user learned to sail as a teenager on Lake Zurich.
    At work the user is known for careful reviews.
    The user keeps receipts in a shoebox.
    The user agreed to chair the parents' council until June.
    The user cannot stand the smell of fish.
    The user compared three insurers and chose the cheapest.
    Every winter the user goes skiing in Arosa.
    The user's Wi-Fi drops whenever the microwave runs.
    The user's novel has 300 pages so far.
    The user hopes that Eva recovers soon.
    The user trusts Dr. Frei more than any other doctor.
    The user subscribes to "What If?".
    The user's favourite quote is "I think, therefore I am".
    The user has bought tickets for the 8 p.m. show.
    The user's granddaughter calls the user "Nonno".
    Der Benutzer spielt seit 2010 Geige.
    Le chat de l'utilisateur est noir.
    El perro del usuario es viejo.
    Il gatto dell'utente dorme molto.
    After the move, the user lost touch with Bob.
    Because of the migraine the user avoids bright light.
    The user's code of conduct forbids gifts over 50 francs.
    Eva, Tom and the user founded a choir in 2016.
    The user once met Roger Federer in a bakery.
    Its own band name, "Its", amuses the user.
""")

UNSEEN_BAD = {
    "all": _lines("""
        Isn't the user tired of travelling?
        Could it be that the user moved?
        How does the user commute?
        Whose boat is it?
        She hates mornings.
        They sold the cottage.
        Theirs is a red bike.
        Last year he broke a leg.
        I'd rather not say.
        We're planning a trip to Wales.
        You should call Eva.
        My cat is called Minka.
        As your assistant, I noted the allergy.
        I've updated the memory.
        Understood! The user likes tea.
        Here are the facts: the user sails.
        From the conversation it is clear that the user sails.
        The user sails; the user skis; the user swims.
        The user sails. Eva skis. Tom swims.
        1) sails 2) skis 3) swims
        - sails
        {"fact": "sails"}
        <fact>The user sails.</fact>
        fact_1: The user sails
        The user's favourite sport is
        The user moved to Zug because
        The user ... ...
        null
        No memories.
        Nothing was learned.
        [user] likes sailing
        The user's dog is named {dog_name}.
        haha haha haha haha
        sails often
        ### Sailing
        The assistant suggested sailing.
    """),
}
