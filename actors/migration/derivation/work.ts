/** What is derived beside the event loop, and the thread's side of it: one job after the other. */
import { parentPort } from 'node:worker_threads';
import { parseAddress } from '../../../chains/reading.ts';
import { keyNodeOf, parseXpub, type ExtendedPublicKey } from '../../../chains/secp256k1.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { CHAINS, FAMILY_OF, type Environment, type Family } from '../../../protocol/slugs.ts';
import { addressesOfKey, addressOfKey, searchPath, type Found } from './search.ts';
import type { ScriptType } from '../../../chains/btc/derive.ts';

export interface SearchJob {
  readonly kind: 'search';
  readonly family: Family;
  /** An extended public key that was read before. */
  readonly xpub: string;
  readonly addresses: readonly string[];
}
/** Addresses of a source's keys: of an extended one in [from, to) of a branch, or of single ones. */
export interface DeriveJob {
  readonly kind: 'derive';
  readonly environment: Environment;
  readonly family: Family;
  readonly key:
    | { readonly xpub: string; readonly branch: '0' | '1' | ''; readonly from: number; readonly to: number }
    | { readonly publicKey: string };
  /** Of btc: first characters that an address may have. */
  readonly begin: readonly string[];
}
/** Address texts of [from, to) of a branch below each of some extended keys. */
export interface AddressesJob {
  readonly kind: 'addresses';
  readonly family: Family;
  readonly keys: readonly string[];
  readonly branch: 0 | 1;
  readonly from: number;
  readonly to: number;
  /** Of btc. */
  readonly script: ScriptType | null;
}
export type Job = SearchJob | DeriveJob | AddressesJob;
/** An address by its key of the registry, and the steps to it; '' for the key itself. */
export interface Derived {
  readonly key: string;
  readonly below: string;
}
export interface Results {
  search: (Found | null)[];
  derive: Derived[];
  addresses: string[];
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
  if (job.kind === 'derive') return derived(job);
  if (job.kind === 'addresses') return addresses(job);
  const key = readXpub(job.xpub);
  return job.addresses.map((address) => searchPath(job.family, key, address));
}

function readXpub(text: string): ExtendedPublicKey {
  const key = parseXpub(text);
  if (!key.ok) throw new RangeError('no extended public key');
  return key;
}

function derived({ environment, family, key, begin }: DeriveJob): Derived[] {
  const keysOf = (publicKey: Uint8Array, below: string): Derived[] =>
    addressesOfKey(family, publicKey, begin).map((address) => {
      const parsed = parseAddress(
        CHAINS.find((chain) => FAMILY_OF[chain] === family)!,
        address,
      );
      if (isRefusal(parsed)) throw new Error(`a derived address of ${family} does not parse`);
      return { key: addressKeyOf(environment, family, parsed.bytes), below };
    });
  if ('publicKey' in key) return keysOf(Buffer.from(key.publicKey, 'hex'), '');
  const { publicKey, chainCode } = readXpub(key.xpub);
  const root = keyNodeOf(publicKey, chainCode);
  const node = key.branch === '' ? root : root.childOf(Number(key.branch));
  const before = key.branch === '' ? '' : `${key.branch}/`;
  return Array.from({ length: key.to - key.from }, (_, at) => key.from + at).flatMap((index) =>
    keysOf(node.publicKeyOf(index), `${before}${index}`),
  );
}

function addresses({ family, keys, branch, from, to, script }: AddressesJob): string[] {
  return keys.flatMap((text) => {
    const { publicKey, chainCode } = readXpub(text);
    const node = keyNodeOf(publicKey, chainCode).childOf(branch);
    return Array.from({ length: to - from }, (_, at) => addressOfKey(family, node.publicKeyOf(from + at), script));
  });
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
