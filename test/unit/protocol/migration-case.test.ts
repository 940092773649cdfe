import test from 'ava';
import fc from 'fast-check';
import { capacityOf } from '../../../actors/migration/capacity.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { assess, caseOf } from '../../../protocol/migration/assessment.ts';
import type { Assessed } from '../../../protocol/migration/words.ts';
import { detectCaseBody } from '../../../protocol/schema/migration.ts';
import { BAND_TERMS } from '../../../protocol/plans.ts';
import { BANDS, CHAINS, FAMILY_OF, type Band, type Chain, type Tier } from '../../../protocol/slugs.ts';

const YES_NO = [false, true];
const ASKED: Assessed = {
  mnemonics: 1,
  hasRawKeys: false,
  providerHoldsKeys: false,
  standardWallet: true,
  addressCount: 500,
  chains: ['eth'],
};
const ROOM = { exceeds: false, projected: 500 };
function assessed(more: Partial<Assessed>, room = ROOM) {
  const found = assess({ ...ASKED, ...more }, room);
  if (isRefusal(found)) throw new Error(found.message);
  return found;
}
const actionsOf = (more: Partial<Assessed>) => assessed(more).steps.map(({ action }) => action);
const warnedOf = (more: Partial<Assessed>, room = ROOM) => assessed(more, room).warnings.map(({ code }) => code);

/** Phrases 0, 1, several; raw keys no, yes; standardWallet false, true, null: the cases of the table, by hand. */
const WITHOUT_CUSTODIAN = '--- DDD BAB EEE CCC EEE',
  WITH_CUSTODIAN = 'FFF EEE EEE EEE EEE EEE';

test('migration M-C2: 36 combinations: 33 have one case, 3 are refused; unsure is B', (t) => {
  const asTable = (providerHoldsKeys: boolean) =>
    [0, 1, 2]
      .flatMap((mnemonics) =>
        YES_NO.map((hasRawKeys) =>
          [false, true, null]
            .map((standardWallet) => caseOf({ mnemonics, hasRawKeys, providerHoldsKeys, standardWallet }) ?? '-')
            .join(''),
        ),
      )
      .join(' ');
  t.is(asTable(false), WITHOUT_CUSTODIAN);
  t.is(asTable(true), WITH_CUSTODIAN);
  t.is(`${WITHOUT_CUSTODIAN}${WITH_CUSTODIAN}`.replaceAll(/[- ]/g, '').length, 33);
});

test('migration M-C1, M-C3: who has no key at all is refused; a repeated chain, a number as text and a field more are malformed', (t) => {
  const refused = assess({ ...ASKED, mnemonics: 0 }, ROOM);
  t.like(refused, { code: 'INVALID_INPUT', details: { field: 'mnemonics', reason: 'no_keys' } });
  const takes = (more: object) => detectCaseBody.safeParse({ ...ASKED, ...more }).success;
  t.true(takes({}));
  t.true(takes({ standardWallet: undefined }) && takes({ standardWallet: null }));
  t.true(takes({ mnemonics: 1_000, addressCount: 100_000_000, chains: CHAINS }));
  for (const more of [
    { mnemonics: 1_001 },
    { mnemonics: -1 },
    { mnemonics: '1' },
    { mnemonics: 1.5 },
    { addressCount: 100_000_001 },
    { chains: [] },
    { chains: ['eth', 'eth'] },
    { chains: ['doge'] },
    { hasRawKeys: 1 },
    { providerHoldsKeys: undefined },
    { standardWallet: 'true' },
    { note: 'hello' },
  ])
    t.false(takes(more), JSON.stringify(more));
});

