/** Steps of a transfer over rows that the test sets. Treasury H5. */
import test from 'ava';
import { moved } from '../../../actors/bridge/moves.ts';
import { advanceTransfer, type BridgeParts } from '../../../actors/bridge/work.ts';
import type { SignedVersion, WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { bridgeTransferRow } from '../../support/bridge-rows.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';

const NOW_MS = 1_800_000_000_000;
const SIGNED = { txid: '0xb0', signedPayload: '0x02', payload: '0x02' };
const ACCOUNT = accountIdOf(newId('org', NOW_MS), 'live');

/** A transfer whose burn is signed, and what becomes of it. */
function burning() {
  let transfer = bridgeTransferRow({ state: 'BURNING', lookAtMs: NOW_MS });
  let burn: Pick<WithdrawalRow, 'status' | 'height' | 'versions' | 'failure'> = {
    status: 'signing',
    height: null,
    versions: [SIGNED],
    failure: null,
  };
  const parts = {
    accounts: {
      ask: async (_account: unknown, { to, fields }: { to: typeof transfer.state; fields: object }) => {
        transfer = moved(transfer, to, fields, NOW_MS);
        return { ok: true, reply: transfer };
      },
    },
    bridges: { transfer: async () => transfer },
    reads: { withdrawal: async () => burn },
    nowMs: () => NOW_MS,
  } as unknown as BridgeParts;
  return {
    transfer: () => transfer,
    refuses(version: Partial<SignedVersion>) {
      const failure = { code: 'CHAIN_REJECTED', reason: 'intrinsic gas too low' };
      burn = { ...burn, status: 'failed', failure, versions: [{ ...SIGNED, ...version }] };
    },
    look: () => advanceTransfer(parts, ACCOUNT, transfer.id),
  };
}

test('found F3, treasury H5: a burn that every node refused may land: its transfer says so, and fails when it is proven dead', async (t) => {
  const { transfer, refuses, look } = burning();
  refuses({ watched: true });
  await look();
  t.like(transfer(), { state: 'BURNING', stalledReason: 'burn_refused', lookAtMs: NOW_MS + 2_000 });
  t.like(JSON.parse(transfer().blocked!), { reason: 'intrinsic gas too low' });
  refuses({});
  await look();
  t.like(transfer(), { state: 'FAILED', reason: 'burn_failed' });
});
