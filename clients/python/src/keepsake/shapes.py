"""What is sent and answered. Generated from Keepsake's schema by ``tools/generate.py``."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class BriefMemory(TypedDict):
    """The conflicting memory."""

    id: str
    content: str
    category: str
    subject: str
    version: int


MemoryState = Literal["proposed", "active", "archived", "rejected", "quarantined"]


RefusedItemStatusEnum = Literal[400, 403, 404, 409, 422]


class RefusedItem(TypedDict):
    """The error of one item, with the ``status`` of a single request."""

    index: int
    status: RefusedItemStatusEnum
    detail: str
    code: str
    reasons: NotRequired[dict[str, Any]]
    memory: NotRequired[BriefMemory]
    contradicts: NotRequired[bool]
    state: NotRequired[MemoryState]
    category: NotRequired[str]
    names: NotRequired[list[str]]
    kind: NotRequired[str]
    needed: NotRequired[int]


AddOutcome = Literal["created", "reinforced", "proposed", "quarantined"]


BlankEnum = Literal[""]


DeletedWhyEnum = Literal[
    "person", "agent", "rejected", "ttl", "evicted", "replaced", "merged", "staff", "withheld", "unfounded"
]


MemoryKind = Literal["semantic", "episodic", "insight", "procedural"]


RememberedItemStatusEnum = Literal[200, 201, 202]


class RememberedItem(TypedDict):
    """The outcome of one item: ``index`` from 0, ``status`` of a single request."""

    index: int
    status: RememberedItemStatusEnum
    outcome: AddOutcome
    id: str
    content: str
    category: str
    subject: str
    topics: list[str]
    metadata: dict[str, Any]
    kind: MemoryKind
    field: str
    importance: int
    pinned: bool
    verbatim: bool
    state: MemoryState
    state_reason: str
    version: int
    written_by: str
    agent: str | None
    external_id: str
    run_id: str
    actor_id: str
    role: str
    source_conversation: str | None
    valid_from: str | None
    valid_to: str | None
    said_at: str | None
    expires_at: str | None
    reviewed_at: str | None
    deleted_at: str | None
    deleted_why: DeletedWhyEnum | BlankEnum
    purge_at: str | None
    created_at: str
    updated_at: str


AddedItem = RememberedItem | RefusedItem


class AmendRequest(TypedDict):
    """Changed fields other than the wording. ``version``: the one that the caller saw."""

    subject: NotRequired[str]
    topics: NotRequired[list[str]]
    category: NotRequired[str]
    importance: NotRequired[int]
    expires_at: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any]]
    version: NotRequired[int]


QuerySource = Literal["memories", "facts", "chunks", "turns"]


class Related(TypedDict):
    """A memory that a result is related to."""

    id: str
    category: str
    text: str
    type: str


VisibilityEnum = Literal["private", "shared"]


class Result(TypedDict):
    """One result. What follows ``related`` comes with ``return: full``, as far as its source has such a thing."""

    id: str
    category: str | None
    text: str
    score: float
    source: QuerySource
    related: list[Related]
    content: NotRequired[str]
    version: NotRequired[int]
    updated_at: NotRequired[str]
    created_at: NotRequired[str]
    kind: NotRequired[MemoryKind]
    subject: NotRequired[str]
    topics: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any]]
    importance: NotRequired[int]
    pinned: NotRequired[bool]
    valid_from: NotRequired[str | None]
    valid_to: NotRequired[str | None]
    said_at: NotRequired[str | None]
    legacy: NotRequired[str]
    visibility: NotRequired[VisibilityEnum]
    extracted_at: NotRequired[str]
    conversation: NotRequired[str]
    message_range_start: NotRequired[int]
    message_range_end: NotRequired[int]
    index: NotRequired[int]
    role: NotRequired[str]
    speaker: NotRequired[str]
    at: NotRequired[str]


class Answer(TypedDict):
    """What was found, best first. ``tokens`` is what all lines cost, ``revision`` the person's revision."""

    results: list[Result]
    delta: str | None
    tokens: int
    revision: int


