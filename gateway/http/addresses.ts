/** Addresses. Spec §2.3, §4.2. */
import { refuse } from '../../protocol/errors.ts';
import { newId, type AccountId } from '../../protocol/ids.ts';
import { POOLED_CHAINS, type AddressStatus, type Chain } from '../../protocol/slugs.ts';
import type { AddressRow } from '../../persistence/rows.ts';
import { notEnabled } from './chain-input.ts';
import { accountOf, claimOf, type Asked, type Caller, type Handlers, type Replayable } from './context.ts';
import type { HandlerDeps } from './handlers.ts';
import { addressView, pageAs } from './views.ts';

/** Pool addresses that come along with one request: other requests may take the first ones meanwhile. */
const UNISSUED_OFFERED = 64;

type Area = 'createAddress' | 'listAddresses' | 'getAddress' | 'archiveAddress' | 'unarchiveAddress';

export function addressHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const { accounts, chains, stores: { reads }, nowMs } = deps;
  const view = async (accountId: AccountId, row: AddressRow) => addressView(await reads.retiredIdentities(accountId), row);
  const replay = async (stored: unknown, asked: { readonly caller: Caller }) => view(accountOf(asked), stored as AddressRow);

  const unissued = async (accountId: Parameters<typeof reads.unissuedPool>[0], chain: Chain) =>
    ((POOLED_CHAINS as readonly Chain[]).includes(chain) ? reads.unissuedPool(accountId, chain, UNISSUED_OFFERED) : []);

  const setStatus = (status: AddressStatus): Replayable<'archiveAddress'> => ({
    replay,
    async handle(asked: Asked<'archiveAddress'>) {
      const accountId = accountOf(asked);
      const known = await reads.address(accountId, asked.params.id);
      if (known === null) return refuse('NOT_FOUND');
      const answer = await accounts.ask(accountId, { type: 'set_address_status', known, status, ...claimOf(asked) });
      return answer.ok === true ? view(accountId, answer.reply) : answer;
    },
  });

  return {
    createAddress: {
      replay,
      async handle(asked) {
        const accountId = accountOf(asked);
        const { chain, userRef, tag = null, label = null } = asked.body;
        const unavailable = notEnabled(chains, accountId, chain) ?? await chains.notBegun(accountId, chain);
        if (unavailable !== null) return unavailable;
        const answer = await accounts.ask(accountId, {
          type: 'create_address', id: newId('adr', nowMs()), chain, userRef, tag, label,
          unissued: await unissued(accountId, chain), ...claimOf(asked),
        });
        return answer.ok === true ? addressView({}, answer.reply) : answer; // of the identity of this moment
      },
    },
    async listAddresses(asked) {
      const { page, size, ...filter } = asked.query;
      const accountId = accountOf(asked);
      const [rows, retired] = await Promise.all([reads.addresses(accountId, filter, { page, size }), reads.retiredIdentities(accountId)]);
      return pageAs(rows, (row) => addressView(retired, row));
    },
    async getAddress(asked) {
      const accountId = accountOf(asked);
      const row = await reads.address(accountId, asked.params.id);
      return row === null ? refuse('NOT_FOUND') : view(accountId, row);
    },
    archiveAddress: setStatus('archived'),
    unarchiveAddress: setStatus('active') as unknown as Replayable<'unarchiveAddress'>,
  };
}
