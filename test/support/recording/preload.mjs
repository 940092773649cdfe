/**
 * Keeps what `fetch` was answered, for the recorded answers of the documentation: one line each in the folder of
 * FLOCK_RECORD. Loaded by NODE_OPTIONS=--import; what is written holds keys of test accounts and stays on the machine.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.FLOCK_RECORD;
/** Of one operation and one outcome. */
const KEPT = 3;
const BYTES_MAX = 20_000;
const counts = new Map();

function bodyOf(body) {
  if (typeof body !== 'string') return null;
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

async function keep(url, method, headers, body, response) {
  const { pathname, search } = new URL(url);
  if (!/^\/(?:v1|health)\b/.test(pathname)) return;
  if (!(response.headers.get('content-type') ?? '').startsWith('application/json')) return;
  const text = await response.text();
  if (text.length > BYTES_MAX) return;
  const answer = JSON.parse(text);
  const shape = pathname
    .split('/')
    .map((part) => (/\d|.{24}/.test(part) && part !== 'v1' ? '*' : part))
    .join('/');
  const sort = `${method} ${shape} ${response.status} ${answer.error?.code ?? ''}`;
  const count = (counts.get(sort) ?? 0) + 1;
  counts.set(sort, count);
  if (count > KEPT) return;
  const key = headers.get('x-api-key') ?? '';
  const line = {
    method,
    path: pathname,
    query: search,
    key: key.slice(0, 9),
    body: bodyOf(body),
    status: response.status,
    answer,
  };
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(line)}\n`);
}

if (folder !== undefined) {
  const ask = globalThis.fetch;
  globalThis.fetch = async function recorded(input, init) {
    const response = await ask(input, init);
    try {
      const request = input instanceof Request ? input : null;
      const method = init?.method ?? request?.method ?? 'GET';
      const headers = new Headers(init?.headers ?? request?.headers);
      await keep(request?.url ?? String(input), method, headers, init?.body, response.clone());
    } catch {
      // what cannot be read is not recorded
    }
    return response;
  };
}
