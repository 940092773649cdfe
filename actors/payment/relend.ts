/**
 * A shared link keeps no address of a retired identity: who pays it pays keys that the company may have lost.
 * The former address stays watched, and what comes there on time counts. payments S17.
 */
import type { AccountEvent } from '../../model/account/capabilities.ts';
import type { PaymentLinkRow } from '../../model/rows/payment.ts';
import { refuse } from '../../protocol/errors.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { freshLent } from '../address/lend.ts';
import { turnOfDay } from '../address/peak.ts';
import { presentFrom } from '../edge-link/retired-identities.ts';
import { notReady } from '../edge-link/readiness.ts';
import { lentTo } from './links.ts';

/** Refuses: CHAIN_NOT_READY; CONFLICT where the link has none, is closed, or has one of the present identity. */
export function relendLink({
  state,
  command: { known, addressId },
  book,
  nowMs,
  realMs,
}: Deciding<'relend_link'>): AccountDecision<'relend_link'> {
  const index = Number(/[0-9]+$/.exec(known.derivationPath ?? '') ?? Number.NaN);
  const no = firstRefusal(
    notReady(state, known.chain),
    known.status !== 'closed' && index < presentFrom(state, FAMILY_OF[known.chain])
      ? null
      : refuse('CONFLICT', { status: known.status }),
  );
  if (no !== null) return no;
  const turn = turnOfDay(state, realMs),
    lent = freshLent(state, book, { id: addressId, chain: known.chain, label: known.id }, nowMs);
  const row: PaymentLinkRow = {
    ...known,
    version: known.version + 1,
    addressId,
    address: lent.row.address,
    derivationPath: lent.row.derivationPath,
    updatedAtMs: nowMs,
  };
  const events: AccountEvent[] = [...turn.events, lent.event, { type: 'payment_link_patched', id: known.id }];
  return accept(row, events, [
    ...turn.rows,
    lent.write,
    { table: 'payment_link', row },
    { table: 'checkout_address', row: lentTo(row, addressId, nowMs) },
  ]);
}
