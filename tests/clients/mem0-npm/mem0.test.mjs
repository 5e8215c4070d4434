// What mem0's own npm client, unchanged, does against a server: `node --test`. KEEPSAKE_USER_ID is the user that it names.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryClient } from "mem0ai";

const USER = process.env.KEEPSAKE_USER_ID;
const client = connected(process.env.KEEPSAKE_KEY);

function connected(apiKey) {
  return new MemoryClient({ apiKey, host: `${process.env.KEEPSAKE_URL}/mem0` });
}

async function kept(text, more = {}) {
  const { results } = await client.add([{ role: "user", content: text }], { userId: USER, infer: false, ...more });
  return results[0].id;
}

async function listed(filters = {}) {
  return (await client.getAll({ filters: { user_id: USER, ...filters } })).results;
}

test("ping tells whose key it is, and a wrong one counts for nothing", async () => {
  await client.ping();
  assert.ok(client.telemetryId);
  await assert.rejects(connected("ks_aaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").ping(), /not known/);
});

test("add, get, update, history, delete", async () => {
  const text = "I keep forty hens,\n  and   a rooster";
  const id = await kept(text, { metadata: { source: "crm" }, agentId: "helper", appId: "shop", runId: "r1" });
  const memory = await client.get(id);
  assert.equal(memory.memory, text);
  assert.deepEqual([memory.metadata, memory.agentId, memory.appId, memory.runId], [{ source: "crm" }, "helper", "shop", "r1"]);
  await client.update(id, { text: "I keep  fifty hens", metadata: { source: "me" }, expirationDate: "2999-01-01" });
  const changed = await client.get(id);
  assert.deepEqual([changed.memory, changed.metadata, changed.expirationDate], ["I keep  fifty hens", { source: "me" }, "2999-01-01"]);
  const events = (await client.history(id)).map((each) => [each.event, each.oldMemory, each.newMemory]);
  assert.deepEqual(events, [["ADD", null, text], ["UPDATE", text, "I keep  fifty hens"]]);
  assert.ok((await client.delete(id, { deleteLinked: true })).message);
  await assert.rejects(client.get(id), (error) => error.constructor.name === "MemoryNotFoundError");
});

test("messages are kept or learned from", async () => {
  const messages = [{ role: "user", content: "I play the oboe." }, { role: "assistant", content: "How nice!" }];
  const { results } = await client.add(messages, { userId: USER, infer: false });
  assert.deepEqual(results.map((each) => each.memory), ["I play the oboe.", "How nice!"]);
  const told = await client.add([{ role: "user", content: "I moved to a farm near Basel." }], { userId: USER, runId: "learned" });
  assert.equal(told.status, "PENDING");
  assert.ok(told.eventId);
});

test("search within filters", async () => {
  const hens = await kept("The user keeps hens.", { runId: "s1" });
  await kept("The user plays oboe.", { runId: "s2" });
  const found = await client.search("Who keeps hens?", { filters: { user_id: USER }, topK: 5 });
  assert.equal(found.results[0].id, hens);
  assert.ok(found.results[0].score > 0);
  const filters = { AND: [{ user_id: USER }, { OR: [{ run_id: "s2" }, { NOT: [{ run_id: { ne: "s2" } }] }] }] };
  const only = await client.search("hens", { filters, threshold: 0 });
  assert.ok(only.results.every((each) => each.runId === "s2"));
});

test("filters, pages", async () => {
  for (const n of [0, 1, 2]) await kept(`note number ${n}`, { metadata: { n }, runId: "f" });
  const above = await listed({ run_id: "f", metadata: { n: { gte: 1 } } });
  assert.deepEqual(above.map((each) => each.metadata.n).sort(), [1, 2]);
  const filters = { AND: [{ user_id: USER }, { run_id: "f" }] };
  const page = await client.getAll({ filters, page: 2, pageSize: 2 });
  assert.deepEqual([page.count, page.results.length, page.next], [3, 1, null]);
  await assert.rejects(listed({ shoe_size: 3 }), (error) => error.constructor.name === "ValidationError");
});

test("batches", async () => {
  const ids = [await kept("batch note 1", { runId: "b" }), await kept("batch note 2", { runId: "b" })];
  await client.batchUpdate(ids.map((memoryId) => ({ memoryId, text: `changed ${memoryId}` })));
  assert.deepEqual((await listed({ run_id: "b" })).map((each) => each.memory).sort(), ids.map((id) => `changed ${id}`).sort());
  await client.batchDelete(ids);
  assert.deepEqual(await listed({ run_id: "b" }), []);
});

test("users, feedback, exports", async () => {
  const id = await kept("export me", { runId: "e" });
  const users = (await client.users()).results.filter((each) => each.type === "user").map((each) => each.name);
  assert.ok(users.includes(USER));
  assert.equal((await client.feedback({ memoryId: id, feedback: "POSITIVE" })).feedback, "POSITIVE");
  const named = await client.createMemoryExport({ schema: {}, filters: { user_id: USER, run_id: "e" } });
  const { memories } = await client.getMemoryExport({ memoryExportId: named.id });
  assert.deepEqual(memories.map((each) => each.memory), ["export me"]);
});

test("a delete has a scope", async () => {
  await kept("stays here", { runId: "stays" });
  await kept("goes away", { runId: "goes" });
  for (const unscoped of [{}, { userId: "*" }]) await assert.rejects(client.deleteAll(unscoped), /scope|Name/);
  assert.equal((await listed({ run_id: "goes" })).length, 1);
  await client.deleteAll({ userId: USER, runId: "goes" });
  assert.deepEqual([(await listed({ run_id: "goes" })).length, (await listed({ run_id: "stays" })).length], [0, 1]);
  await client.deleteUsers({ userId: USER });
  assert.deepEqual(await listed(), []);
});
