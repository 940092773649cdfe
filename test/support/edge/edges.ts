/** Edges of a test: in this process over real sockets, with a phrase of test material. */
import type { ExecutionContext } from 'ava';
import { readConfig, type Environ } from '../../../edge/config.ts';
import { startEdge, type RunningEdge } from '../../../edge/edge.ts';
import { isMnemonic, seedOf } from '../../../edge/keystore/keys.ts';
import { createPhraseKeystore } from '../../../edge/keystore/phrase-keystore.ts';
import type { Keystore } from '../../../edge/keystore/keystore.ts';
import { UNDECLARED } from '../../../edge/http/declared-codes.ts';
import { LocalKeys } from '../../../edge/local-keys/local-keys.ts';
import { createEdgeLog } from '../../../edge/process/log.ts';
import type { EdgePorts } from '../../../edge/parts.ts';
import { openStorage } from '../../../edge/storage/storage.ts';
import type { Environment } from '../../../protocol/slugs.ts';
import { newDirectory } from './disk.ts';

/** BIP-39's own test phrase: never send money to it. */
export const PHRASE = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
/** Its addresses at m/44'/60'/0'/0/0, /0/1 and /1/0. chains.md 5.1. */
export const FIRST = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
export const SECOND = '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0';
export const GAS_TANK = '0x399Db6Ed32539fbDF44c3e7678b5b428e378F666';
export const API_KEYS: Readonly<Record<Environment, string>> = {
  live: 'flk_live_aaaaaaaaaaaaaaaaaaaaaaaa',
  sandbox: 'flk_test_bbbbbbbbbbbbbbbbbbbbbbbb',
};

export interface TestEdge {
  readonly edge: RunningEdge;
  readonly url: string;
  readonly dataDir: string;
  readonly localKey: string;
  /** Lines of its log, parsed. */
  readonly logged: Record<string, unknown>[];
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<EdgeReply>;
}

export interface EdgeReply {
  readonly status: number;
  readonly data: Record<string, unknown> | null;
  readonly error: { code: string; message: string; details: Record<string, unknown> } | null;
  readonly headers: Headers;
  readonly text: string;
}

/** Mints a local key in a data directory, as the command line does. */
export function mintIn(dataDir: string, environment: Environment): string {
  const storage = openStorage(dataDir);
  const minted = new LocalKeys(storage, environment, Date.now).mint({ label: 'test' });
  storage.close();
  if ('ok' in minted) throw new Error(minted.code);
  return minted.key;
}

const derived = new Map<string, string>();

/**
 * The keystore of a phrase; a pool of thousands is derived by the first edge of the process, and remembered for the
 * others.
 */
function rememberingKeystore(phrase: string): Keystore {
  const keystore = createPhraseKeystore(seedOf(phrase, ''));
  return {
    ...keystore,
    addressAt(chain, path) {
      const key = `${phrase} ${chain} ${path}`,
        known = derived.get(key) ?? keystore.addressAt(chain, path);
      derived.set(key, known);
      return known;
    },
  };
}

/** Starts an edge against a cloud and stops it when the test ends. */
export async function startTestEdge(
  t: ExecutionContext,
  cloudUrl: string,
  {
    environment = 'live',
    env = {},
    ports = {},
    dataDir = newDirectory(),
    phrase = PHRASE,
  }: { environment?: Environment; env?: Environ; ports?: Partial<EdgePorts>; dataDir?: string; phrase?: string } = {},
): Promise<TestEdge> {
  const { config } = readConfig(
    {
      API_KEY: API_KEYS[environment],
      CLOUD_URL: cloudUrl,
      MNEMONIC: phrase,
      EDGE_DATA_DIR: dataDir,
      EDGE_PORT: '0',
      POD_HINT: 'test',
      ...env,
    },
    isMnemonic,
  );
  const logged: Record<string, unknown>[] = [];
  const log = createEdgeLog('debug', {
    write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>),
  });
  const localKey = mintIn(dataDir, environment);
  const edge = await startEdge(config, rememberingKeystore(phrase), log, {
    wallMs: Date.now,
    monotonicMs: () => performance.now(),
    ...ports,
  });
  t.teardown(() => edge.stop());
  t.teardown(() => {
    const undeclared = logged.filter(({ msg, reason }) => msg === UNDECLARED && reason === 'edge');
    if (undeclared.length > 0) throw new Error(`codes that no route declares: ${JSON.stringify(undeclared)}`);
  });
  const url = `http://127.0.0.1:${edge.port}`;
  return {
    edge,
    url,
    dataDir,
    localKey,
    logged,
    ask: (method, path, body, headers) =>
      ask(url, { method, path, body, headers: { 'x-api-key': localKey, ...headers } }),
  };
}

/** One request to a deployment. A body that is no string is sent as JSON. */
export async function ask(
  url: string,
  { method, path, body, headers }: { method: string; path: string; body?: unknown; headers?: Record<string, string> },
): Promise<EdgeReply> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url + path, {
    method,
    headers: { ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(text === undefined ? {} : { body: text }),
  });
  const answer = await response.text();
  const parsed = answer.startsWith('{')
    ? (JSON.parse(answer) as { data?: EdgeReply['data']; error?: EdgeReply['error'] })
    : {};
  return {
    status: response.status,
    data: parsed.data ?? null,
    error: parsed.error ?? null,
    headers: response.headers,
    text: answer,
  };
}

/** Resolves when a condition holds, asked again after short pauses of real time; for sockets and processes. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 150_000,
): Promise<void> {
  const untilMs = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > untilMs) throw new Error(`waited ${withinMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
