/**
 * Who may open a stream: the order is that of a signed request (decisions 2). API key, skew, signature, pinned key,
 * nonce; then the version, then what the account says of the identity.
 */
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { EDGE_VERSION_MIN, handshakeAuth, STREAM_PATH } from '../../protocol/frames.ts';
import { isDigestOf } from '../../protocol/node/http-signature.ts';
import { whyNoKey, type ApiKeys } from '../http/auth/api-keys.ts';
import type { EdgeSignatures } from '../http/auth/edge-signature.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import { type AccountId, environmentOf } from '../../protocol/ids.ts';
import type { SandboxControl } from '../../model/ports/sandbox-control.ts';
import type { Admitted } from './ports.ts';

export interface HandshakeDeps {
  readonly apiKeys: Pick<ApiKeys, 'authenticate' | 'authenticateNow' | 'leftMs'>;
  readonly signatures: EdgeSignatures;
  readonly accounts: Pick<Accounts, 'ask'>;
  /** The levers of sandboxes; absent where there are none. */
  readonly outages?: Outages;
  /** Counts one, before anything of it is stored; absent: none is counted. Refuses: RATE_LIMIT_EXCEEDED. */
  readonly handshakes?: (accountId: AccountId) => Promise<Refusal | null>;
}

type Outages = Pick<SandboxControl, 'edgeOfflineUntilMs'>;

const EMPTY_BODY = new Uint8Array();

/**
 * Milliseconds that the API key of a handshake is good for (null for ever), or null for one that is not: a key may be
 * revoked while its stream comes up, and an edge whose
 * streams a revocation closed comes back at once, through a node that remembers the key.
 */
export async function keyHolds(
  { apiKeys }: Pick<HandshakeDeps, 'apiKeys'>,
  auth: unknown,
): Promise<{ leftMs: number | null } | null> {
  const parsed = handshakeAuth.safeParse(auth);
  const row = parsed.success ? await apiKeys.authenticateNow(apiKeyOf(parsed.data.headers)) : null;
  return row === null ? null : { leftMs: apiKeys.leftMs(row) };
}

const apiKeyOf = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-api-key')?.[1] ?? '';

/**
 * Refuses, while a lever keeps the edges of a sandbox away (`simulate-edge-offline`): SERVICE_UNAVAILABLE. Null where
 * none does.
 */
export async function edgeIsAway(
  outages: Outages | undefined,
  accountId: AccountId,
  nowMs: number,
): Promise<Refusal | null> {
  if (outages === undefined || environmentOf(accountId) !== 'sandbox') return null;
  const untilMs = await outages.edgeOfflineUntilMs(accountId);
  return untilMs === null
    ? null
    : refuse('SERVICE_UNAVAILABLE', {
        reason: 'simulate-edge-offline keeps the edges of this sandbox away; 0 seconds end it',
        retryAfterSeconds: Math.max(1, Math.ceil((untilMs - nowMs) / 1_000)),
      });
}

/**
 * The edge behind a handshake. `host` is the Host header of the upgrade, which the signature covers.
 * Refuses: INVALID_INPUT, UNAUTHORIZED, the refusals of a signature, RATE_LIMIT_EXCEEDED, EDGE_VERSION_UNSUPPORTED,
 * RESYNC_REQUIRED, IDENTITY_ROTATION_PENDING.
 */
export async function admit(deps: HandshakeDeps, auth: unknown, host: string): Promise<Admitted | Refusal> {
  const parsed = handshakeAuth.safeParse(auth);
  if (!parsed.success) return refuse('INVALID_INPUT', { field: parsed.error.issues[0]?.path.join('.') ?? 'auth' });
  const { sessionId, edgeVersion, podHint } = parsed.data;
  const headers = Object.fromEntries(
    Object.entries(parsed.data.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const key = await deps.apiKeys.authenticate(apiKeyOf(parsed.data.headers));
  if (key === null) return refuse('UNAUTHORIZED', whyNoKey(apiKeyOf(parsed.data.headers)));
  if (key.role === 'viewer') return refuse('FORBIDDEN', { needs: 'editor', has: key.role });
  const { accountId } = key;
  const head = { method: 'GET', authority: host.toLowerCase(), path: STREAM_PATH, query: '?', headers };
  const verified = await deps.signatures.verify(
    head,
    accountId,
    { required: true, pin: true },
    async () => (await deps.handshakes?.(accountId)) ?? null,
  );
  if (isRefusal(verified)) return verified;
  if (verified === null || !isDigestOf(verified.contentDigest, EMPTY_BODY)) {
    return refuse('EDGE_SIGNATURE_INVALID', { reason: 'content digest' });
  }
  if (isOlderVersion(edgeVersion, EDGE_VERSION_MIN)) {
    return refuse('EDGE_VERSION_UNSUPPORTED', { edgeVersion, minimum: EDGE_VERSION_MIN });
  }
  const answer = await deps.accounts.ask(accountId, { type: 'resume', publicKey: verified.publicKey });
  if (answer.ok === 'duplicate') return refuse('INTERNAL_ERROR');
  const away = answer.ok ? await edgeIsAway(deps.outages, accountId, Date.now()) : null;
  if (away !== null) return away;
  return answer.ok ? { accountId, sessionId, edgeVersion, podHint, publicKey: verified.publicKey } : answer;
}

/** Whether a version is below another, number by number; a text that is no version is older than any. */
export function isOlderVersion(version: string, minimum: string): boolean {
  const own = numbersOf(version),
    least = numbersOf(minimum);
  if (own.length === 0) return true;
  const differs = own.findIndex((part, index) => part !== least[index]);
  return differs !== -1 && own[differs]! < least[differs]!;
}

/** The three numbers of a version; none for a text that is no version. */
function numbersOf(version: string): number[] {
  return /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:[-+].*)?$/.exec(version)?.slice(1, 4).map(Number) ?? [];
}
