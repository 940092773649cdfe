/** Every limit of the table of tiers at one below, at, and one above; sandbox is exempt. Spec §8; console B5, B19. */
import test from 'ava';
import type { AccountCommand, AccountState } from '../../../model/account/capabilities.ts';
import type { Plan } from '../../../model/account/plan.ts';
import type { WebhookRow } from '../../../model/rows/webhook.ts';
import { tierLimit } from '../../../actors/plan/limits.ts';
import { TIER_TERMS } from '../../../protocol/plans.ts';
import { newUuid } from '../../../protocol/node/ids.ts';
import { BANDS, CHAINS, TIERS, type Environment } from '../../../protocol/slugs.ts';
import { commands, NOW_MS, pushedKey, TestAccount } from '../../support/account.ts';
import { Sender } from '../../support/sender.ts';

const MONTH = '2026-07';
const state = (account: TestAccount, more: Partial<AccountState>): void => {
  account.state = { ...account.state, ...more };
};
const hook = (account: TestAccount): AccountCommand => {
  const row: WebhookRow = {
    id: newUuid(NOW_MS),
    accountId: account.state.accountId,
    url: 'https://example.com/hook',
    events: ['deposit_confirmed'],
    sealedSecrets: ['v1.x.y'],
    secretPreview: 'whsec_ab…',
    status: 'enabled',
    createdAtMs: NOW_MS,
    updatedAtMs: NOW_MS,
  };
  return { type: 'create_webhook', row };
};

interface Row {
  readonly feature: string;
  readonly limit: number;
  readonly plan: Partial<Plan>;
  readonly code: 'TIER_FEATURE_LOCKED' | 'ADDRESS_LIMIT_EXCEEDED';
  readonly requiredTier?: string | null;
  /** What answers when there are `count` already. */
  ask(options: { environment: Environment; plan: Partial<Plan> }, count: number): ReturnType<TestAccount['attempt']>;
}

function refusalOf(account: TestAccount, command: AccountCommand): ReturnType<TestAccount['attempt']> {
  const decision = account.decide(command);
  return decision.ok ? null : decision;
}

