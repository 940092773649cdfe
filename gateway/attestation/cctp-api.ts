/**
 * Circle's attestation service over HTTP: what was attested of a burn, and the fee of a transfer. Nothing that it says
 * is believed here: its caller compares. It blocks who asks more than 35 times a second, so that a node asks ten times
 * at most, and leaves it alone for five minutes when it says 429. Treasury H6, H8.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Attestation, Attesters } from '../../model/ports/attesters.ts';
import { FINALIZED } from '../../chains/evm/cctp.ts';

const TIMEOUT_MS = 10_000;
/** A message and its attestation have below two thousand characters; of a transaction there may be several. */
const ANSWER_BYTES_MAX = 262_144;
const APART_MS = 100;
const SILENCE_MS = 5 * 60_000;

const hex = z.string().regex(/^0x[0-9a-fA-F]*$/);
const answer = z.object({
  messages: z.array(z.object({ status: z.string(), message: z.string(), attestation: z.string() })),
});

export interface CctpApiSettings {
  /** An origin. */
  readonly CCTP_API_URL: string;
}

type Said = { readonly status: number; readonly text: string } | null;

export function createCctpApi(
  { CCTP_API_URL: apiUrl }: CctpApiSettings,
  nowMs: () => number = Date.now,
  rest: (ms: number) => Promise<unknown> = delay,
): Attesters {
  let freeAtMs = 0,
    silentUntilMs = 0;

  /** Null where nothing came, or it was not asked. */
  async function get(path: string): Promise<Said> {
    if (nowMs() < silentUntilMs) return null;
    const at = Math.max(freeAtMs, nowMs());
    freeAtMs = at + APART_MS;
    const pause = at - nowMs();
    // The next in turn asks at its time: no look waits for longer than those before it.
    if (pause > 0) await rest(pause);
    // The service may have answered 429 to another one meanwhile.
    if (nowMs() < silentUntilMs) return null;
    try {
      const response = await fetch(`${apiUrl}${path}`, {
        signal: AbortSignal.timeout(TIMEOUT_MS),
        redirect: 'error',
        headers: { accept: 'application/json' },
      });
      if (response.status === 429) silentUntilMs = nowMs() + SILENCE_MS;
      const text = await boundedText(response.body);
      return text === null ? null : { status: response.status, text };
    } catch {
      return null;
    }
  }

  return {
    async attestationOf(domain, txid) {
      const said = await get(`/v2/messages/${domain}?transactionHash=${txid}`);
      if (nowMs() < silentUntilMs) return { kind: 'silence', untilMs: silentUntilMs };
      if (said === null) return { kind: 'not_yet', reason: 'no_answer' };
      return said.status === 200 ? readMessages(said.text) : { kind: 'not_yet', reason: `status_${said.status}` };
    },
    async feeOf(fromDomain, toDomain, amount) {
      const said = await get(`/v2/burn/USDC/fees/${fromDomain}/${toDomain}`);
      return said?.status === 200 ? readFee(said.text, amount) : null;
    },
  };
}

/** What is longer is not read to its end: null. */
async function boundedText(stream: AsyncIterable<Uint8Array> | null): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream ?? []) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** The one message of a burn. Unknown and pending ones are not yet. */
function readMessages(text: string): Attestation {
  const parsed = answer.safeParse(parsedJson(text));
  if (!parsed.success) return { kind: 'not_yet', reason: 'unreadable' };
  const complete = parsed.data.messages.find(
    ({ status, message, attestation }) =>
      status === 'complete' && hex.safeParse(message).success && hex.safeParse(attestation).success,
  );
  if (complete === undefined) return { kind: 'not_yet', reason: 'pending' };
  const { message, attestation } = complete;
  return { kind: 'attested', message: message.toLowerCase(), attestation: attestation.toLowerCase() };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const BASIS_POINTS = 10_000n;

/**
 * The fee of a transfer that waits for finality, in basis points that may have decimals: read as text, since no
 * floating point comes near an amount, and rounded up. Null where it is not said.
 */
export function readFee(text: string, amount: bigint): bigint | null {
  const entries = [...text.matchAll(/\{[^{}]*\}/g)].map(([entry]) => entry);
  const own = entries.find((entry) => new RegExp(`"finalityThreshold"\\s*:\\s*${FINALIZED}\\s*[,}]`).test(entry));
  const [, whole, part = ''] = /"minimumFee"\s*:\s*(\d{1,5})(?:\.(\d{1,18}))?\s*[,}]/.exec(own ?? '') ?? [];
  if (whole === undefined) return null;
  const scale = 10n ** BigInt(part.length),
    points = BigInt(whole + part),
    divisor = BASIS_POINTS * scale;
  return (amount * points + divisor - 1n) / divisor;
}