BulkItemOutcomeEnum = Literal["archived", "proposed", "skipped", "not_found"]


class BulkItem(TypedDict):
    """The outcome of one id: archived, proposed (waits for the person), skipped (gone already), not_found."""

    id: str
    outcome: BulkItemOutcomeEnum


EventEnum = Literal[
    "ADD",
    "UPDATE",
    "DELETE",
    "MERGE",
    "LINK",
    "TTL",
    "RESTORE",
    "REJECT",
    "APPROVE",
    "SHARE",
    "UNSHARE",
    "HIDE",
    "OPEN",
    "QUARANTINE",
    "EVICT",
    "PROPOSE",
    "LAPSE",
    "PIN",
    "MENTION",
    "PURGE",
    "INVITE",
    "DECLINE",
    "BLOCK",
    "WITHHOLD",
    "GIVE_BACK",
    "ERASE",
    "JOIN",
    "LEAVE",
    "ROLE",
    "GRANT",
    "KEY",
    "PREFERENCE",
    "DOUBT",
]


class Change(TypedDict):
    """Something that happened to an object. Staff and jobs are not named, an agent by its id."""

    rev: int
    event: EventEnum
    actor: str
    old_version: int | None
    new_version: int | None
    at: str
    meta: dict[str, Any]


class MemoryEvidence(TypedDict):
    """A quote as evidence, with its message."""

    quote: str
    conversation: str
    message: str
    index: int
    at: str


ProposalKind = Literal["create", "update", "archive", "merge", "preference", "place"]


ProposalState = Literal["waiting", "approved", "rejected", "lapsed"]


class ProposedMemory(TypedDict):
    """The current memory of a proposal."""

    id: str
    content: str
    category: str
    subject: str
    kind: MemoryKind
    field: str
    state: MemoryState
    version: int


class Proposal(TypedDict):
    """A proposal, waiting until ``expires_at``."""

    id: str
    kind: ProposalKind
    state: ProposalState
    values: dict[str, Any]
    memory: ProposedMemory | None
    memory_version: int | None
    agent: str | None
    written_by: str
    reason: str
    source_conversation: str | None
    evidence: list[MemoryEvidence]
    created_at: str
    expires_at: str
    decided_at: str | None


class ChangedMemory(TypedDict):
    """A changed memory, or the unchanged one with the ``proposal``."""

    id: str
    content: str
    category: str
    subject: str
    topics: list[str]
    metadata: dict[str, Any]
    kind: MemoryKind
    field: str
    importance: int
    pinned: bool
    verbatim: bool
    state: MemoryState
    state_reason: str
    version: int
    written_by: str
    agent: str | None
    external_id: str
    run_id: str
    actor_id: str
    role: str
    source_conversation: str | None
    valid_from: str | None
    valid_to: str | None
    said_at: str | None
    expires_at: str | None
    reviewed_at: str | None
    deleted_at: str | None
    deleted_why: DeletedWhyEnum | BlankEnum
    purge_at: str | None
    created_at: str
    updated_at: str
    proposal: NotRequired[Proposal]


CommandDataOutcomeEnum = Literal["archived", "restored", "unchanged", "waiting"]


CommandEnum = Literal["list", "delete", "restore", "help"]


class CommandMemory(TypedDict):
    """A memory as the command tells of it. ``purge_at`` is until when an archived one can be restored."""

    id: str
    category: str
    subject: str
    content: str
    state: MemoryState
    purge_at: str | None


class CommandData(TypedDict):
    """What came of a command. A list has its page, a change the memory and what became of it."""

    command: CommandEnum
    category: NotRequired[str]
    page: NotRequired[int]
    pages: NotRequired[int]
    count: NotRequired[int]
    memories: NotRequired[list[CommandMemory]]
    outcome: NotRequired[CommandDataOutcomeEnum]
    memory: NotRequired[CommandMemory]


class CommandAnswer(TypedDict):
    """What to show, at most 4,096 characters of plain text, and the same for programs."""

    text: str
    data: CommandData


