/** What is derived beside the event loop, and the thread's side of it: one job after the other. */
import { parentPort } from 'node:worker_threads';
import { parseXpub } from '../../../chains/secp256k1.ts';
import type { Family } from '../../../protocol/slugs.ts';
import { searchPath, type Found } from './search.ts';

export interface SearchJob {
  readonly kind: 'search';
  readonly family: Family;
  /** An extended public key that was read before. */
  readonly xpub: string;
  readonly addresses: readonly string[];
}
export type Job = SearchJob;
export interface Results {
  search: (Found | null)[];
}

export interface Sent {
  readonly id: number;
  readonly job: Job;
}
export type Answered = { readonly id: number } & (
  { readonly result: Results[Job['kind']] } | { readonly error: string }
);

/** The result of a job. Throws: RangeError where the key is none. */
export function perform(job: Job): Results[Job['kind']] {
  const key = parseXpub(job.xpub);
  if (!key.ok) throw new RangeError('no extended public key');
  return job.addresses.map((address) => searchPath(job.family, key, address));
}

parentPort?.on('message', ({ id, job }: Sent) => {
  let answer: Answered;
  try {
    answer = { id, result: perform(job) };
  } catch (error) {
    answer = { id, error: error instanceof Error ? error.message : String(error) };
  }
  parentPort!.postMessage(answer);
});
