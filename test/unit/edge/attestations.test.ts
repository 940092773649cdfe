import { createPublicKey, verify } from 'node:crypto';
import test from 'ava';
import { seedOf } from '../../../edge/keystore/keys.ts';
import { createPhraseKeystore } from '../../../edge/keystore/phrase-keystore.ts';
import { AttestationKeeper } from '../../../edge/link/attestations.ts';
import { refuse } from '../../../protocol/errors.ts';
import type { AttestationsBody } from '../../../protocol/frames.ts';
import { FIRST, PHRASE } from '../../support/edge/edges.ts';

const keystore = createPhraseKeystore(seedOf(PHRASE, ''));
const NOW = Date.parse('2026-11-30T10:00:00.500Z');

interface Range {
  family: 'btc' | 'evm' | 'tron';
  from: number;
  count: number;
}

/** An edge before a cloud that wants what the test says. */
function keeperOf(wanted: (asked: AttestationsBody) => Range[] | 'refused') {
  const asked: AttestationsBody[] = [],
    log: string[] = [];
  const state = { held: true, monotonicMs: 0 };
  const keeper = new AttestationKeeper({
    environment: 'live',
    keystore,
    upstream: {
      signed: {
        call: (async (_operation: string, { body }: { body: AttestationsBody }) => {
          asked.push(body);
          const said = wanted(body);
          return said === 'refused' ? refuse('ACCOUNT_SUSPENDED') : { wanted: said };
        }) as never,
      },
    },
    lease: { view: () => ({ held: state.held }) },
    nowMs: () => NOW,
    monotonicMs: () => state.monotonicMs,
    log: {
      info: (event, facts) => void log.push(`${event} ${facts?.count}`),
      warn: (event, facts) => void log.push(`${event} ${facts?.code}`),
      fault: (event, error) => void log.push(`${event} ${String(error)}`),
    },
  });
  const statements = () => asked.flatMap(({ batch }) => batch?.statements ?? []);
  return { keeper, asked, log, state, statements };
}

test('payments E4: what is signed is the address that this edge derives at the index, whatever a cloud says', async (t) => {
  const { keeper, asked } = keeperOf(({ batch }) => (batch === null ? [{ family: 'evm', from: 0, count: 1 }] : []));
  await keeper.look();
  const batch = asked[1]!.batch!;
  t.like(batch, { family: 'evm', issuedAt: '2026-11-30T10:00:00Z', validUntil: '2026-12-30T10:00:00Z' });
  const text = `flock-address-attestation-v1\nlive\nevm\n${FIRST}\n2026-11-30T10:00:00Z\n2026-12-30T10:00:00Z`;
  const spki = Buffer.concat([
    Buffer.from('302a300506032b6570032100', 'hex'),
    Buffer.from(keystore.identity.publicKey, 'hex'),
  ]);
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  t.true(verify(null, Buffer.from(text), key, Buffer.from(batch.statements[0]!.signature, 'base64url')));
});

test('payments E5: a cloud that wants everything has four thousand signed at a look, and nothing that is no index', async (t) => {
  const { keeper, statements, asked } = keeperOf(() => [
    { family: 'evm', from: 0x7fff_ff00, count: 5_000 },
    { family: 'btc', from: 0, count: 1_000_000_000 },
  ]);
  await keeper.look();
  t.is(statements().length, 4_000);
  t.true(asked.every(({ batch }) => batch === null || batch.statements.length <= 250));
  t.true(statements().every(({ index }) => index < 0x8000_0000));
});

test('payments E5: who follows signs nothing; renewals are asked for hourly, and by who leads again at once', async (t) => {
  const { keeper, asked, state } = keeperOf(() => []);
  state.held = false;
  await keeper.look();
  t.is(asked.length, 0);
  state.held = true;
  await keeper.look();
  await keeper.look();
  state.monotonicMs += 3_600_000;
  await keeper.look();
  state.held = false;
  await keeper.look();
  state.held = true;
  await keeper.look();
  t.deepEqual(
    asked.map(({ renew }) => renew),
    [true, false, true, true],
  );
});

test('payments E5: a refusal is told once, ends the look, and is over with the next answer', async (t) => {
  let refused = true;
  const { keeper, log, asked } = keeperOf(() => (refused ? 'refused' : []));
  await keeper.look();
  await keeper.look();
  t.is(asked.length, 2);
  t.deepEqual(log, ['attestations_refused ACCOUNT_SUSPENDED']);
  refused = false;
  await keeper.look();
  refused = true;
  await keeper.look();
  t.is(log.length, 2);
});
