"""Candidates written after the rules of form were, and scored once (docs/upkeep.md): the set is spent."""

from .candidates import _lines

GOOD = _lines("""
    The user keeps two goats behind the barn.
    Ana teaches the user Portuguese on Tuesdays.
    The user's shoulder hurts since the fall in May.
    The user prefers trains over planes.
    The user's neighbour Olga waters the plants in August.
    Project Heron is written in Rust.
    The user is saving for a cargo bike.
    The user has never been to Asia.
    The user's motto is "slow is smooth".
    The user bought a used piano in Leipzig.
    Since the divorce the user sees the children on weekends.
    The user can't stand cold offices.
    The user's choir performs in the cathedral in December.
    The user asked for shorter replies.
    The user decided to postpone the surgery until spring.
    The user and Tom discussed the budget and agreed to cut travel.
    Der Nutzer wohnt in Graz.
    L'utilisateur préfère le thé.
    El usuario trabaja de noche.
    ユーザーは東京に住んでいます。
    The user's blood pressure is 140/90.
    The user's flat is at Hauptstrasse 5.
    The user gets anxious before presentations.
    The user's late wife was called Ingrid.
    The user moved out in 2016 and rents since then.
    The user's Wi-Fi router is a Fritz!Box 7590.
    The user wants invoices in CHF.
    The user is vegetarian except for fish.
    Mr Brown manages the user's pension.
    The user runs Postgres 16 on port 5433.
    The user's daughter won first prize in physics.
    The user was made redundant last autumn.
    The user enjoys crosswords, mostly cryptic ones.
    The user's deadline for the thesis is 15 March.
    The user lives alone with a parrot.
    The user listens to podcasts while ironing.
    The user's favourite novel is "Who Do You Love?".
    The team chose Kafka because it scales.
    The user goes by the name Bibi online.
    The user's hearing aid needs new batteries every week.
    The user believes that deadlines help.
    The user's sister-in-law is a judge.
    The user plans to visit St. Ives in June.
    The user took up fencing at the age of 50.
    Coffee after six keeps the user awake.
    The user's cat, Minka, is diabetic.
    The user reads e-mail only at noon.
    The user's son calls every Sunday.
    The user owes Ben 40 euros.
    The user is the treasurer of the rowing club.
    The user's keyboard has a Dvorak layout.
    The user feels guilty about selling the house.
    The user trained as a cabinetmaker.
    The user has been sober for three years.
    The user's mother is 91 and lives in a home.
    The user likes it when meetings end early.
    In the evenings the user practises the oboe.
    The user's password manager is KeePass.
    The user refuses to fly within Europe.
    The user's first language is Sorbian.
""")
BAD = [
    *_lines("""
    They went there yesterday.
    She is a doctor.
    His car broke down.
    It was nice.
    This one is better.
    I love you.
    I will remember that for you!
    We talked about boats.
    As an AI, I noted that the user likes tea.
    What does the user want?
    Does the user have a dog?
    Is Ana coming
    Why is the user sad?
    ¿Dónde vive el usuario?
    Wo wohnt der Nutzer?
    - likes tea
    1. The user likes tea 2. The user likes jam 3. The user likes cake
    * The user rows.
    The user likes tea; the user has a cat; the user lives in Rome.
    The user likes tea. The user has a cat. The user is 40. The user sings.
    Name: Ana, Age: 40, City: Rome
    {"memory": "likes tea"}
    <memory>The user likes tea</memory>
    ```The user likes tea```
    **Important:** the user likes tea
    # User profile
    null
    N/A
    None.
    Nothing new was learned.
    No facts found.
    There is nothing to remember.
    ...
    ???
    🙂
    The user is [name].
    The user lives in {city}.
    The user's e-mail is undefined.
    TODO: ask for the name
    The user likes
    The user said that
    The user is a
    The user works at the
    The user has a dog called
    likes tea
    tall, friendly
    a teacher
    Sure, here is the memory: the user likes tea.
    Okay! The user likes tea.
    Here are the facts I found.
    Based on the conversation, the user likes tea.
    The conversation was about boats.
    According to the chat the user likes boats.
    Memory updated: the user likes tea.
    Please remember the user likes tea.
    Content: The user likes tea.
    fact = the user likes tea
    insight: the user is sad
    tea tea tea tea tea tea
    aaaaaaaaaaaaaaaaaaaaaaaa
    The user likes tea likes tea likes tea likes tea.
    You like tea.
    Your dog is called Rufus.
    My name is Ana.
    Let me know if you need more.
    The user told me about Ana.
    I'm sorry, I can't help with that.
    Their house is red.
    That is why the user left.
    He and Ana live in Rome.
    Remember to ask the user about the trip.
    I understand that the user is tired.
    The user said: "I like tea
    The user likes tea,
    {{user.name}} likes tea.
    <|assistant|> The user likes tea.
    user_name: Ana
    [{"content": "tea"}]
    Thanks for sharing!
    Great, noted.
    Er wohnt in Graz.
    Elle aime le thé.
    Ella trabaja de noche.
    ["likes tea", "likes jam"]
    The user: likes tea | lives in Rome | owns a cat
    Could the user be ill?
    Likes: tea. Dislikes: jam. Wants: cake. Needs: rest.
    Who is Ana?
    Unknown
    No information available.
"""),
    "The user keeps a very long diary about " + "bees and hens and " * 20 + "more.",
    "x",
]
