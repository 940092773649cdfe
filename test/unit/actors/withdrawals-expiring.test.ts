/** Withdrawals of chains whose payloads only expire: a signed one is never priced anew. found F13, L31. */
import test from 'ava';
import { evm } from '../../../chains/evm/index.ts';
import { sol } from '../../../chains/sol/index.ts';
import { tron } from '../../../chains/tron/index.ts';
import type { BuildInputs, ChainModule } from '../../../chains/chain.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { Sender } from '../../support/sender.ts';
import { inputsOf as solInputs } from '../../support/sol-inputs.ts';
import { inputsOf as tronInputs } from '../../support/tron-inputs.ts';

const CASES: readonly (readonly [chain: Chain, module: ChainModule, inputs: BuildInputs])[] = [
  ['sol', sol as ChainModule, solInputs({ finalizedBlockHeight: 5_000 })],
  ['tron', tron as ChainModule, tronInputs()],
];

for (const [chain, module, inputs] of CASES) {
  test(`found F13: a signed payment that only expires is not repriced, though a node calls it dead: ${chain}`, (t) => {
    const sender = new Sender({ modules: [evm as ChainModule, module] }),
      sent = sender.sent();
    const known: WithdrawalRow = {
      ...sent,
      chain,
      unsigned: { ...sent.unsigned, chain, replayKey: { kind: 'expiry', value: '1150' } },
    };
    const refusal = sender.account.refused({ type: 'reprice_withdrawal', known, inputs });
    t.like(refusal, {
      code: 'CONFLICT',
      details: { reason: 'signed_payload_only_expires', signed: true, txids: [sent.txid] },
    });
  });
}
