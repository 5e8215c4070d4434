/** Keepsake over HTTP, typed by its own schema: `schema.ts` is written from that by `make client`. */
import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";

/** Where Keepsake is and who asks; a service's key takes the `user` whom it acts for. */
export interface Access {
  url?: string;
  key?: string;
  user?: string;
  /** How often a request is sent again that failed for a reason which passes: 3 unless said otherwise. */
  retries?: number;
}

/** An answer of 400 or more: `body` is all that it says, `code` names what is wrong. */
export class KeepsakeError extends Error {
  readonly status: number;
  readonly code: string;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    const told = (typeof body === "object" && body !== null ? body : {}) as { detail?: unknown; code?: unknown };
    super(typeof told.detail === "string" ? told.detail : `HTTP ${status}: ${JSON.stringify(body)}`);
    this.name = "KeepsakeError";
    this.status = status;
    this.code = typeof told.code === "string" ? told.code : "";
    this.body = body;
  }
}

/**
 * A client whose `GET`, `POST`, `PUT`, `PATCH` and `DELETE` know every path, what it takes and what it answers.
 *
 * What is not given is read from KEEPSAKE_URL, KEEPSAKE_KEY and KEEPSAKE_USER. Every call throws KeepsakeError.
 */
export function keepsake(access: Access = {}): Client<paths> {
  const told = { ...fromEnvironment(), ...access };
  if (!told.key) throw new TypeError("Give a key, or set KEEPSAKE_KEY.");
  const headers: Record<string, string> = { Authorization: `Bearer ${told.key}` };
  if (told.user) headers["X-Keepsake-User"] = inBytes(told.user);
  const client = createClient<paths>({ baseUrl: (told.url || "http://127.0.0.1:8000").replace(/\/+$/, ""), headers, fetch: repeating(told.retries ?? 3) });
  client.use({
    async onResponse({ response }) {
      if (response.ok) return undefined;
      const text = await response.text();
      throw new KeepsakeError(response.status, asJson(text));
    },
  });
  return client;
}

const LOST = new Set([502, 503, 504]);
const LONGEST_WAIT = 60_000;

/**
 * A fetch that sends a request again when the connection broke or the answer was 429, 502, 503 or 504.
 *
 * A POST carries an Idempotency-Key, so it happens once; another write is sent again after a 429 alone.
 */
function repeating(retries: number): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method === "POST" && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", crypto.randomUUID());
    }
    const repeatable = request.method === "GET" || request.method === "POST";
    for (let tried = 0; ; tried += 1) {
      let wait = 200 * 2 ** Math.min(tried, 6) * (0.75 + Math.random() / 2);
      try {
        const answer = await fetch(request.clone());
        if (answer.status !== 429 && !(LOST.has(answer.status) && repeatable)) return answer;
        const told = answer.headers.get("Retry-After") ?? "";
        if (/^\d+$/.test(told)) wait = Number(told) * 1000;
        if (tried >= retries || wait > LONGEST_WAIT) return answer;
        await answer.body?.cancel();
      } catch (error) {
        if (request.signal.aborted || !repeatable || tried >= retries) throw error;
      }
      await new Promise((resume) => setTimeout(resume, wait));
    }
  };
}

function fromEnvironment(): Access {
  const set = globalThis.process?.env ?? {};
  return { url: set.KEEPSAKE_URL, key: set.KEEPSAKE_KEY, user: set.KEEPSAKE_USER };
}

/** A name as the UTF-8 bytes that a header carries. */
function inBytes(name: string): string {
  return String.fromCharCode(...new TextEncoder().encode(name));
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