test('migration M-C5: what signs, by route and family', (t) => {
  const outlook = (more: Partial<Assessed>) =>
    assessed({ ...more, chains: CHAINS }).chains.map(
      ({ chain, route, signs, reason, discovery, listRequired }) =>
        `${chain} ${route} ${signs ? 'signs' : reason} ${discovery ? 'found' : ''}${listRequired ? 'listed' : ''}`,
    );
  const all = (says: (chain: Chain, kind: 'evm' | 'keyed' | 'pooled') => string) =>
    CHAINS.map(
      (chain) =>
        `${chain} ${says(chain, FAMILY_OF[chain] === 'evm' ? 'evm' : chain === 'sol' || chain === 'xlm' ? 'pooled' : 'keyed')}`,
    );
  const bySource = { evm: 'signs', keyed: 'family_not_signed', pooled: 'list_only' };
  const foundBy = { evm: 'found', keyed: 'found', pooled: 'listed' };
  t.deepEqual(
    outlook({}),
    all((_, kind) => `own_phrase signs ${foundBy[kind]}`),
  );
  for (const more of [{ standardWallet: null }, { mnemonics: 3 }, { hasRawKeys: true }])
    t.deepEqual(
      outlook(more),
      all((_, kind) => `key_source ${bySource[kind]} ${foundBy[kind]}`),
    );
  t.deepEqual(
    outlook({ mnemonics: 0, hasRawKeys: true }),
    all((_, kind) => `key_source ${bySource[kind]} listed`),
  );
  t.deepEqual(
    outlook({ mnemonics: 0, providerHoldsKeys: true }),
    all(() => 'watch_only no_key listed'),
  );
});

const HOME = ['validate', 'commit', 'observe', 'activate'];

test('migration M-C4, M-C6: steps of each case, in their order', (t) => {
  const project = ['create_project', 'discover', 'upload_list', ...HOME];
  t.deepEqual(actionsOf({}), ['start_edge_with_phrase', 'import_phrase', 'register_source', ...project]);
  const unknown = ['import_phrase', 'detect_path', 'register_source', ...project];
  t.deepEqual(actionsOf({ standardWallet: false }), unknown);
  t.deepEqual(actionsOf({ standardWallet: null }), unknown);
  t.deepEqual(actionsOf({ mnemonics: 7 }), unknown);
  const listed = ['create_project', 'upload_list', ...HOME];
  t.deepEqual(actionsOf({ mnemonics: 0, hasRawKeys: true }), ['import_keys', 'register_source', ...listed]);
  const custodian = ['ask_custodian', 'issue_new_addresses', 'move_funds'];
  t.deepEqual(actionsOf({ mnemonics: 0, providerHoldsKeys: true }), ['upload_list', ...custodian]);
  t.deepEqual(actionsOf({ mnemonics: 2, hasRawKeys: true, providerHoldsKeys: true }), [
    'split',
    'import_phrase',
    'detect_path',
    'import_keys',
    'register_source',
    ...project,
    ...custodian,
  ]);
  t.deepEqual(actionsOf({ mnemonics: 0, hasRawKeys: true, providerHoldsKeys: true }).slice(0, 3), [
    'split',
    'import_keys',
    'register_source',
  ]);
  const uploading = (chains: Chain[]) =>
    assessed({ chains }).steps.flatMap(({ action, optional }) => (action === 'upload_list' ? [optional] : []));
  t.deepEqual(uploading(['eth']), [true], 'a scan does instead');
  t.deepEqual(uploading(['eth', 'sol']), [false], 'these addresses are in a list or nowhere');
  const example = assessed({ standardWallet: null, chains: ['btc'] });
  t.deepEqual(example.assumed, ['standardWallet']);
  t.deepEqual(example.chains, [
    {
      chain: 'btc',
      route: 'key_source',
      signs: false,
      reason: 'family_not_signed',
      discovery: true,
      listRequired: false,
    },
  ]);
  t.like(example.steps[0], {
    order: 1,
    action: 'import_phrase',
    where: 'edge',
    how: 'flock-edge -- sources import phrase',
    optional: false,
  });
  t.deepEqual(example.warnings.find(({ code }) => code === 'not_signed')?.chains, ['btc']);
});