class Context(TypedDict):
    """The memory block ('' without memories), and its tokens."""

    text: str
    tokens: int
    revision: int
    difference: str | None
    delta: str | None


class Conversation(TypedDict):
    """A conversation, and the fields accepted when one is created."""

    id: str
    legacy: str | None
    title: str
    channel: str
    external_id: str
    private: bool
    message_count: int
    summarized_upto: int
    finished_at: str | None
    last_message_at: str | None
    created_at: str


class ConversationRequest(TypedDict):
    """A conversation, and the fields accepted when one is created."""

    legacy: NotRequired[str | None]
    title: NotRequired[str]
    channel: NotRequired[str]
    external_id: NotRequired[str]
    private: NotRequired[bool]


DeliveryStateEnum = Literal["waiting", "sent", "dead"]


ErrorEnum = Literal["status", "timed_out", "unreachable", "private_address"]


class Delivery(TypedDict):
    """A delivery: its range of revisions, the number of attempts, and the last result."""

    id: str
    after: int
    upto: int
    state: DeliveryStateEnum
    attempts: int
    not_before: str
    status_code: int | None
    error: ErrorEnum | BlankEnum
    created_at: str
    ended_at: str | None


class FeedChange(TypedDict):
    """A change: event and object, without text. Fetch the object for its current state."""

    rev: int
    event: EventEnum
    object_type: str
    object: str
    old_version: int | None
    new_version: int | None
    actor: str
    conversation: str | None
    at: str
    meta: dict[str, Any]


JobState = Literal["waiting", "running", "done", "failed", "cancelled"]


class Job(TypedDict):
    """A background job: how far it is and how it ended. ``result`` holds numbers."""

    id: str
    kind: str
    subject_id: str
    state: JobState
    done: int
    total: int | None
    progress: float | None
    attempts: int
    not_before: str
    error_code: str
    result: dict[str, Any]
    created_at: str
    finished_at: str | None


class Memory(TypedDict):
    """A memory. ``written_by``: the model, rules or agent that worded it; '' for the person."""

    id: str
    content: str
    category: str
    subject: str
    topics: list[str]
    metadata: dict[str, Any]
    kind: MemoryKind
    field: str
    importance: int
    pinned: bool
    verbatim: bool
    state: MemoryState
    state_reason: str
    version: int
    written_by: str
    agent: str | None
    external_id: str
    run_id: str
    actor_id: str
    role: str
    source_conversation: str | None
    valid_from: str | None
    valid_to: str | None
    said_at: str | None
    expires_at: str | None
    reviewed_at: str | None
    deleted_at: str | None
    deleted_why: DeletedWhyEnum | BlankEnum
    purge_at: str | None
    created_at: str
    updated_at: str


class MemoryVersion(TypedDict):
    """A version, current from ``created_at`` until ``ended_at`` (null for the current one)."""

    number: int
    content: str
    category: str
    subject: str
    topics: list[str]
    metadata: dict[str, Any]
    created_at: str
    ended_at: str | None
    valid_from: str | None
    valid_to: str | None
    said_at: str | None
    reason: str
    written_by: str
    actor: str
    source_conversation: str | None
    evidence: list[MemoryEvidence]


class MemoryDetail(TypedDict):
    """A memory with all its versions, oldest first."""

    id: str
    content: str
    category: str
    subject: str
    topics: list[str]
    metadata: dict[str, Any]
    kind: MemoryKind
    field: str
    importance: int
    pinned: bool
    verbatim: bool
    state: MemoryState
    state_reason: str
    version: int
    written_by: str
    agent: str | None
    external_id: str
    run_id: str
    actor_id: str
    role: str
    source_conversation: str | None
    valid_from: str | None
    valid_to: str | None
    said_at: str | None
    expires_at: str | None
    reviewed_at: str | None
    deleted_at: str | None
    deleted_why: DeletedWhyEnum | BlankEnum
    purge_at: str | None
    created_at: str
    updated_at: str
    versions: list[MemoryVersion]


