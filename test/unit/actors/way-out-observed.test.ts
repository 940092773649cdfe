/** A sender whose project went back to observe after the build. */
import test from 'ava';
import { createWayOut } from '../../../actors/outgoing/way-out.ts';

const FROM = '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25';
const known = {
  id: 'txn_x',
  accountId: 'org_a_live',
  ledger: 'eth',
  chain: 'eth',
  from: FROM,
  versions: [],
  unsigned: { chain: 'eth', tokenContract: null, kind: 'payment', fee: {} },
};
const signed = { ...known, versions: [{ txid: '0x1' }] };

function wayOutWith(row: unknown) {
  const asked: string[] = [];
  const parts = {
    accounts: { ask: async (_: string, { type }: { type: string }) => (asked.push(type), { ok: true, reply: known }) },
    chains: { bind: async () => ({ client: { fetchBuildInputs: async () => ({}) }, catalogue: [] }) },
    reads: { addressByText: async () => row, usedValue: async () => null },
    sweeps: {},
    screened: [],
    nowMs: () => 0,
    log: {},
  };
  return { wayOut: createWayOut(parts as never), asked };
}

test('migration M-O1: a build is neither bound nor priced anew once its project is back at observe; what is signed is followed', async (t) => {
  const { wayOut, asked } = wayOutWith({ project: { id: 'mig_x', mode: 'observe' } });
  for (const answer of [await wayOut.bind(known as never, []), await wayOut.reprice(known as never)])
    t.like(answer, { code: 'ADDRESS_IN_OBSERVE_MODE', details: { projectId: 'mig_x' } });
  t.like(await wayOut.observed(known as never), { code: 'ADDRESS_IN_OBSERVE_MODE' });
  t.like(await wayOut.bind(signed as never, []), { ok: true });
  t.deepEqual(asked, []);
});

test('migration M-R2: a build of an address that was given back is not bound', async (t) => {
  const { wayOut, asked } = wayOutWith(null);
  t.like(await wayOut.bind(known as never, []), { code: 'NOT_FOUND', details: { field: 'from' } });
  t.deepEqual(asked, []);
});

test('migration M-O1: an address of a project that was cut over is bound', async (t) => {
  const { wayOut, asked } = wayOutWith({ project: { id: 'mig_x', mode: 'active' } });
  t.like(await wayOut.bind(known as never, []), { ok: true });
  t.is(await wayOut.observed(known as never), null);
  t.deepEqual(asked, ['bind_withdrawal']);
});
