/**
 * Found: what a signature looks up costs the same after a million of them: no statement on its way reads a table, or a
 * sender's history.
 */
import test from 'ava';
import { Instructions, type RecordedInstruction } from '../../../edge/signing/instructions.ts';
import { claimOf } from '../../../edge/signing/payments.ts';
import { newestSpendMs, SpendLedger } from '../../../edge/spend/ledger.ts';
import { newStorage } from '../../support/edge/disk.ts';

const CAPS = {
  spendCaps: new Map(),
  withdrawalCaps: new Map([['eth' as const, 10n ** 30n]]),
  spendWindowMs: 3_600_000,
};

const versionOf = (id: string, kind: 'nonce' | 'sequence', value: number): RecordedInstruction => ({
  instruction: {
    id,
    purpose: 'withdrawal',
    chain: 'eth',
    from: 'a',
    fromPath: 'm',
    to: 'b',
    toPath: null,
    amount: 5n,
    token: null,
    tag: null,
    request: { key: id, body: 'b' },
  },
  unsigned: {
    chain: 'eth',
    payload: id,
    from: 'a',
    to: 'b',
    amount: 5n,
    feeMax: 1n,
    replayKey: { kind, value: kind === 'nonce' ? value : String(value) },
  } as unknown as RecordedInstruction['unsigned'],
});

test('found: no statement on the way to a signature scans a table; counters, unfilled ones and the newest spend have an index of their own', (t) => {
  const storage = newStorage(),
    asked = new Map<string, readonly unknown[]>();
  for (const name of ['all', 'one', 'run'] as const) {
    const call = storage[name].bind(storage) as (sql: string, ...values: never[]) => never;
    Object.assign(storage, {
      [name]: (sql: string, ...values: never[]) => {
        asked.set(sql, values);
        return call(sql, ...values);
      },
    });
  }
  const ledger = new SpendLedger(storage, CAPS, { nowMs: () => 1, mark: () => undefined }),
    instructions = new Instructions(storage, () => 1);
  for (const [index, kind] of (['nonce', 'sequence', 'nonce'] as const).entries()) {
    const recorded = versionOf(`txn_${index}`, kind, index),
      { chain, from, replayKey } = recorded.unsigned;
    t.true(instructions.record(recorded));
    instructions.highestCounter(chain, from, replayKey);
    instructions.signaturesUnder(chain, from, replayKey);
    ledger.count({ ...claimOf(recorded, null, 1), purpose: 'withdrawal', amount: 1n });
    instructions.journal(recorded);
    instructions.noteSigned(recorded.instruction.id, recorded.unsigned.payload, {
      chain,
      payload: 's',
      txid: `0x${index}`,
    });
    ledger.note([recorded.instruction.id], 'failed');
    ledger.settle(['txn_9'], 'dead');
    ledger.versionsOf(recorded.instruction.id);
    instructions.transactionsOf(`0x${index}`);
  }
  newestSpendMs(storage);
  const plans = [...asked].map(
    ([sql, values]) =>
      [
        sql,
        storage
          .all<{ detail: string }>(`explain query plan ${sql}`, ...(values as never[]))
          .map(({ detail }) => detail),
      ] as const,
  );
  // Lists that are bound to the statement have no index, and one row each.
  const scans = plans.flatMap(([sql, details]) =>
    details
      .filter(
        (detail) =>
          /^SCAN/.test(detail) && !/VIRTUAL TABLE|CONSTANT ROW|USING COVERING INDEX spend_newest/.test(detail),
      )
      .map((detail) => `${detail}: ${sql}`),
  );
  t.deepEqual(scans, []);
  for (const index of [
    'replay_keys_nonce',
    'replay_keys_sequence',
    'spend_unfilled',
    'spend_newest',
    'spend_payment',
    'request_keys_bound',
  ]) {
    const using = plans.filter(([, details]) => details.some((detail) => detail.includes(`INDEX ${index}`)));
    t.not(using.length, 0, index);
    if (index !== 'spend_payment')
      t.false(
        using.some(([, details]) => details.some((detail) => /TEMP B-TREE/.test(detail))),
        index,
      );
  }
  t.is(instructions.highestCounter('eth', 'a', { kind: 'nonce', value: 0 }), 2n);
  t.is(instructions.highestCounter('eth', 'a', { kind: 'sequence', value: '0' }), 1n);
  storage.close();
});