MessageRole = Literal["user", "assistant", "system", "tool"]


class Message(TypedDict):
    """A stored message."""

    id: str
    index: int
    role: MessageRole
    speaker: str
    content: str
    at: str


class Refusal(TypedDict):
    """A message in which the person refuses that something be kept."""

    index: int
    withheld: list[int]


class Messages(TypedDict):
    """The response to appending: the messages as stored."""

    messages: list[Message]
    refusals: list[Refusal]


FieldEnum = Literal["preferred_name", "pronouns", "city", "language", "tone", "goal"]


class NewMemoryRequest(TypedDict):
    """A new memory: one statement of 5 to 500 characters (a procedure: up to 4,000)."""

    content: str
    category: str
    subject: NotRequired[str]
    topics: NotRequired[list[str]]
    importance: NotRequired[int]
    kind: NotRequired[MemoryKind]
    field: NotRequired[FieldEnum | BlankEnum]
    external_id: NotRequired[str]
    run_id: NotRequired[str]
    actor_id: NotRequired[str]
    role: NotRequired[str]
    pinned: NotRequired[bool]
    verbatim: NotRequired[bool]
    valid_from: NotRequired[str | None]
    valid_to: NotRequired[str | None]
    expires_at: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any]]
    insist: NotRequired[bool]
    conversation: NotRequired[str | None]
    message: NotRequired[str | None]


class NewMessageRequest(TypedDict):
    """One message to append."""

    role: MessageRole
    content: str
    speaker: NotRequired[str]
    at: NotRequired[str | None]


class NothingLeft(TypedDict):
    """A conversation that was finished without a job."""

    detail: str


ReviewEnum = Literal["after", "before"]


class Preferences(TypedDict):
    """A person's preferences. ``extract_each_message`` null: decided by the conversation's purpose."""

    display_name: str
    has_memory: bool
    agentic_memory: bool
    review: ReviewEnum
    extract_each_message: bool | None
    recall_record: bool | None
    time_zone: str
    language: str


class FiltersRequest(TypedDict):
    """What rows have to be. A source whose rows have no such thing gives none of them."""

    user_id: NotRequired[str | None]
    agent_id: NotRequired[str | None]
    run_id: NotRequired[str | None]
    actor_id: NotRequired[str | None]
    role: NotRequired[str | None]
    category: NotRequired[str | None]
    pinned: NotRequired[bool | None]
    importance_min: NotRequired[int | None]
    importance_max: NotRequired[int | None]
    updated_after: NotRequired[str | None]
    updated_before: NotRequired[str | None]
    AND: NotRequired[list[dict[str, Any]] | None]
    OR: NotRequired[list[dict[str, Any]] | None]
    NOT: NotRequired[list[dict[str, Any]] | None]
    metadata: NotRequired[dict[str, Any] | None]


QueryModeEnum = Literal["ranked", "agentic"]


ReturnEnum = Literal["bullets", "full"]


QueryRequest = TypedDict(
    "QueryRequest",
    {
        "query": str,
        "agent": NotRequired[str | None],
        "categories": NotRequired[list[str] | None],
        "filters": NotRequired[FiltersRequest | None],
        "legacy": NotRequired[str | None],
        "conversation": NotRequired[str | None],
        "top_k": NotRequired[int],
        "threshold": NotRequired[float | None],
        "budget_tokens": NotRequired[int],
        "as_of": NotRequired[str | None],
        "known_at": NotRequired[str | None],
        "sources": NotRequired[list[QuerySource]],
        "mode": NotRequired[QueryModeEnum],
        "return": NotRequired[ReturnEnum],
    },
)


class RegisteredWebhook(TypedDict):
    """A webhook with its secret, shown once."""

    id: str
    agent: str
    url: str
    reached: int
    failing_since: str | None
    disabled_at: str | None
    created_at: str
    secret: str


