/** A typed client of Keepsake's REST API; `make client` generates `schema.ts` from the OpenAPI schema. */
import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";

/** Keepsake's URL and the key; `user` is the person that a service's key acts for. */
export interface Access {
  url?: string;
  key?: string;
  user?: string;
  /** How often a temporarily failed request is retried: 3 by default. */
  retries?: number;
}

/** A response with a status of 400 or more: `body` is the whole body, `code` the kind of error. */
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
 * Create a client whose `GET`, `POST`, `PUT`, `PATCH` and `DELETE` are typed for every path.
 *
 * Missing options are read from KEEPSAKE_URL, KEEPSAKE_KEY and KEEPSAKE_USER. Every call throws KeepsakeError.
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
 * Return a fetch that retries when the connection broke or the status was 429, 502, 503 or 504.
 *
 * A POST carries an Idempotency-Key, so it is executed once; other writes are retried only after a 429.
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

/** Encode a name as UTF-8 bytes for a header. */
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
