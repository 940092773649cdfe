/** What a merchant reads of payments and chains. payments P23, S22. */
import { MINIMUMS, nativeMinimumOf, tokenMinimumOf, type Minimums } from '../../../actors/payment/minimum.ts';
import { unpaidMax } from '../../../actors/payment/open.ts';
import { readinessOf } from '../../../actors/edge-link/readiness.ts';
import type { Tokens } from '../../../chains/tokens.ts';
import { ChainUnavailable } from '../../../chains/chain.ts';
import type { AccountState } from '../../../model/account/capabilities.ts';
import type { PaymentLinkRow, PaymentRow } from '../../../model/rows/payment.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { formatAmount } from '../../../protocol/money.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { COUNTED_ROWS_MAX } from '../../../protocol/page.ts';
import {
  CHECKOUT_CHAINS,
  FAMILY_OF,
  type CheckoutChain,
  type Family,
  type PaymentStatus,
} from '../../../protocol/slugs.ts';
import { stateOf } from '../account-state.ts';
import { timeOf } from '../../../actors/sandbox/time.ts';
import { accountOf, type Handlers, unknownIn } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { chainPlace, instantOf, listAskOf, pageAs, wholePage } from '../views.ts';
import { attestedAhead } from './attestations.ts';
import type { Economics } from './economics.ts';
import { gapLimitsOf } from './gap-limits.ts';
import { paymentView, shownOf } from './session-view.ts';

type Row = ReplyOf<'getPaymentReadiness'>['content'][number];

/** Unpaid ones only when asked for. S22. */
const WITH_MONEY: readonly PaymentStatus[] = ['detected', 'underpaid', 'confirmed', 'late'];
const statusesOf = ({ status }: { readonly status?: PaymentStatus }): readonly PaymentStatus[] =>
  status === undefined ? WITH_MONEY : [status];

export function merchantReadHandlers(
  deps: HandlerDeps,
  economics: Economics,
): Pick<Handlers, 'listLinkPayments' | 'listPayments' | 'getPayment' | 'getPaymentReadiness'> {
  const {
    stores: { reads },
    config,
  } = deps;
  /** Payments with their transfers, as their merchant sees them; each link is one of `links`. */
  async function viewsOf(accountId: AccountId, rows: readonly PaymentRow[], links: readonly PaymentLinkRow[]) {
    const [found, retired, atMs] = await Promise.all([
      reads.paymentTransfers(
        accountId,
        rows.map(({ id }) => id),
      ),
      reads.retiredIdentities(accountId),
      timeOf(deps, accountId),
    ]);
    const transfers = Map.groupBy(found, ({ paymentId }) => paymentId),
      linkOf = new Map(links.map((link) => [link.id, link]));
    return (row: PaymentRow) => {
      const link = linkOf.get(row.linkId)!;
      return paymentView(link, row, retired, shownOf(config.publicUrl, link, transfers.get(row.id) ?? []), atMs);
    };
  }

  return {
    async listLinkPayments(asked) {
      const accountId = accountOf(asked),
        ask = listAskOf('payments', asked.query);
      if (isRefusal(ask)) return ask;
      const link = await reads.paymentLink(accountId, asked.params.id);
      if (link === null) return unknownIn(asked, 'payment link', asked.params.id);
      const page = await reads.payments(accountId, { linkId: link.id, statuses: statusesOf(ask.filter) }, ask.page);
      return pageAs(page, await viewsOf(accountId, page.content, [link]));
    },
    async listPayments(asked) {
      const accountId = accountOf(asked),
        ask = listAskOf('payments', asked.query);
      if (isRefusal(ask)) return ask;
      const page = await reads.payments(accountId, { statuses: statusesOf(ask.filter) }, ask.page);
      const links = await reads.paymentLinksAmong(accountId, [...new Set(page.content.map(({ linkId }) => linkId))]);
      return pageAs(page, await viewsOf(accountId, page.content, links));
    },
    async getPayment(asked) {
      const accountId = accountOf(asked),
        { id } = asked.params;
      const row = await reads.payment(accountId, id);
      if (row === null) return unknownIn(asked, 'payment', id);
      const links = await reads.paymentLinksAmong(accountId, [row.linkId]);
      return (await viewsOf(accountId, [row], links))(row);
    },
    async getPaymentReadiness(asked) {
      const accountId = accountOf(asked),
        state = await stateOf(deps, accountId);
      const ahead = await attestedAhead(deps, accountId, state),
        resting = await reads.restingCounts(accountId, COUNTED_ROWS_MAX),
        gapLimitOf = await gapLimitsOf(reads, state, [...new Set(CHECKOUT_CHAINS.map((chain) => FAMILY_OF[chain]))]),
        atMs = deps.nowMs();
      const rows = await Promise.all(
        CHECKOUT_CHAINS.map(async (chain) => {
          const { gapLimitNeeded, countedAtMs } = gapLimitOf(FAMILY_OF[chain]);
          return {
            ...(await readinessRow(deps, economics, state, chain, resting)),
            gapLimitNeeded,
            gapLimitAsOf: gapLimitNeeded === null ? null : instantOf(countedAtMs ?? atMs),
            attestationsAhead: ahead(chain),
          };
        }),
      );
      return wholePage('payment-readiness', rows, asked.query, ({ chain }) => chainPlace(chain));
    },
  };
}

