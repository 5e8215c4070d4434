"""Named limits, each in the unit of its name; those that a deployment may change come from the environment."""

import environ

env = environ.Env()

MESSAGE_MAX_CHARACTERS = 32_000
MESSAGES_PER_REQUEST = 500
# The size of an agent's checkpoint, and how many simple states of a thread are kept.
CHECKPOINT_MAX_BYTES = 1_000_000
CHECKPOINT_STATES = 10
SUMMARY_THRESHOLD_MESSAGES = 30
SUMMARY_BATCH_MESSAGES = 20
WINDOW_MESSAGES = 20
EXTRACTED_PER_USER_MESSAGE = 3
# Facts and memories extracted from one person in 24 hours: bounds the cost and the work of review.
EXTRACTED_PER_USER_AND_DAY = env.int("EXTRACTED_PER_USER_AND_DAY", default=200)
# Calls of the model per part of a conversation: one to extract, the others to correct what was rejected.
EXTRACTION_ROUNDS = env.int("EXTRACTION_ROUNDS", default=3)
EXTRACTION_CONTEXT_MESSAGES = 6
HOLD_SECONDS = 86_400
# How long a client may take to send a request, to send a file, and to read the buffered answer.
REQUEST_SECONDS = 30
UPLOAD_SECONDS = 3_600
ANSWER_SECONDS = 30
# Concurrent requests and uploads of one caller in one process; further ones wait.
WEB_THREADS_PER_CALLER = 4
UPLOADS_PER_CALLER = 2
# A stream of updates ends after this time, so that its client has to authenticate again.
UPDATES_STREAM_SECONDS = 30
UPDATES_STREAMS_PER_PERSON = 10
UPDATES_STREAMS_PER_PROCESS = 1_000
UPDATES_KEPT_SECONDS = 600
# A stream of changes authenticates its client at each change, so it may last longer.
CHANGES_STREAM_SECONDS = 300
# The longest long poll for changes: proxies close connections that are silent for a minute.
CHANGES_WAIT_SECONDS = 30
# The stdio MCP server retries this long after Valkey became unavailable.
CHANGES_RETRY_SECONDS = 5
# Webhooks: how many per agent and person, changes per request, timeout, attempts, the first and the longest delay
# between attempts, and after how many days without success a webhook is disabled. Then how long deliveries are listed:
# successful ones, and failed ones.
WEBHOOKS_PER_AGENT = 5
WEBHOOK_CHANGES = 100
WEBHOOK_SECONDS = 10
WEBHOOK_ATTEMPTS = 12
WEBHOOK_FIRST_RETRY_SECONDS = 30
WEBHOOK_LONGEST_RETRY_SECONDS = 21_600
WEBHOOK_FAILING_DAYS = 3
WEBHOOK_SENT_DAYS = 7
WEBHOOK_DEAD_DAYS = 30
# A worker yields to other webhooks after the slice; resolving an address and sending end well within the lease.
WEBHOOK_SLICE_SECONDS = 30
WEBHOOK_LEASE_SECONDS = 120
# Whether webhooks may use private addresses and plain http, for a private network.
WEBHOOKS_PRIVATE = env.bool("WEBHOOKS_PRIVATE", default=False)
# A reply of the assistant: its timeout, tool rounds, total tokens, how long the model continues without a client, the
# lease of the process that makes it, its attempts, how long and how many of its events can be replayed, and how long
# its end waits for what is learned from the message.
REPLY_SECONDS = env.int("REPLY_SECONDS", default=120)
REPLY_ROUNDS = env.int("REPLY_ROUNDS", default=6)
REPLY_TOKENS = env.int("REPLY_TOKENS", default=4_000)
REPLY_ALONE_SECONDS = env.float("REPLY_ALONE_SECONDS", default=5.0)
REPLY_LEASE_SECONDS = 15.0
REPLY_ATTEMPTS = 2
REPLY_KEPT_SECONDS = 600
REPLY_KEPT_EVENTS = 10_000
REPLY_UPDATE_SECONDS = 10
# Threads for a reply's short database calls, per process.
REPLY_THREADS = 4
IDLE_FINISH_SECONDS = 3_600
BATCH_LEASE_SECONDS = 240
# A batch calls the model twice and the embedder twice at most before it renews its lease.
MODEL_TIMEOUT_MAX_SECONDS = 75
EMBEDDER_TIMEOUT_MAX_SECONDS = 40
RERANKER_TIMEOUT_MAX_SECONDS = 10
# A reranker that failed is skipped this long, so that not every turn waits for it.
RERANKER_REST_SECONDS = 10
TURN_BUDGET_TOKENS = 16_000
FACTS_BLOCK_TOKENS = 4_000
# With a longer difference the conversation's block is pinned again: it changes once, and prompts are short again.
DIFFERENCE_MAX_LINES = 12
DIFFERENCE_MAX_TOKENS = 600
# How many of each a turn recalls. QUERY_RELATED limits the related memories that are added.
RECALLED_CHUNKS = 3
RECALLED_TURNS = 8
RECALLED_FACTS = 8
RECALLED_MEMORIES = 8
# The size of the context before and after a recalled turn.
RECALLED_NEIGHBOUR_TOKENS = 120
# A turn searches once more if no result scores this, in standard deviations above the mean score of the person's rows,
# because the scale of cosines depends on the embedder. docs/search.md says how often that happens.
RECALL_CONFIDENT = env.float("RECALL_CONFIDENT", default=1.8)
# How much the second search adds at most.
RECALLED_AGAIN = 3
RECALLED_AGAIN_TOKENS = 512
# Search weights that override those of retrieval/weights.py, by name.
SEARCH_WEIGHTS = env.dict("SEARCH_WEIGHTS", cast={"value": float}, default={})
# Defaults and maxima of memory.query.
QUERY_TOP_K = 10
QUERY_MOST_RESULTS = 100
QUERY_BUDGET_TOKENS = 512
QUERY_MOST_TOKENS = 100_000
# How many candidates are ranked at least, and among how many of them the model chooses.
QUERY_CANDIDATES = 50
QUERY_CHOSEN_AMONG = 50
# How many related memories an answer holds in all.
QUERY_RELATED = 2
# Ranking bonuses that don't depend on the question, in standard deviations of the person's similarities: per step of
# importance from the default, with its half-life in days without use; for a new wording, with its half-life in days;
# for a pin; for a relation of full strength to a better result; and the malus of an insight.
# Measured on the observations of LoCoMo (benchmarks/ranking.py; recall@5 and @10 are 73.6 and 82.3): without recency
# -0.7 and 0, twice as much of it +0.3 and 0; without relations +0.4 and +0.1, twice as much of them -0.8 and +0.5. So
# both matter little. There is no data on importance, pins and insights: a pin weighs as much as two steps of
# importance, and an insight ranks behind what was said.
RANK_IMPORTANCE = 0.1
RANK_IMPORTANCE_HALF_DAYS = 90
RANK_RECENCY = 0.1
RANK_RECENCY_HALF_DAYS = 30
RANK_PINNED = 0.2
RANK_RELATED = 0.2
RANK_INSIGHT = 0.5
# The budget of the memory block for memories and places: their lines, without the fence and the headings.
MEMORY_BLOCK_TOKENS = env.int("MEMORY_BLOCK_TOKENS", default=10_000)
MEMORY_CACHE_SECONDS = 600
MEMORY_PAGE_CACHE_SECONDS = 300
# How long archived and rejected objects can be restored and changes undone; then they are purged.
ARCHIVE_DAYS = 30
# How long a full export can be downloaded.
EXPORT_HOURS = env.int("EXPORT_HOURS", default=24)
EXPORT_LEASE_SECONDS = 180
# How long agents are notified of an erasure, and its receipt can be verified by ids.
ERASED_DAYS = 90
# An erasure requested on the page waits this long and can be cancelled.
ERASE_GRACE_HOURS = 24
ERASE_LEASE_SECONDS = 180
# A picture: the upload's size and pixels, and the longest side of the stored picture.
PICTURE_MAX_BYTES = 10 * 1_048_576
PICTURE_MAX_PIXELS = 40_000_000
PICTURE_PIXELS = 640
# An import: the size of the upload, of its unpacked content, and of one conversation, which is held in memory.
IMPORT_MAX_BYTES = env.int("IMPORT_MAX_MB", default=512) * 1_048_576
IMPORT_MAX_CONTENT_BYTES = 2_048 * 1_048_576
IMPORT_MAX_CONVERSATION_BYTES = 32 * 1_048_576
IMPORT_MAX_RATIO = 200
# An import yields its worker after the slice, so that other people's jobs don't wait for it.
IMPORT_SLICE_SECONDS = 20
IMPORT_LEASE_SECONDS = 180
INDEX_SLICE_SECONDS = 30
OPERATION_EVENT_DAYS = 90
LINK_CODE_MINUTES = 10
LINK_ATTEMPTS = 5
# How long an invitation to keep a legacy can be answered, and how many one person sends in a day.
INVITATION_DAYS = env.int("INVITATION_DAYS", default=14)
INVITATIONS_PER_DAY = env.int("INVITATIONS_PER_DAY", default=100)
# Wrong passwords: for one account from one address or known device, from one address for all accounts, and for one
# account from all addresses that are new to it. An address stays known for this many days after a sign-in.
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
#   0.86         25              23 - 24               26             2 - 18      near enough to be compared
# A verdict of a model or of the rules (contradiction, same) takes precedence, and so do differing figures.
FACT_DUPLICATE_SIMILARITY = env.float("FACT_DUPLICATE_SIMILARITY", default=0.984)
FACT_RELATED_SIMILARITY = env.float("FACT_RELATED_SIMILARITY", default=0.86)
FACT_NEIGHBOURS = 8
# Chosen on the pairs of tests/statements/resembling.py.
SUPPRESSION_SIMILARITY = env.float("SUPPRESSION_SIMILARITY", default=0.92)
SUPPRESSION_SHARED_WORDS = env.float("SUPPRESSION_SHARED_WORDS", default=0.06)
# Cosine similarities of memories, measured in the same way on the 122 pairs of tests/memories/pairs.py. In brackets:
# pairs whose figures and names agree and that the rules don't call a contradiction.
#   from   same, of 26   contradicting, of 27   related, of 27   unrelated, of 20   fields: same, of 8   others, of 14
#   0.99      8 [6]            1 [0]                1 [0]               0                  0 [0]              0 [0]
#   0.98     14 [12]           1 [0]                1 [0]               0                  4 [4]              1 [1]
#   0.97     18 [16]           5 [0]                2 [0]               0                  5 [5]              5 [3]
#   0.95     24 [22]           8 [1]                3 [1]               0                  8 [8]              8 [5]
#   0.89     26 [24]          24 [9]               14 [10]              0                  8 [8]             14 [5]
#   0.88     26 [24]          25 [10]              17 [11]              0                  8 [8]             14 [5]
#   0.86     26 [24]          25 [10]              22 [14]              1                  8 [8]             14 [5]
#   0.84     26 [24]          27 [12]              26 [16]              2                  8 [8]             14 [5]
# From AUTO on two are merged if the conditions of the brackets hold; it has a margin because longer texts are nearer to
# each other. From UPDATE on a verdict that they say the same is accepted, from CHECK_LOW on a verdict that they
# contradict each other. From FALLBACK_LOW on consolidation compares them, from LINK_MIN on they are linked. Values of
# fields are confused more easily, so their limits are higher.
MEMORY_AUTO_SIMILARITY = env.float("MEMORY_AUTO_SIMILARITY", default=0.98)
MEMORY_UPDATE_SIMILARITY = env.float("MEMORY_UPDATE_SIMILARITY", default=0.89)
MEMORY_CHECK_LOW_SIMILARITY = env.float("MEMORY_CHECK_LOW_SIMILARITY", default=0.86)
MEMORY_FALLBACK_LOW_SIMILARITY = env.float("MEMORY_FALLBACK_LOW_SIMILARITY", default=0.86)
MEMORY_LINK_MIN_SIMILARITY = env.float("MEMORY_LINK_MIN_SIMILARITY", default=0.86)
MEMORY_FIELD_AUTO_SIMILARITY = env.float("MEMORY_FIELD_AUTO_SIMILARITY", default=0.99)
MEMORY_FIELD_UPDATE_SIMILARITY = env.float("MEMORY_FIELD_UPDATE_SIMILARITY", default=0.95)
MEMORY_NEIGHBOURS = 8
# How many of its neighbours a new memory is linked to.
MEMORY_LINKS = 3
PROPOSAL_DAYS = 7
# Plans to merge memories: memories per plan, how many of them are planned within the request, how long a plan is kept.
OPTIMIZE_MOST_MEMORIES = 1_000
OPTIMIZE_AT_ONCE_MEMORIES = 200
OPTIMIZE_PLAN_HOURS = 24
OPTIMIZE_PLANS_PER_DAY = 20
# A batch calls the model once and the embedder once within its lease.
OPTIMIZE_LEASE_SECONDS = 240
OPTIMIZE_SLICE_SECONDS = 30
# Memories unused this long and of lower importance are archived; categories.yaml may override it.
UNUSED_DAYS = env.int("UNUSED_DAYS", default=60)
UNUSED_BELOW = env.int("UNUSED_BELOW", default=3)
# The exception from ARCHIVE_DAYS: memories this important that were evicted from the block; it is announced before.
IMPORTANT = 4
EVICTED_IMPORTANT_DAYS = 60
ANNOUNCE_DAYS = 14
# Consolidation, once a day for each person. It takes memories changed lately, important or used most, and compares
# pairs of at least MEMORY_FALLBACK_LOW_SIMILARITY, at most CONSOLIDATE_APART_DAYS apart. Then: pairs per day and
# per call, days until a pair is compared again, and the share of a person's memories that it may archive unasked.
CONSOLIDATE_CHANGED_HOURS = 72
CONSOLIDATE_IMPORTANCE = 3
CONSOLIDATE_TOP_USED = 0.1
CONSOLIDATE_APART_DAYS = 90
CONSOLIDATE_PAIRS_PER_DAY = env.int("CONSOLIDATE_PAIRS_PER_DAY", default=50)
CONSOLIDATE_PAIRS_PER_CALL = 10
CONSOLIDATE_COMPARED_DAYS = 14
CONSOLIDATE_MOST_ARCHIVED = 0.2
CONSOLIDATE_ASKED_DAYS = 7
# How many people a run starts with, and the longest time for one of them.
CONSOLIDATE_PEOPLE = env.int("CONSOLIDATE_PEOPLE", default=500)
CONSOLIDATE_MINUTES = env.float("CONSOLIDATE_MINUTES", default=5.0)
CONSOLIDATE_LEASE_SECONDS = 240
# Insights, at most once in INSIGHT_HOURS for people with recent changes: how many of the newest activities and
# statements and how many characters of the last messages a model gets, and how many people a run starts with.
INSIGHT_HOURS = 24
INSIGHT_CHANGED_HOURS = 72
INSIGHT_ACTIVITIES = 5
INSIGHT_STATEMENTS = 3
INSIGHT_CHARACTERS = 1_000
INSIGHT_PEOPLE = 500
INSIGHT_LEASE_SECONDS = 240
# Model tokens that background work may use per day (UTC) in the whole deployment.
UPKEEP_TOKENS_PER_DAY = env.int("UPKEEP_TOKENS_PER_DAY", default=1_000_000)
