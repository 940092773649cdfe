/** The account behind a request, as its actor knows it. */
import type { HandlerDeps } from './surroundings.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { AccountState } from '../../model/account/capabilities.ts';
import { isRefusal, refuse, Refused } from '../../protocol/errors.ts';
import type { Caller } from './context.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import { pathOf } from '../../actors/edge-link/retired-identities.ts';

/** The state of an account. Throws: Refused when it cannot be asked. */
export async function stateOf(
  { accounts }: Pick<HandlerDeps, 'accounts'>,
  accountId: AccountId,
): Promise<AccountState> {
  const answer = await accounts.ask(accountId, { type: 'inspect' });
  if (answer.ok === true) return answer.reply as AccountState;
  throw new Refused(isRefusal(answer) ? answer : refuse('INTERNAL_ERROR'));
}

/** The key that signed the request; a signed route has one. Throws: Refused EDGE_SIGNATURE_INVALID. */
export function signerOf({ signature }: Caller): string {
  if (signature === null) throw new Refused(refuse('EDGE_SIGNATURE_INVALID', { reason: 'headers' }));
  return signature.publicKey;
}

/** Gas tanks of the present identity: those of a retired one can fill nothing any more. Spec §5.7. */
export async function presentTanks(
  { stores: { reads } }: Pick<HandlerDeps, 'stores'>,
  accountId: AccountId,
): Promise<AddressRow[]> {
  const [rows, retired] = await Promise.all([
    reads.ownAddresses(accountId, 'gas_tank'),
    reads.retiredIdentities(accountId),
  ]);
  return rows.filter((row) => pathOf(retired, row) === row.derivationPath);
}
