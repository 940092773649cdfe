/** The sandbox's levers. Spec §4.7, decisions 8. Only test keys get here: the route table says so. */
import { advance } from '../../../actors/sandbox/rounds.ts';
import { CLOCK_DAYS_MAX } from '../../../protocol/schema/platform.ts';
import { isRefusal, notFound, type Refusal, refuse } from '../../../protocol/errors.ts';
import { accountOf, claimOf, type Handlers, unknownIn } from '../context.ts';
import { notEnabled, sandboxResets } from '../../../actors/account/guards.ts';
import { parseAddress } from '../../../chains/reading.ts';
import { stateOf } from '../account-state.ts';
import { timeOf } from '../../../actors/sandbox/time.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf } from '../views.ts';

const DAY_MS = 86_400_000;

type Area =
  | 'simulateDeposit'
  | 'simulateConfirmation'
  | 'simulateStuck'
  | 'simulateReplaced'
  | 'simulateEdgeOffline'
  | 'simulateEndpointFailure'
  | 'getSandboxClock'
  | 'advanceSandboxClock'
  | 'simulateReorg'
  | 'simulateChainDown'
  | 'resetSandbox';

export function sandboxHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    sandbox,
    chains,
    accounts,
    edges,
    nowMs,
    stores: { reads },
  } = deps;
  /** What a ledger would be given while it is deleted would be half gone. */
  const notNow = async (accountId: AccountId, chain: Chain): Promise<Refusal | null> =>
    notEnabled(chains, accountId, chain) ?? ((await stateOf(deps, accountId)).resetting ? sandboxResets() : null);
  return {
    async simulateDeposit(asked) {
      const accountId = accountOf(asked);
      const { chain, address, amount, tokenContract = null, autoConfirm, confirmAfterSeconds = null } = asked.body;
      const confirmation =
        autoConfirm === false // Said in so many words, it wins.
          ? { autoConfirm, confirmAfterSeconds: null }
          : { autoConfirm: autoConfirm ?? false, confirmAfterSeconds };
      const parsed = parseAddress(chain, address);
      if (isRefusal(parsed)) return parsed;
      const disabled = await notNow(accountId, chain);
      if (disabled !== null) return disabled;
      const known = await reads.addressByText(accountId, chain, parsed.canonical);
      if (known === null)
        return notFound('address', parsed.canonical, { field: 'address', chain, environment: 'sandbox' });
      return sandbox.simulateDeposit(accountId, {
        chain,
        address: parsed.canonical,
        amount,
        tokenContract,
        ...confirmation,
        aheadMs: (await stateOf(deps, accountId)).aheadMs,
      });
    },
    simulateConfirmation: async (asked) => {
      const accountId = accountOf(asked);
      return (await notNow(accountId, asked.body.chain)) ?? sandbox.simulateConfirmation(accountId, asked.body);
    },
    simulateStuck: async (asked) => {
      const accountId = accountOf(asked);
      return (await notNow(accountId, asked.body.chain)) ?? sandbox.simulateStuck(accountId, asked.body);
    },
    simulateReplaced: async (asked) => {
      const accountId = accountOf(asked);
      return (await notNow(accountId, asked.body.chain)) ?? sandbox.simulateReplaced(accountId, asked.body);
    },
    async simulateEdgeOffline(asked) {
      const accountId = accountOf(asked),
        { seconds } = asked.body;
      const { untilMs } = await sandbox.simulateEdgeOffline(accountId, seconds);
      // One that comes from now on finds the lever; one that was let in before goes here.
      if (seconds > 0) await edges.close(accountId, 'SERVICE_UNAVAILABLE');
      return { until: instantOf(untilMs) };
    },
    async simulateEndpointFailure(asked) {
      const { webhookId, attempts, status, delaySeconds } = asked.body;
      if (attempts > 0 && (status === undefined) === (delaySeconds === undefined))
        return refuse('INVALID_INPUT', { field: 'status', reason: 'give one of status and delaySeconds' });
      const accountId = accountOf(asked);
      const known = await reads.webhook(accountId, webhookId);
      if (known === null || known.status === 'deleted') return unknownIn(asked, 'webhook', webhookId);
      return sandbox.simulateEndpointFailure(accountId, asked.body);
    },
    async getSandboxClock(asked) {
      const { aheadMs } = await stateOf(deps, accountOf(asked));
      return { now: instantOf(nowMs() + aheadMs), aheadSeconds: Math.round(aheadMs / 1_000) };
    },
    async advanceSandboxClock(asked) {
      const { advanceSeconds, to } = asked.body;
      if ((advanceSeconds === undefined) === (to === undefined))
        return refuse('INVALID_INPUT', { field: 'advanceSeconds', reason: 'give one of advanceSeconds and to' });
      const accountId = accountOf(asked),
        fromMs = await timeOf(deps, accountId),
        toMs = to === undefined ? fromMs + advanceSeconds! * 1_000 : Date.parse(to);
      if (toMs < fromMs)
        return refuse('INVALID_INPUT', {
          field: 'to',
          reason: `a clock goes forward only, and it is ${instantOf(fromMs)}; DELETE /v1/sandbox/reset ends it`,
        });
      if (toMs - fromMs > CLOCK_DAYS_MAX * DAY_MS)
        return refuse('INVALID_INPUT', { field: 'to', reason: `at most ${CLOCK_DAYS_MAX} days in one call` });
      const { stores, log, chains: access } = deps;
      const { sweeps, rates, edge, registry } = stores;
      const parts = { stores, reads, accounts, sandbox, nowMs, log };
      const done = await advance({ ...parts, edges, sweeps, rates, edge, registry, chains: access }, accountId, toMs);
      if (isRefusal(done)) return done;
      const ran = done.ran.map(({ atMs, what, id }) => ({ at: instantOf(atMs), what, id }));
      return { now: instantOf(done.nowMs), ran };
    },
    simulateReorg: async (asked) => {
      const accountId = accountOf(asked);
      return (await notNow(accountId, asked.body.chain)) ?? sandbox.simulateReorg(accountId, asked.body);
    },
    async simulateChainDown(asked) {
      const accountId = accountOf(asked);
      const down: { untilMs: number } | Refusal =
        (await notNow(accountId, asked.body.chain)) ?? (await sandbox.simulateChainDown(accountId, asked.body));
      return isRefusal(down) ? down : { until: instantOf(down.untilMs) };
    },
    async resetSandbox(asked) {
      const accountId = accountOf(asked);
      // The mark goes first: what is deleted now would come again otherwise.
      const begun = await accounts.ask(accountId, { type: 'begin_reset' });
      if (begun.ok !== true) return begun;
      if (!(await sandbox.reset(accountId))) return sandboxResets();
      const answer = await accounts.ask(accountId, { type: 'reset_sandbox', ...claimOf(asked) });
      return answer.ok === true ? { reset: true as const } : answer;
    },
  };
}
