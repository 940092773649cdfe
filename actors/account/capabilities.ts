/** What the account is composed of. A new capability is a folder and a line in each of these lists. */
import type { AccountCommand, AccountState } from '../../model/account/capabilities.ts';
import { address } from '../address/capability.ts';
import { bridge } from '../bridge/capability.ts';
import { billing } from '../billing/capability.ts';
import { sandbox } from '../sandbox/capability.ts';
import { edgeLink } from '../edge-link/capability.ts';
import { keySource } from '../key-source/capability.ts';
import { payment } from '../payment/capability.ts';
import { migration } from '../migration/capability.ts';
import { plan } from '../plan/capability.ts';
import { sweep } from '../sweep/capability.ts';
import { treasury } from '../treasury/capability.ts';
import { webhook } from '../webhook/capability.ts';
import { wipe } from '../wipe/capability.ts';
import { outgoing } from '../outgoing/capability.ts';
import { accept, type AccountDecision, type Deciding } from './decision.ts';
import { applyFacts } from './facts.ts';

export const CAPABILITIES = {
  sandbox,
  edgeLink,
  keySource,
  address,
  outgoing,
  webhook,
  plan,
  billing,
  treasury,
  sweep,
  bridge,
  payment,
  migration,
  wipe,
} as const;

type Decisions = { readonly [T in AccountCommand['type']]: (deciding: Deciding<T>) => AccountDecision<T> };

/** What of sweeps goes by the real time: it is compared with what edges and chains say. */
const BY_REAL_TIME: ReadonlySet<string> = new Set<AccountCommand['type']>(['move_sweep_operation', 'retry_sweep_job']);
/** What goes by the account's own clock. */
const BY_ITS_CLOCK: ReadonlySet<string> = new Set(
  [payment, sweep, migration]
    .flatMap(({ decide }) => Object.keys(decide))
    .filter((type) => !BY_REAL_TIME.has(type))
    .concat('replay_delivery' satisfies AccountCommand['type']),
);

/** The instant of a decision: ecosystem X75. */
export const instantFor = (type: AccountCommand['type'], { aheadMs }: Pick<AccountState, 'aheadMs'>, realMs: number) =>
  BY_ITS_CLOCK.has(type) ? realMs + aheadMs : realMs;

export const DECISIONS: Decisions = {
  ...sandbox.decide,
  ...edgeLink.decide,
  ...keySource.decide,
  ...address.decide,
  ...outgoing.decide,
  ...webhook.decide,
  ...treasury.decide,
  ...sweep.decide,
  ...bridge.decide,
  ...plan.decide,
  ...billing.decide,
  ...payment.decide,
  ...migration.decide,
  ...wipe.decide,
  apply_facts: applyFacts,
  inspect: ({ state }) => accept(state),
};
