"""Named limits, each in the unit that its name says; those that a deployment may change come from the environment."""

import environ

env = environ.Env()

MESSAGE_MAX_CHARACTERS = 32_000
MESSAGES_PER_REQUEST = 500
# The state of an agent's work as JSON, and how many of a thread's simple ones are kept.
CHECKPOINT_MAX_BYTES = 1_000_000
CHECKPOINT_STATES = 10
SUMMARY_THRESHOLD_MESSAGES = 30
SUMMARY_BATCH_MESSAGES = 20
WINDOW_MESSAGES = 20
EXTRACTED_PER_USER_MESSAGE = 3
# What is learned from one person in 24 hours, facts and memories together, bounds the cost and what is to be reviewed.
EXTRACTED_PER_USER_AND_DAY = env.int("EXTRACTED_PER_USER_AND_DAY", default=200)
# How often a model is asked about one part of a conversation: to choose, then to correct what was not taken.
EXTRACTION_ROUNDS = env.int("EXTRACTION_ROUNDS", default=3)
EXTRACTION_CONTEXT_MESSAGES = 6
HOLD_SECONDS = 86_400
# How long a client may take to send a request, and a file, and to read what the server has ready for it.
REQUEST_SECONDS = 30
UPLOAD_SECONDS = 3_600
ANSWER_SECONDS = 30
# What one caller may do at once in one process; what else they send waits.
WEB_THREADS_PER_CALLER = 4
UPLOADS_PER_CALLER = 2
# A stream of updates ends by itself, so that whoever follows it is asked who they are now and then.
UPDATES_STREAM_SECONDS = 30
UPDATES_STREAMS_PER_PERSON = 10
UPDATES_STREAMS_PER_PROCESS = 1_000
UPDATES_KEPT_SECONDS = 600
# A stream of changes asks who its follower is at each change, so it may last longer.
CHANGES_STREAM_SECONDS = 300
# A request for changes waits so long at most; proxies cut off what says nothing for a minute.
CHANGES_WAIT_SECONDS = 30
# The server that an assistant starts for itself looks again so long after Valkey went.
CHANGES_RETRY_SECONDS = 5
# Webhooks: how many an agent has for one person, how many changes one request tells, how long it may take, how often it
# is tried, the first and the longest wait between two tries, and after how many days without success no more is sent.
# How long deliveries are listed: those that came through, and those that did not.
WEBHOOKS_PER_AGENT = 5
WEBHOOK_CHANGES = 100
WEBHOOK_SECONDS = 10
WEBHOOK_ATTEMPTS = 12
WEBHOOK_FIRST_RETRY_SECONDS = 30
WEBHOOK_LONGEST_RETRY_SECONDS = 21_600
WEBHOOK_FAILING_DAYS = 3
WEBHOOK_SENT_DAYS = 7
WEBHOOK_DEAD_DAYS = 30
# A worker has others their turn after so long; finding an address and sending to it end well within the lease.
WEBHOOK_SLICE_SECONDS = 30
WEBHOOK_LEASE_SECONDS = 120
# Whether webhooks may lead to addresses that are not public, and over http: in a network of one's own.
WEBHOOKS_PRIVATE = env.bool("WEBHOOKS_PRIVATE", default=False)
# A reply of the assistant: how long it may take, its rounds with tools, the tokens of all of them together, how long a
# model goes on for nobody, how long after the last sign of the process that makes it it is lost, how long what was told
# can be followed from its beginning, and how long the end waits for what is learned from the message.
REPLY_SECONDS = env.int("REPLY_SECONDS", default=120)
REPLY_ROUNDS = env.int("REPLY_ROUNDS", default=6)
REPLY_TOKENS = env.int("REPLY_TOKENS", default=4_000)
REPLY_ALONE_SECONDS = env.float("REPLY_ALONE_SECONDS", default=5.0)
REPLY_LEASE_SECONDS = 15.0
REPLY_ATTEMPTS = 2
REPLY_KEPT_SECONDS = 600
REPLY_KEPT_EVENTS = 10_000
REPLY_UPDATE_SECONDS = 10
# Its short hops to the database, in one process.
REPLY_THREADS = 4
IDLE_FINISH_SECONDS = 3_600
BATCH_LEASE_SECONDS = 240
# A batch asks the model twice and embeds twice at most, then renews its lease before it goes on.
MODEL_TIMEOUT_MAX_SECONDS = 75
EMBEDDER_TIMEOUT_MAX_SECONDS = 40
RERANKER_TIMEOUT_MAX_SECONDS = 10
# A reranker that failed is not asked for so long, so that not every turn waits for it.
RERANKER_REST_SECONDS = 10
TURN_BUDGET_TOKENS = 16_000
FACTS_BLOCK_TOKENS = 4_000
# A longer difference has a conversation pinned anew: its block's bytes change once, and prompts are short again.
DIFFERENCE_MAX_LINES = 12
DIFFERENCE_MAX_TOKENS = 600
# How many of each a turn recalls; of memories also how many are related to those: QUERY_RELATED.
RECALLED_CHUNKS = 3
RECALLED_TURNS = 8
RECALLED_FACTS = 8
RECALLED_MEMORIES = 8
# So much of what was said right before and after a recalled turn goes with it.
RECALLED_NEIGHBOUR_TOKENS = 120
# A turn looks once more where nothing that it found scores this, in deviations from what the person's rows score on
# average: the scale of cosines is another one with every embedder. docs/search.md has how often that is.
RECALL_CONFIDENT = env.float("RECALL_CONFIDENT", default=1.8)
# What a second look adds at most.
RECALLED_AGAIN = 3
RECALLED_AGAIN_TOKENS = 512
# Weights of the search that differ from those of retrieval/weights.py, by name.
SEARCH_WEIGHTS = env.dict("SEARCH_WEIGHTS", cast={"value": float}, default={})
# What an answer of memory.query holds unless it is told otherwise, and the most that may be asked for.
QUERY_TOP_K = 10
QUERY_MOST_RESULTS = 100
QUERY_BUDGET_TOKENS = 512
QUERY_MOST_TOKENS = 100_000
# So many at least are ranked by what else speaks for them, and so many the model chooses among.
QUERY_CANDIDATES = 50
QUERY_CHOSEN_AMONG = 50
# So many bullets in all tell of what is related to what was found.
QUERY_RELATED = 2
# What speaks for a memory whatever is asked, in points of one deviation from how near the person's memories are to the
# question: for each step of importance off the ordinary, half of it after so many days without use; for having been
# worded just now, half of it after so many days; for being pinned; for being related to what was found before it, at
# full strength; against being an insight.
# Measured on the observations of LoCoMo (benchmarks/ranking.py; recall@5 and @10 are 73.6 and 82.3): without recency
# -0.7 and 0, twice as much of it +0.3 and 0; without relations +0.4 and +0.1, twice as much of them -0.8 and +0.5. So
# neither moves much. No data tells of importance, pins and insights: a pin weighs as much as two steps of importance,
# an insight comes behind what was said.
RANK_IMPORTANCE = 0.1
RANK_IMPORTANCE_HALF_DAYS = 90
RANK_RECENCY = 0.1
RANK_RECENCY_HALF_DAYS = 30
RANK_PINNED = 0.2
RANK_RELATED = 0.2
RANK_INSIGHT = 0.5
# What the memory block always carries, memories and places: their lines, without the fence and the headings.
MEMORY_BLOCK_TOKENS = env.int("MEMORY_BLOCK_TOKENS", default=10_000)
MEMORY_CACHE_SECONDS = 600
MEMORY_PAGE_CACHE_SECONDS = 300
# So long what was archived or rejected can be restored and a change undone; then it is purged.
ARCHIVE_DAYS = 30
# How long the file with everything about a person can be fetched.
EXPORT_HOURS = env.int("EXPORT_HOURS", default=24)
EXPORT_LEASE_SECONDS = 180
# How long whoever knew what was erased is told so, and can have the receipt verified by its ids.
ERASED_DAYS = 90
# From the page, erasing everything waits so long, and can be taken back.
ERASE_GRACE_HOURS = 24
ERASE_LEASE_SECONDS = 180
# A picture as it is uploaded, and the longest side of it as it is kept.
PICTURE_MAX_BYTES = 10 * 1_048_576
PICTURE_MAX_PIXELS = 40_000_000
PICTURE_PIXELS = 640
# A history of one's own: what may be uploaded, what that may hold unpacked, and one conversation of it, in memory.
IMPORT_MAX_BYTES = env.int("IMPORT_MAX_MB", default=512) * 1_048_576
IMPORT_MAX_CONTENT_BYTES = 2_048 * 1_048_576
IMPORT_MAX_CONVERSATION_BYTES = 32 * 1_048_576
IMPORT_MAX_RATIO = 200
# A worker is given back after so long, so that what others said meanwhile is not kept waiting by somebody's history.
IMPORT_SLICE_SECONDS = 20
IMPORT_LEASE_SECONDS = 180
INDEX_SLICE_SECONDS = 30
OPERATION_EVENT_DAYS = 90
LINK_CODE_MINUTES = 10
LINK_ATTEMPTS = 5
# How long an invitation to keep a legacy can be answered, and how many one person sends in a day.
INVITATION_DAYS = env.int("INVITATION_DAYS", default=14)
INVITATIONS_PER_DAY = env.int("INVITATIONS_PER_DAY", default=100)
# Wrong passwords for one account from one address or known device, from one address for all accounts, and for one
# account from all addresses that are new to it. An address is known for so many days after signing in from there.
SIGN_IN_ATTEMPTS = 5
SIGN_IN_ATTEMPTS_PER_ADDRESS = 100
SIGN_IN_ATTEMPTS_PER_ACCOUNT = 100
SIGN_IN_MINUTES = 15
SIGN_IN_ADDRESS_DAYS = 30
REGISTRATIONS_PER_HOUR = 20
RESETS_PER_ADDRESS_AND_HOUR = 20
RESETS_PER_ACCOUNT_AND_HOUR = 3
RESET_MINUTES = 60
IDEMPOTENCY_HOURS = 24
# Cosine similarities of facts, measured with the bundled embedder on the 95 pairs of tests/facts/pairs.py, each under
# four names of one to three words (all its cosines are high; a longer name in both makes them higher):
#   from   same, of 25   contradicting, of 24   related, of 26   unrelated, of 20
#   0.984     12 - 17             1                    0                0         duplicate: dropped, evidence kept
#   0.86         25              23 - 24               26             2 - 18      near enough to ask what it is
# A model's or the rules' word that two contradict, or say the same, counts before these; so do figures that differ.
FACT_DUPLICATE_SIMILARITY = env.float("FACT_DUPLICATE_SIMILARITY", default=0.984)
FACT_RELATED_SIMILARITY = env.float("FACT_RELATED_SIMILARITY", default=0.86)
FACT_NEIGHBOURS = 8
# Chosen on the pairs of tests/statements/resembling.py.
SUPPRESSION_SIMILARITY = env.float("SUPPRESSION_SIMILARITY", default=0.92)
SUPPRESSION_SHARED_WORDS = env.float("SUPPRESSION_SHARED_WORDS", default=0.06)
# Cosine similarities of memories, measured in the same way on the 122 pairs of tests/memories/pairs.py. In brackets:
# those of them whose figures and names agree and that the rules don't take for a contradiction.
#   from   same, of 26   contradicting, of 27   related, of 27   unrelated, of 20   fields: same, of 8   others, of 14
#   0.99      8 [6]            1 [0]                1 [0]               0                  0 [0]              0 [0]
#   0.98     14 [12]           1 [0]                1 [0]               0                  4 [4]              1 [1]
#   0.97     18 [16]           5 [0]                2 [0]               0                  5 [5]              5 [3]
#   0.95     24 [22]           8 [1]                3 [1]               0                  8 [8]              8 [5]
#   0.89     26 [24]          24 [9]               14 [10]              0                  8 [8]             14 [5]
#   0.88     26 [24]          25 [10]              17 [11]              0                  8 [8]             14 [5]
#   0.86     26 [24]          25 [10]              22 [14]              1                  8 [8]             14 [5]
#   0.84     26 [24]          27 [12]              26 [16]              2                  8 [8]             14 [5]
# From auto on two are one, if what is in brackets holds; longer texts are nearer to each other than these, so it leaves
# room. From update on the word that they say the same is taken, from check_low on that they contradict each other. From
# fallback_low on consolidation looks at them, from link_min on they are linked. A field is mixed up more easily.
MEMORY_AUTO_SIMILARITY = env.float("MEMORY_AUTO_SIMILARITY", default=0.98)
MEMORY_UPDATE_SIMILARITY = env.float("MEMORY_UPDATE_SIMILARITY", default=0.89)
MEMORY_CHECK_LOW_SIMILARITY = env.float("MEMORY_CHECK_LOW_SIMILARITY", default=0.86)
MEMORY_FALLBACK_LOW_SIMILARITY = env.float("MEMORY_FALLBACK_LOW_SIMILARITY", default=0.86)
MEMORY_LINK_MIN_SIMILARITY = env.float("MEMORY_LINK_MIN_SIMILARITY", default=0.86)
MEMORY_FIELD_AUTO_SIMILARITY = env.float("MEMORY_FIELD_AUTO_SIMILARITY", default=0.99)
MEMORY_FIELD_UPDATE_SIMILARITY = env.float("MEMORY_FIELD_UPDATE_SIMILARITY", default=0.95)
MEMORY_NEIGHBOURS = 8
# Of a new memory's neighbours, those that it is linked to.
MEMORY_LINKS = 3
PROPOSAL_DAYS = 7
# Saying memories in fewer: how many a plan is about, how many of them a request waits for, how long a plan is kept.
OPTIMIZE_MOST_MEMORIES = 1_000
OPTIMIZE_AT_ONCE_MEMORIES = 200
OPTIMIZE_PLAN_HOURS = 24
OPTIMIZE_PLANS_PER_DAY = 20
# A batch asks the model once and embeds once, while its lease holds.
OPTIMIZE_LEASE_SECONDS = 240
OPTIMIZE_SLICE_SECONDS = 30
# Memories that nobody used for so long, and that weigh less than this, are archived; categories.yaml may say otherwise.
UNUSED_DAYS = env.int("UNUSED_DAYS", default=60)
UNUSED_BELOW = env.int("UNUSED_BELOW", default=3)
# The one exception from ARCHIVE_DAYS: what weighs this much and made room in the block, which is announced before.
IMPORTANT = 4
EVICTED_IMPORTANT_DAYS = 60
ANNOUNCE_DAYS = 14
# Consolidation, once a day for each person: whose memories it looks at (changed lately, weighty, used most), which
# pairs of them (as near as MEMORY_FALLBACK_LOW_SIMILARITY, not further apart in time), how many pairs a day and in one
# call, for how long a pair is not compared again, and which part of a person's memories it may archive unasked.
CONSOLIDATE_CHANGED_HOURS = 72
CONSOLIDATE_IMPORTANCE = 3
CONSOLIDATE_TOP_USED = 0.1
CONSOLIDATE_APART_DAYS = 90
CONSOLIDATE_PAIRS_PER_DAY = env.int("CONSOLIDATE_PAIRS_PER_DAY", default=50)
CONSOLIDATE_PAIRS_PER_CALL = 10
CONSOLIDATE_COMPARED_DAYS = 14
CONSOLIDATE_MOST_ARCHIVED = 0.2
CONSOLIDATE_ASKED_DAYS = 7
# So many people are begun with at once, and nobody is worked on longer than this.
CONSOLIDATE_PEOPLE = env.int("CONSOLIDATE_PEOPLE", default=500)
CONSOLIDATE_MINUTES = env.float("CONSOLIDATE_MINUTES", default=5.0)
CONSOLIDATE_LEASE_SECONDS = 240
# Insights, once in so many hours at most for whoever something changed lately: what a model is shown of the newest
# activities and statements and of the last words, and how many people are begun with at once.
INSIGHT_HOURS = 24
INSIGHT_CHANGED_HOURS = 72
INSIGHT_ACTIVITIES = 5
INSIGHT_STATEMENTS = 3
INSIGHT_CHARACTERS = 1_000
INSIGHT_PEOPLE = 500
INSIGHT_LEASE_SECONDS = 240
# What work that runs by itself may have models use in a day (UTC), of the whole deployment.
UPKEEP_TOKENS_PER_DAY = env.int("UPKEEP_TOKENS_PER_DAY", default=1_000_000)