class Remembered(TypedDict):
    """The outcome of an addition, and its memory."""

    outcome: AddOutcome
    id: str
    content: str
    category: str
    subject: str
    topics: list[str]
    metadata: dict[str, Any]
    kind: MemoryKind
    field: str
    importance: int
    pinned: bool
    verbatim: bool
    state: MemoryState
    state_reason: str
    version: int
    written_by: str
    agent: str | None
    external_id: str
    run_id: str
    actor_id: str
    role: str
    source_conversation: str | None
    valid_from: str | None
    valid_to: str | None
    said_at: str | None
    expires_at: str | None
    reviewed_at: str | None
    deleted_at: str | None
    deleted_why: DeletedWhyEnum | BlankEnum
    purge_at: str | None
    created_at: str
    updated_at: str
    evicted: NotRequired[list[str]]


ReplyRequestModeEnum = Literal["agent", "chat", "council"]


class ReplyRequestRequest(TypedDict):
    """What the person says, and how it is to be answered."""

    content: str
    mode: NotRequired[ReplyRequestModeEnum]
    models: NotRequired[list[str]]
    has_memory: NotRequired[bool]
    agentic_memory: NotRequired[bool]


class RewordRequest(TypedDict):
    """A new wording. ``version``: the one that the caller saw."""

    content: str
    version: NotRequired[int]
    correction: NotRequired[bool]
    valid_from: NotRequired[str | None]
    reason: NotRequired[str]
    conversation: NotRequired[str | None]
    message: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any]]
    verbatim: NotRequired[bool]


class Previous(TypedDict):
    """The previous wording of a memory."""

    content: str
    version: int


class RewordedMemory(TypedDict):
    """A memory with its new and its previous wording."""

    id: str
    content: str
    category: str
    subject: str
    topics: list[str]
    metadata: dict[str, Any]
    kind: MemoryKind
    field: str
    importance: int
    pinned: bool
    verbatim: bool
    state: MemoryState
    state_reason: str
    version: int
    written_by: str
    agent: str | None
    external_id: str
    run_id: str
    actor_id: str
    role: str
    source_conversation: str | None
    valid_from: str | None
    valid_to: str | None
    said_at: str | None
    expires_at: str | None
    reviewed_at: str | None
    deleted_at: str | None
    deleted_why: DeletedWhyEnum | BlankEnum
    purge_at: str | None
    created_at: str
    updated_at: str
    proposal: NotRequired[Proposal]
    previous: Previous


class SavedState(TypedDict):
    """The response to saving a state."""

    thread: str
    version: int
    at: str


class State(TypedDict):
    """A state."""

    thread: str
    version: int
    at: str
    state: Any


class Thread(TypedDict):
    """A thread. ``version`` is that of its newest simple state; null if it has graph states only."""

    thread: str
    agent: str | None
    version: int | None
    at: str
    states: int


class ToolAnswer(TypedDict):
    """What came of a call."""

    ok: bool
    content: str
    data: dict[str, Any]


class ToolCallRequest(TypedDict):
    """A call as a model made it. ``message``, of ``conversation``, is the message that led to it."""

    arguments: NotRequired[Any]
    conversation: NotRequired[str | None]
    message: NotRequired[str | None]


class Tools(TypedDict):
    """The tools, and what a model should be told of when to use them."""

    guidance: str
    tools: list[dict[str, Any]]


class Dropped(TypedDict):
    """Something the budget left out."""

    kind: str
    id: NotRequired[str]
    count: NotRequired[int]


TurnFormat = Literal["anthropic", "openai", "gemini", "text", "json"]


class Used(TypedDict):
    """The ids of what went into the prompt, by where it comes from."""

    facts: list[str]
    memories: list[str]
    chunks: list[str]
    turns: list[str]


class Turn(TypedDict):
    """Everything one model call needs. ``messages`` has the shape of the format that was asked for."""

    format: TurnFormat
    system: list[dict[str, Any]]
    text: str
    messages: list[dict[str, Any]]
    system_instruction: NotRequired[dict[str, Any]]
    used: Used
    dropped: list[Dropped]
    difference: str | None
    delta: str | None
    tokens: int
    revision: int
    recalled_again: bool
    waiting: int
    refusals: list[Refusal]