async function readinessRow(
  { chains, config: { minimums = MINIMUMS, unpaidMax: set } }: HandlerDeps,
  economics: Economics,
  state: AccountState,
  chain: CheckoutChain,
  resting: ReadonlyMap<Family, number>,
): Promise<Omit<Row, 'attestationsAhead' | 'gapLimitNeeded' | 'gapLimitAsOf'>> {
  const { nativeSymbol, nativeDecimals, threshold } = chains.networkOf(chain),
    { accountId } = state,
    family = FAMILY_OF[chain];
  const enabled = chains.enabled(accountId).includes(chain),
    readiness = readinessOf(state, chain);
  const asked = enabled && readiness === 'ready';
  const fee = asked ? await economics.sweepFee(accountId, chain, false).catch(silent) : null,
    known = fee === null || isRefusal(fee) ? null : fee;
  const reason = !state.plan.paymentsActive
    ? 'not_active'
    : !enabled
      ? 'not_enabled'
      : readiness === 'quarantined'
        ? 'quarantined'
        : readiness !== 'ready'
          ? 'not_ready'
          : known === null
            ? 'chain_unavailable'
            : null;
  return {
    chain,
    ready: reason === null,
    reason,
    asset: nativeSymbol,
    nativeMinimum: known === null ? null : formatAmount(nativeMinimumOf(minimums, chain, known.fee), nativeDecimals),
    estimatedSweepFee: known === null ? null : formatAmount(known.fee, nativeDecimals),
    feeAsOf: known === null ? null : instantOf(known.asOfMs),
    tokens: tokensOf(minimums, chain, chains.tokens),
    threshold,
    unpaidAddresses: {
      open: state.unpaid[family] ?? 0,
      resting: resting.get(family) ?? 0,
      limit: unpaidMax(state, set),
    },
  };
}

/** Tokens that a link may ask for on a chain. */
function tokensOf(minimums: Minimums, chain: CheckoutChain, tokens: Tokens): Row['tokens'] {
  const superseded = new Set(
    tokens.current.tokens.flatMap(({ deployments }) =>
      deployments.filter((one) => one.chain === chain && one.deprecated).map(({ contract }) => contract),
    ),
  );
  return [...tokens.catalogueOf(chain).values()]
    .filter(({ contract }) => !superseded.has(contract))
    .map(({ symbol, contract, decimals }) => ({
      symbol,
      contract,
      decimals,
      minimum: formatAmount(tokenMinimumOf(minimums, chain, symbol, decimals), decimals),
    }));
}

const silent = (error: unknown): null => {
  if (error instanceof ChainUnavailable) return null;
  throw error;
};
