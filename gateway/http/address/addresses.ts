/** Addresses. Spec §2.3, §4.2. */
import { isRefusal, PAIRS_CHANGED } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { FAMILY_OF, type AddressStatus } from '../../../protocol/slugs.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import { notEnabled } from '../../../actors/account/guards.ts';
import { watchOnly } from '../../../actors/key-source/decide.ts';
import { mayNotIssue } from '../../../actors/address/decide.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, type Asked, type Caller, claimOf, type Handlers, unknownIn } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { PairLookup } from './pair-lookup.ts';
import { addressView, listAskOf, pageAs } from '../views.ts';

/** Tries of what was decided on rows that changed meanwhile: on another node, or by an archive of the same address. */
const PAIR_TRIES = 5;

type Area = 'createAddress' | 'listAddresses' | 'getAddress' | 'archiveAddress' | 'unarchiveAddress';

export function addressHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    accounts,
    chains,
    pools,
    stores: { reads },
    nowMs,
  } = deps;
  const pairs = new PairLookup(reads);
  /** Whether adopted addresses of some rows can be signed for: by the sources of the account. Migration M-K2, M-I11. */
  const spendableIn = async (accountId: AccountId, rows: readonly AddressRow[]) => {
    const state = rows.some(({ project }) => project !== undefined) ? await stateOf(deps, accountId) : null;
    return ({ chain, derivationPath }: AddressRow) =>
      state !== null && watchOnly(state, chain, derivationPath) === null;
  };
  const view = async (accountId: AccountId, row: AddressRow) =>
    addressView(await reads.retiredIdentities(accountId), row, await spendableIn(accountId, [row]));
  const replay = async (stored: unknown, asked: { readonly caller: Caller }) =>
    view(accountOf(asked), stored as AddressRow);

  const setStatus = async (asked: Asked<'archiveAddress'> | Asked<'unarchiveAddress'>, status: AddressStatus) => {
    const accountId = accountOf(asked);
    const answer = await onUnchangedPairs(async () => {
      const known = await reads.address(accountId, asked.params.id);
      if (known === null) return unknownIn(asked, 'address', asked.params.id);
      const alone = await reads.isAlone(accountId, known);
      return accounts.ask(accountId, { type: 'set_address_status', known, status, alone, ...claimOf(asked) });
    });
    return answer.ok === true ? view(accountId, answer.reply) : answer;
  };

  return {
    createAddress: {
      replay,
      async handle(asked) {
        const accountId = accountOf(asked);
        const { chain, userRef, tag = null, label = null } = asked.body;
        const unavailable = notEnabled(chains, accountId, chain) ?? (await chains.notBegun(accountId, chain));
        if (unavailable !== null) return mayNotIssue(await stateOf(deps, accountId), chain, nowMs()) ?? unavailable;
        const issue = (paired: number | null) =>
          pools.issue(accountId, chain, (unissued) =>
            accounts.ask(accountId, {
              type: 'create_address',
              id: newId('adr', nowMs()),
              chain,
              userRef,
              tag,
              label,
              paired,
              unissued,
              ...claimOf(asked),
            }),
          );
        const pair = { chain, userRef, tag };
        const answer =
          FAMILY_OF[chain] === 'evm'
            ? await pairs.inTurn(accountId, pair, () =>
                onUnchangedPairs(async () => issue(await pairs.indexFor(accountId, pair))),
              )
            : await issue(null);
        // of the identity of this moment
        return answer.ok === true ? addressView({ retired: [] }, answer.reply, () => true) : answer;
      },
    },
    async listAddresses(asked) {
      const ask = listAskOf('addresses', asked.query);
      if (isRefusal(ask)) return ask;
      const accountId = accountOf(asked);
      const [rows, retired] = await Promise.all([
        reads.addresses(accountId, ask.filter, ask.page),
        reads.retiredIdentities(accountId),
      ]);
      const isSpendable = await spendableIn(accountId, rows.content);
      return pageAs(rows, (row) => addressView(retired, row, isSpendable));
    },
    async getAddress(asked) {
      const accountId = accountOf(asked);
      const row = await reads.address(accountId, asked.params.id);
      return row === null ? unknownIn(asked, 'address', asked.params.id) : view(accountId, row);
    },
    archiveAddress: { replay, handle: (asked) => setStatus(asked, 'archived') },
    unarchiveAddress: { replay, handle: (asked) => setStatus(asked, 'active') },
  };
}

/** Decides again on rows that are read again, where they changed between reading and writing. */
async function onUnchangedPairs<A extends { readonly ok: unknown }>(decide: () => Promise<A>): Promise<A> {
  for (let tries = 1; ; tries += 1) {
    const answer = await decide();
    const changed = isRefusal(answer) && answer.details['reason'] === PAIRS_CHANGED;
    if (!changed || tries === PAIR_TRIES) return answer;
  }
}