const createAddress: Row['ask'] = (options, activeAddresses) => {
  const account = new TestAccount(options);
  account.accept(commands.enrol());
  state(account, { activeAddresses });
  return account.attempt(commands.createAddress());
};
const settledOf = (sender: Sender, count: number) => {
  state(sender.account, { settledBy: { [MONTH]: count } });
};
const free: Partial<Plan> = { tier: 'free' };
const ROWS: readonly Row[] = [
  {
    feature: 'chains',
    limit: 2,
    plan: free,
    code: 'TIER_FEATURE_LOCKED' as const,
    requiredTier: 'premium',
    ask: (options, count) => {
      const account = new TestAccount(options);
      account.accept(commands.enrol({ keys: [pushedKey('evm'), pushedKey('btc')] }));
      state(account, { chains: CHAINS.filter((chain) => chain !== 'btc').slice(0, count) });
      return account.attempt(commands.createAddress({ chain: 'btc' }));
    },
  },
  {
    feature: 'addresses',
    limit: 100,
    plan: free,
    code: 'TIER_FEATURE_LOCKED' as const,
    requiredTier: 'premium',
    ask: createAddress,
  },
  ...BANDS.map((band) => ({
    feature: `addresses of ${band}`,
    limit: { launch: 1_000, growth: 10_000, scale: 100_000, enterprise: 1_000_000, custom: 10_000_000 }[band],
    plan: { tier: 'premium', band } as const,
    code: 'ADDRESS_LIMIT_EXCEEDED' as const,
    ask: createAddress,
  })),
  {
    feature: 'settledTransactions',
    limit: 100,
    plan: free,
    code: 'TIER_FEATURE_LOCKED' as const,
    requiredTier: 'premium',
    ask: (options, count) => {
      const sender = new Sender(options);
      settledOf(sender, count);
      return sender.account.attempt(sender.build());
    },
  },
  {
    feature: 'settledTransactions',
    limit: 100,
    plan: free,
    code: 'TIER_FEATURE_LOCKED' as const,
    requiredTier: 'premium',
    // Settled, and signed ones that may be.
    ask: (options, count) => {
      const sender = new Sender(options);
      settledOf(sender, count - 3);
      const { id } = sender.built();
      const signed = { txn_1: true, txn_2: true, txn_3: true } as const;
      state(sender.account, { signed });
      const atBinding = refusalOf(sender.account, sender.bind(id));
      state(sender.account, { signed: {}, settledBy: {} });
      sender.do(sender.bind(id));
      state(sender.account, { signed, settledBy: { [MONTH]: count - 3 } });
      const atSubmit = refusalOf(sender.account, sender.submit(id));
      if (atBinding?.code !== atSubmit?.code) throw new Error('the two moments of a broadcast disagree');
      return atSubmit;
    },
  },
  ...(['free', 'premium'] as const).map((tier) => ({
    feature: 'webhooks',
    limit: TIER_TERMS[tier].webhooks!,
    plan: { tier },
    code: 'TIER_FEATURE_LOCKED' as const,
    requiredTier: tier === 'free' ? 'premium' : 'ultimate',
    ask: (options: Parameters<Row['ask']>[0], count: number) => {
      const account = new TestAccount(options);
      state(account, { webhooks: Array.from({ length: count }, () => newUuid(NOW_MS)) });
      return account.attempt(hook(account));
    },
  })),
  ...(['free', 'premium'] as const).map((tier) => ({
    feature: 'edgeSessions',
    limit: TIER_TERMS[tier].edgeSessions!,
    plan: { tier },
    code: 'TIER_FEATURE_LOCKED' as const,
    requiredTier: tier === 'free' ? 'premium' : 'ultimate',
    ask: (options: Parameters<Row['ask']>[0], count: number) =>
      tierLimit(new TestAccount(options).state, 'edgeSessions', count, TIER_TERMS[tier].edgeSessions),
  })),
];

for (const [place, row] of ROWS.entries()) {
  test(`console B19: ${row.feature} (${place}): taken below ${row.limit}, refused at it and above, never in sandbox`, (t) => {
    const { ask, limit, plan, code, feature } = row;
    t.is(ask({ environment: 'live', plan }, limit - 1), null);
    for (const count of [limit, limit + 1]) {
      const refusal = ask({ environment: 'live', plan }, count);
      t.is(refusal?.code, code);
      t.like(refusal?.details, { limit, current: count });
      if (code === 'TIER_FEATURE_LOCKED')
        t.like(refusal?.details, { feature, tier: plan.tier, requiredTier: row.requiredTier });
      else t.like(refusal?.details, { band: plan.band });
      t.is(ask({ environment: 'sandbox', plan }, count), null);
    }
  });
}

test('console B5: of twenty builds of Free for the last place one is broadcast; what is signed already is not refused', (t) => {
  const sender = new Sender({ plan: free });
  settledOf(sender, 99);
  const ids = Array.from({ length: 20 }, (_, n) => sender.built(7 + n).id);
  const bound = ids.filter((id) => {
    if (refusalOf(sender.account, sender.bind(id)) !== null) return false;
    sender.do(sender.bind(id));
    sender.do(sender.submit(id));
    return true;
  });
  t.is(bound.length, 1);
  t.deepEqual(Object.keys(sender.account.state.signed), bound);
  t.is(refusalOf(sender.account, sender.submit(bound[0]!)), null);
  t.is(refusalOf(sender.account, sender.bind(bound[0]!)), null);
});

test('console B5: a band goes on above what it includes, and so does the highest tier', (t) => {
  for (const tier of TIERS.filter((one) => one !== 'free')) {
    const sender = new Sender({ plan: { tier, band: 'launch' } });
    settledOf(sender, 5_000_000);
    t.notThrows(() => sender.sent());
  }
});
