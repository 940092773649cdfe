/** Steps of stories about withdrawals: commands, answers of nodes and facts of blocks, in any order. */
import type { AccountCommand } from '../../model/account/capabilities.ts';
import type { BroadcastResult } from '../../chains/chain.ts';
import { refuse } from '../../protocol/errors.ts';
import { inputsOf } from './evm-inputs.ts';
import type { Sender } from './sender.ts';

export const COMMAND_ACTS = [
  'build',
  'bind',
  'submit',
  'begin',
  'accept',
  'reject',
  'unknown',
  'reprice',
  'abandon',
] as const;
const FACTS = {
  include: 'withdrawal_included',
  mature: 'withdrawal_matured',
  orphan: 'withdrawal_orphaned',
  die: 'withdrawal_dead',
} as const;
export type Act = (typeof COMMAND_ACTS)[number] | keyof typeof FACTS;
export const ALL_ACTS: readonly Act[] = [...COMMAND_ACTS, 'include', 'mature', 'orphan', 'die'];
export interface Step {
  act: Act;
  which: number;
  count: number;
}

/** One step of a story; what is refused changes nothing. */
export function tell(sender: Sender, { act, which, count }: Step): void {
  const ids = [...sender.rows.keys()],
    row = sender.rows.get(ids[which % Math.max(1, ids.length)] ?? '');
  const tryTo = (command: AccountCommand) => {
    if (sender.account.decide(command).ok) sender.do(command);
  };
  if (act === 'build') return tryTo(sender.build(7 + count));
  if (row === undefined) return;
  if (act in FACTS) {
    if (row.txid !== null) sender.fact(row.id, FACTS[act as keyof typeof FACTS]);
    return;
  }
  const txid = row.txid ?? '';
  const note = (result: BroadcastResult) => tryTo({ type: 'note_broadcast', known: row, txid, result });
  switch (act) {
    case 'bind':
      return tryTo(sender.bind(row.id, 7 + count, count % 2 === 0 ? ids : []));
    case 'submit':
      return tryTo(sender.submit(row.id));
    case 'begin':
      return tryTo({ type: 'begin_submit', known: row, txid });
    case 'reprice':
      return tryTo({ type: 'reprice_withdrawal', known: row, inputs: inputsOf() });
    case 'abandon':
      return tryTo({ type: 'abandon_withdrawal', known: row });
    case 'accept':
      return note({ kind: 'accepted', txid });
    case 'reject':
      return note({ kind: 'rejected_final', refusal: refuse('CHAIN_REJECTED') });
    default:
      return note({ kind: 'unknown', reason: 'timeout' });
  }
}