class TurnRequestRequest(TypedDict):
    """What a turn is prepared for. Only ``content`` is needed."""

    content: str
    budget_tokens: NotRequired[int]
    instructions: NotRequired[str]
    format: NotRequired[TurnFormat]
    save: NotRequired[bool]


class Left(TypedDict):
    """A revision that was not undone."""

    rev: int
    why: str


class Undone(TypedDict):
    """The result of an undo."""

    undone: int
    left: list[Left]
    first: int
    last: int


class Webhook(TypedDict):
    """A webhook. ``reached``: the revision up to which deliveries were created."""

    id: str
    agent: str
    url: str
    reached: int
    failing_since: str | None
    disabled_at: str | None
    created_at: str


class NewMemoryRest(TypedDict):
    """What may be given by name."""

    subject: NotRequired[str]
    topics: NotRequired[list[str]]
    importance: NotRequired[int]
    kind: NotRequired[MemoryKind]
    field: NotRequired[FieldEnum | BlankEnum]
    external_id: NotRequired[str]
    run_id: NotRequired[str]
    actor_id: NotRequired[str]
    role: NotRequired[str]
    pinned: NotRequired[bool]
    verbatim: NotRequired[bool]
    valid_from: NotRequired[str | None]
    valid_to: NotRequired[str | None]
    expires_at: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any]]
    insist: NotRequired[bool]
    conversation: NotRequired[str | None]
    message: NotRequired[str | None]


class RewordRest(TypedDict):
    """What may be given by name."""

    version: NotRequired[int]
    correction: NotRequired[bool]
    valid_from: NotRequired[str | None]
    reason: NotRequired[str]
    conversation: NotRequired[str | None]
    message: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any]]
    verbatim: NotRequired[bool]


QueryRest = TypedDict(
    "QueryRest",
    {
        "agent": NotRequired[str | None],
        "categories": NotRequired[list[str] | None],
        "filters": NotRequired[FiltersRequest | None],
        "legacy": NotRequired[str | None],
        "conversation": NotRequired[str | None],
        "top_k": NotRequired[int],
        "threshold": NotRequired[float | None],
        "budget_tokens": NotRequired[int],
        "as_of": NotRequired[str | None],
        "known_at": NotRequired[str | None],
        "sources": NotRequired[list[QuerySource]],
        "mode": NotRequired[QueryModeEnum],
        "return": NotRequired[ReturnEnum],
    },
)


class TurnRest(TypedDict):
    """What may be given by name."""

    budget_tokens: NotRequired[int]
    instructions: NotRequired[str]
    format: NotRequired[TurnFormat]
    save: NotRequired[bool]


class ReplyRest(TypedDict):
    """What may be given by name."""

    mode: NotRequired[ReplyRequestModeEnum]
    models: NotRequired[list[str]]
    has_memory: NotRequired[bool]
    agentic_memory: NotRequired[bool]


class ToolCallRest(TypedDict):
    """What may be given by name."""

    conversation: NotRequired[str | None]
    message: NotRequired[str | None]


class MemoriesWanted(TypedDict):
    """Parameters of a list."""

    agent: NotRequired[str]
    category: NotRequired[list[str]]
    filters: NotRequired[str | dict[str, Any]]
    kind: NotRequired[Literal["episodic", "insight", "procedural", "semantic"]]
    page: NotRequired[int]
    per_page: NotRequired[int]
    pinned: NotRequired[bool]
    reviewed: NotRequired[bool]
    search: NotRequired[str]
    sort_by: NotRequired[Literal["category", "created_at", "importance", "kind", "subject", "updated_at"]]
    sort_order: NotRequired[Literal["asc", "desc"]]
    state: NotRequired[Literal["active", "all", "archived", "proposed", "quarantined", "rejected"]]
    subject: NotRequired[str]
    topics: NotRequired[list[str]]