test('migration M-C7: each warning, when it applies and when it does not', (t) => {
  const when = (code: string, yes: [Partial<Assessed>, typeof ROOM?][], no: [Partial<Assessed>, typeof ROOM?][]) => {
    for (const [more, room] of yes) t.true((warnedOf(more, room) as string[]).includes(code), code);
    for (const [more, room] of no) t.false((warnedOf(more, room) as string[]).includes(code), `no ${code}`);
  };
  const custodian = { mnemonics: 0, providerHoldsKeys: true };
  when('keys_known_elsewhere', [[{}], [{ hasRawKeys: true, ...custodian }]], [[custodian]]);
  when('not_signed', [[{ standardWallet: false, chains: ['btc'] }], [custodian]], [[{ chains: ['btc'] }]]);
  when('list_required', [[{ chains: ['eth', 'xlm'] }], [custodian]], [[{}]]);
  when('evm_networks', [[{ chains: ['btc', 'avax'] }]], [[{ chains: ['btc'] }]]);
  when('unsure_taken_as_unknown', [[{ standardWallet: null }]], [[{}], [{ standardWallet: null, mnemonics: 2 }]]);
  when('tags_not_expressible', [[{ chains: ['xrp'] }], [{ chains: ['xlm'] }]], [[{ chains: ['sol'] }]]);
  when('range_beats_scan', [[{}]], [[{ addressCount: 0 }], [{ chains: ['sol'] }], [custodian]]);
  when('band_exceeded', [[{}, { exceeds: true, projected: 500 }]], [[{}]]);
  when(
    'above_self_service',
    [[{}, { exceeds: true, projected: 1_000_001 }]],
    [[{}, { exceeds: true, projected: 1_000_000 }]],
  );
  when(
    'standard_wallet_ignored',
    [[{ ...custodian }], [{ mnemonics: 2 }]],
    [[{}], [{ standardWallet: false }], [{ mnemonics: 2, standardWallet: null }]],
  );
  when(
    'count_unlikely',
    [[{ addressCount: 0 }], [{ mnemonics: 3, addressCount: 2 }]],
    [[{ mnemonics: 3, addressCount: 3 }]],
  );
  when('custodian_must_act', [[custodian], [{ providerHoldsKeys: true }]], [[{}]]);
});

test('migration M-C4: any answer but no_keys: orders count from one, each chain once in the order asked, warnings name asked chains only', (t) => {
  const answers = fc.record({
    mnemonics: fc.integer({ min: 0, max: 1_000 }),
    hasRawKeys: fc.boolean(),
    providerHoldsKeys: fc.boolean(),
    standardWallet: fc.constantFrom(true, false, null),
    addressCount: fc.integer({ min: 0, max: 100_000_000 }),
    chains: fc.uniqueArray(fc.constantFrom(...CHAINS), { minLength: 1 }),
  });
  t.notThrows(() =>
    fc.assert(
      fc.property(answers, fc.boolean(), (asked, exceeds) => {
        const found = assess(asked, { exceeds, projected: asked.addressCount });
        if (isRefusal(found)) return asked.mnemonics === 0 && !asked.hasRawKeys && !asked.providerHoldsKeys;
        const { steps, chains, warnings } = found;
        const codes = warnings.map(({ code }) => code);
        return (
          steps.every(({ order }, at) => order === at + 1) &&
          chains.every(({ chain, signs, reason }, at) => chain === asked.chains[at] && signs === (reason === null)) &&
          new Set(codes).size === codes.length &&
          warnings.every((one) => one.chains.length > 0 && one.chains.every((chain) => asked.chains.includes(chain)))
        );
      }),
      { numRuns: 200 },
    ),
  );
});

const plan = (band: Band, tier: Tier = 'premium') =>
  ({ band, tier, subscription: 'active', paymentsActive: false }) as const;

test('migration M-I9: capacity: against the purchased band; the required one is the smallest that holds them; sandbox has none', (t) => {
  const account = { environment: 'live' as const, plan: plan('launch'), activeAddresses: 999 };
  t.deepEqual(capacityOf(account, 1), {
    band: 'launch',
    limit: 1_000,
    current: 999,
    adopting: 1,
    projected: 1_000,
    exceeds: false,
    requiredBand: 'launch',
    monthlyFeeCents: { current: 9_900, required: 9_900 },
  });
  t.like(capacityOf(account, 2), {
    projected: 1_001,
    exceeds: true,
    requiredBand: 'growth',
    monthlyFeeCents: { current: 9_900, required: 49_900 },
  });
  t.like(capacityOf(account, 2_000_000), {
    requiredBand: 'custom',
    monthlyFeeCents: { current: 9_900, required: null },
  });
  t.like(capacityOf({ ...account, plan: plan('scale', 'free') }, 0), {
    limit: 100,
    exceeds: true,
    monthlyFeeCents: { current: 0, required: 199_900 },
  });
  t.like(capacityOf({ ...account, environment: 'sandbox' }, 50_000_000), {
    band: null,
    limit: null,
    exceeds: false,
    requiredBand: null,
  });
  for (const band of BANDS.slice(0, -1))
    t.like(capacityOf({ ...account, plan: plan(band), activeAddresses: 0 }, BAND_TERMS[band].addresses), {
      exceeds: false,
      requiredBand: band,
    });
});
