/** What is swept, when, and where to. Spec §2.10; treasury 5.1, S1–S4. */
import { sweptContract } from '../../../actors/sweep/asset.ts';
import { fundingModesOf } from '../../../actors/sweep/policy.ts';
import { checkPreview } from '../../../actors/sweep/preview-hash.ts';
import type { Registry } from '../../../chains/catalogue.ts';
import type { LastCycle, SweepPolicy, SweepSettings } from '../../../model/account/sweep.ts';
import { isRefusal, type Refusal } from '../../../protocol/errors.ts';
import { newUuid } from '../../../protocol/node/ids.ts';
import type { BodyOf, ReplyOf } from '../../../protocol/routes.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, type Asked, claimOf, type Handlers, unknownIn } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, instantOrNull, wholePage } from '../views.ts';

type Area =
  | 'createSweepPolicy'
  | 'listSweepPolicies'
  | 'getSweepPolicy'
  | 'replaceSweepPolicy'
  | 'deleteSweepPolicy'
  | 'pauseSweepPolicy'
  | 'resumeSweepPolicy';
type Change = 'deleteSweepPolicy' | 'pauseSweepPolicy' | 'resumeSweepPolicy';
const CHANGES = {
  deleteSweepPolicy: 'delete_sweep_policy',
  pauseSweepPolicy: 'pause_sweep_policy',
  resumeSweepPolicy: 'resume_sweep_policy',
} as const satisfies Record<Change, string>;

export function policyHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const { accounts, chains, nowMs } = deps;
  const replay = async (stored: unknown) => policyView(stored as SweepPolicy);
  const change = (route: Change) => ({
    replay,
    async handle(asked: Asked<Change>) {
      const { policyId: id } = asked.params;
      const answer = await accounts.ask(accountOf(asked), { type: CHANGES[route], id, ...claimOf(asked) });
      return answer.ok === true ? policyView(answer.reply) : answer;
    },
  });
  return {
    createSweepPolicy: {
      replay,
      async handle(asked) {
        const settings = settingsOf(asked.body, chains.tokens.current);
        if (isRefusal(settings)) return settings;
        const unseen = notPreviewed(asked, settings, chains.tokens.current, nowMs());
        if (unseen !== null) return unseen;
        const id = newUuid(nowMs());
        const command = { type: 'create_sweep_policy', id, settings, ...claimOf(asked) } as const;
        const answer = await accounts.ask(accountOf(asked), command);
        return answer.ok === true ? policyView(answer.reply) : answer;
      },
    },
    async listSweepPolicies(asked) {
      const { sweepPolicies } = await stateOf(deps, accountOf(asked));
      return wholePage('sweep-policies', sweepPolicies.map(policyView), asked.query, ({ id }) => id);
    },
    async getSweepPolicy(asked) {
      const { sweepPolicies } = await stateOf(deps, accountOf(asked));
      const known = sweepPolicies.find(({ id }) => id === asked.params.policyId);
      return known === undefined ? unknownIn(asked, 'sweep policy', asked.params.policyId) : policyView(known);
    },
    replaceSweepPolicy: {
      replay,
      async handle(asked) {
        const settings = settingsOf(asked.body, chains.tokens.current);
        if (isRefusal(settings)) return settings;
        const unseen = notPreviewed(asked, settings, chains.tokens.current, nowMs());
        if (unseen !== null) return unseen;
        const { policyId: id } = asked.params,
          version = asked.body.version ?? null;
        const command = { type: 'replace_sweep_policy', id, settings, version, ...claimOf(asked) } as const;
        const answer = await accounts.ask(accountOf(asked), command);
        return answer.ok === true ? policyView(answer.reply) : answer;
      },
    },
    deleteSweepPolicy: change('deleteSweepPolicy'),
    pauseSweepPolicy: change('pauseSweepPolicy'),
    resumeSweepPolicy: change('resumeSweepPolicy'),
  };
}

/** The settings of a body, with what is left out. Refuses: TOKEN_NOT_SUPPORTED, _ON_CHAIN, _SWEEPABLE. */
export function settingsOf(
  body: Omit<BodyOf<'createSweepPolicy'>, 'previewHash'>,
  registry: Registry,
): SweepSettings | Refusal {
  const { chain } = body;
  const token = sweptContract(chain, body.token, registry);
  if (isRefusal(token)) return token;
  return {
    chain,
    token,
    enabled: body.enabled,
    triggerMode: body.triggerMode,
    minAmount: body.minAmount ?? null,
    scheduleCron: body.scheduleCron ?? null,
    scheduleTimeZone: body.scheduleTimeZone,
    treasuryWalletId: body.treasuryWalletId,
    gasFundingMode: body.gasFundingMode ?? fundingModesOf({ chain, token })[0]!,
    fundingWalletId: body.fundingWalletId ?? null,
    dustFloor: body.dustFloor,
    maxFeeRatioBps: body.maxFeeRatioBps ?? null,
    abortIfGasExceeds: body.abortIfGasExceeds ?? null,
    pauseOnConsecutiveFailures: body.pauseOnConsecutiveFailures,
    retainGasFloat: body.retainGasFloat,
    closeTokenAccounts: body.closeTokenAccounts,
    energy: body.energy ?? null,
  };
}

/** Who enables a policy in the console has seen what it does; a program is held to a preview that it names. Y5. */
function notPreviewed(
  { caller, body }: Pick<Asked<'createSweepPolicy' | 'replaceSweepPolicy'>, 'caller' | 'body'>,
  settings: SweepSettings,
  registry: Registry,
  nowMs: number,
): Refusal | null {
  const previewHash = body.previewHash ?? null;
  if (!settings.enabled || (caller.bearer === null && previewHash === null)) return null;
  return checkPreview(settings, registry.version, previewHash, nowMs);
}

function policyView(policy: SweepPolicy): ReplyOf<'getSweepPolicy'> {
  const { createdAtMs, updatedAtMs, pausedAtMs, nextRunAtMs, lastCycle, ...rest } = policy;
  return {
    ...rest,
    pausedAt: instantOrNull(pausedAtMs),
    nextRunAt: instantOrNull(nextRunAtMs),
    lastCycle: lastCycle === null ? null : cycleView(lastCycle),
    createdAt: instantOf(createdAtMs),
    updatedAt: instantOf(updatedAtMs),
  };
}

const cycleView = ({ atMs, ...cycle }: LastCycle) => ({ at: instantOf(atMs), ...cycle });
