/**
 * Whose word confirms a block. Where a chain has several endpoints, none is believed alone: two that are alive must hold
 * the block, each deep enough under its own head, and must be more than those that hold another (reliability 4.1-12, -13). What is
 * in the block is asked of two likewise: testimony.ts.
 *
 *   endpoints       A holds it 12 deep · B holds it 11 deep · threshold 12 → waits for B
 *                   A holds it 12 deep · B is unreachable or silent for long → A is the only one alive: confirmed (G11)
 *                   A holds it 12 deep · B holds another block             → waits
 */
import type { ChainClient } from '../chains/chain.ts';
import { confirmationsOf } from './confirmations.ts';
import { chainFailure } from './content.ts';
import type { Run } from './memory.ts';

/** One living endpoint about one block. */
export interface Opinion {
  /** Confirmations of the height under its own head; 0 when its head is below. */
  readonly confirmations: number;
  readonly holds: boolean;
}

const WITNESSES_NEEDED = 2;

/** Whether living endpoints confirm a block at a depth. No endpoint alive confirms nothing. */
export function confirmedBy(opinions: readonly Opinion[], threshold: number): boolean {
  const supporting = opinions.filter(({ holds, confirmations }) => holds && confirmations >= threshold).length;
  const contradicting = opinions.filter(({ holds, confirmations }) => !holds && confirmations > 0).length;
  return supporting >= Math.min(WITNESSES_NEEDED, Math.max(1, opinions.length)) && supporting > contradicting;
}

/** An endpoint that is alive, asked by itself. */
export interface LivingEndpoint {
  readonly client: ChainClient;
  /** Which one of the configured endpoints, from 1. */
  readonly position: number;
}

export interface Quorum {
  /** Endpoints that are alive now; empty where there is one source only. */
  readonly living: readonly LivingEndpoint[];
  /** True when a block is confirmed at a depth by the endpoints that are alive now. */
  confirms(height: number, hash: string, threshold: number): Promise<boolean>;
}

/** What is remembered of one endpoint between looks. */
export interface WitnessMemory {
  readonly answeredAtMs: number;
  /** When its height was last higher than ever. */
  readonly roseAtMs: number;
  readonly highestHeight: number;
}

/**
 * An endpoint is dead after it answered nothing, or stood below another one without rising, for `silentMs` (G11). Until
 * then it counts: two endpoints that fail for a moment must not leave the word to the third.
 */
export function isAlive(memory: WitnessMemory, highestHeight: number, nowMs: number, silentMs: number): boolean {
  const answers = nowMs - memory.answeredAtMs <= silentMs;
  const rises = memory.highestHeight >= highestHeight || nowMs - memory.roseAtMs <= silentMs;
  return answers && rises;
}

/** The endpoints of a ledger as they are now; one head per endpoint, one hash per endpoint and height. */
export async function quorumOf(run: Run): Promise<Quorum> {
  const { parts, memory } = run;
  const nowMs = parts.nowMs();
  const clients = parts.witnesses.length === 0 ? [parts.client] : parts.witnesses;
  const heads = await Promise.all(clients.map((client) => orNull(client.getHead())));
  const witnesses = heads.map((head, index) => {
    const known = memory.witnesses[index] ?? { answeredAtMs: nowMs, roseAtMs: nowMs, highestHeight: -1 };
    if (head === null) return known;
    const rose = head.height > known.highestHeight ? { roseAtMs: nowMs, highestHeight: head.height } : {};
    return { ...known, ...rose, answeredAtMs: nowMs };
  });
  memory.witnesses = witnesses;
  const highest = Math.max(...witnesses.map(({ highestHeight }) => highestHeight));
  const living = clients
    .map((client, index) => ({ client, position: index + 1, headHeight: heads[index]?.height ?? -1 }))
    .filter((_, index) => isAlive(witnesses[index]!, highest, nowMs, parts.settings.silentMs));
  const hashes = new Map<string, Promise<string | null>>();
  const hashOf = (client: ChainClient, index: number, height: number) => {
    const key = `${index}:${height}`;
    const asked = hashes.get(key) ?? orNull(client.getBlockHash(height));
    hashes.set(key, asked);
    return asked;
  };
  return {
    living: parts.witnesses.length === 0 ? [] : living,
    async confirms(height, hash, threshold) {
      const opinions = await Promise.all(living.map(async ({ client, headHeight }, index): Promise<Opinion> => {
        const theirs = headHeight < height ? null : await hashOf(client, index, height);
        // One that cannot tell has no opinion, but it counts as alive: its silence is no support.
        return { confirmations: theirs === null ? 0 : confirmationsOf(headHeight, height), holds: theirs === hash };
      }));
      return confirmedBy(opinions, threshold);
    },
  };
}

async function orNull<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (chainFailure(error) === null) throw error;
    return null;
  }
}
