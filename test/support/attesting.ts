/** An edge with a phrase of its own, as far as registration and statements about addresses go. payments E5. */
import { randomBytes } from 'node:crypto';
import { networkOf } from '../../chains/registry.ts';
import type { Keystore } from '../../edge/keystore/keystore.ts';
import { createPhraseKeystore } from '../../edge/keystore/phrase-keystore.ts';
import { AttestationKeeper } from '../../edge/link/attestations.ts';
import { EDGE_VERSION } from '../../protocol/frames.ts';
import { testEdge, type TestAccountKey, type TestCloud, type TestEdge } from './gateway.ts';

export interface AttestingEdge extends TestEdge {
  readonly keystore: Keystore;
  readonly publicKey: string;
  /** What the edge does by the clock, once. */
  look(): Promise<void>;
  readonly log: string[];
}

/** Registers keys of some families of a fresh phrase. */
export async function attestingEdge(
  cloud: TestCloud,
  key: TestAccountKey,
  families: readonly ('btc' | 'evm' | 'tron')[] = ['evm'],
): Promise<AttestingEdge> {
  const keystore = createPhraseKeystore(randomBytes(64)),
    { publicKey } = keystore.identity;
  const edge = testEdge(cloud, key.apiKey, { keyId: publicKey, sign: (message) => keystore.identity.sign(message) });
  const keys = families.map((family) => ({
    family,
    xpub: keystore.accountXpub(family)!,
    accountPath: networkOf(family === 'evm' ? 'eth' : family).accountPath,
  }));
  await edge.client.must('syncEdge', {
    body: { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId, keys, pools: [] },
  });
  const log: string[] = [];
  const look = () =>
    new AttestationKeeper({
      environment: 'sandbox',
      keystore,
      upstream: { signed: edge.client },
      lease: { view: () => ({ held: true }) },
      nowMs: Date.now,
      monotonicMs: () => performance.now(),
      log: {
        info: (event) => void log.push(event),
        warn: (event, facts) => void log.push(`${event} ${facts?.code}`),
        fault: (event, error) => void log.push(`${event} ${String(error)}`),
      },
    }).look();
  return { ...edge, keystore, publicKey, look, log };
}
