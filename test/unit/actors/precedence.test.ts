import test from 'ava';
import fc from 'fast-check';
import { firstRefusal } from '../../../actors/account/decision.ts';
import type { AccountCommand, AccountState } from '../../../model/account/capabilities.ts';
import { evm } from '../../../chains/evm/index.ts';
import type { ChainModule } from '../../../chains/chain.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { addressLimitOf } from '../../../protocol/plans.ts';
import { ERRORS, precedenceOf, refuse, type ErrorCode } from '../../../protocol/errors.ts';
import { commands, enrolled, IDENTITY, pushedKey, pushedPool, TestAccount, txn } from '../../support/account.ts';
import { inputsOf, RECIPIENT } from '../../support/evm-inputs.ts';

/** One reason to refuse: how it comes about. */
interface Reason {
  readonly code: ErrorCode;
  readonly bring: (state: AccountState) => AccountState;
}

/** For every set of reasons: the code that the table puts first among them is the answer. */
function holds(
  account: () => TestAccount,
  command: (account: TestAccount) => AccountCommand,
  reasons: readonly Reason[],
): string[] {
  const wrong: string[] = [];
  for (let set = 1; set < 2 ** reasons.length; set += 1) {
    const brought = reasons.filter((_, bit) => (set >> bit) % 2 === 1);
    const subject = account();
    const asked = command(subject);
    subject.state = brought.reduce((state, { bring }) => bring(state), subject.state);
    const expected = brought
      .map(({ code }) => code)
      .reduce((first, code) => (precedenceOf(code) < precedenceOf(first) ? code : first));
    const decision = subject.decide(asked);
    const answered = decision.ok ? 'accepted' : decision.code;
    if (answered !== expected)
      wrong.push(`${brought.map(({ code }) => code).join(' + ')}: ${answered}, not ${expected}`);
  }
  return wrong;
}

const suspended: Reason = { code: 'ACCOUNT_SUSPENDED', bring: (state) => ({ ...state, suspended: true }) };
const rotation: Reason = {
  code: 'IDENTITY_ROTATION_PENDING',
  bring: (state) => ({ ...state, rotation: { id: 'rot_1', publicKey: 'c'.repeat(64), keys: {}, detectedAtMs: 0 } }),
};

test('style (c): when several refusals apply to an address, the earlier one of the error table wins', (t) => {
  const premium = () =>
    enrolled({ plan: { tier: 'premium' } }, { keys: [pushedKey('evm')], pools: [pushedPool('sol', 2)] });
  const lapsed: Reason = {
    code: 'NO_SUBSCRIPTION',
    bring: (state) => ({ ...state, plan: { ...state.plan, subscription: 'lapsed' } }),
  };
  const full: Reason = {
    code: 'ADDRESS_LIMIT_EXCEEDED',
    bring: (state) => ({ ...state, activeAddresses: addressLimitOf(state.plan) }),
  };
  const empty: Reason = {
    code: 'EDGE_OFFLINE',
    bring: (state) => ({ ...state, pools: { sol: { ...state.pools.sol!, next: 2 } } }),
  };
  const red: Reason = { code: 'CHAIN_NOT_READY', bring: (state) => ({ ...state, enrolment: null }) };
  t.deepEqual(
    holds(premium, () => commands.createAddress({ chain: 'sol', unissued: pushedPool('sol', 2).addresses }), [
      suspended,
      lapsed,
      full,
      empty,
      red,
    ]),
    [],
  );
  const free = () => {
    const account = enrolled({ plan: { tier: 'free' } });
    account.state = { ...account.state, chains: ['btc', 'tron'] };
    return account;
  };
  t.like(free().refused(commands.createAddress()), { code: 'TIER_FEATURE_LOCKED', details: { feature: 'chains' } });
});

test('style (c): when several refusals apply to a build, the earlier one of the error table wins', (t) => {
  const address = (account: TestAccount): AddressRow => account.accept(commands.createAddress()).reply;
  const subject = () => enrolled({ modules: [evm as ChainModule], plan: { tier: 'free' } });
  const settled: Reason = {
    code: 'TIER_FEATURE_LOCKED',
    bring: (state) => ({ ...state, settled: { period: '2026-07', count: 100 } }),
  };
  const busy: Reason = {
    code: 'CONFLICT',
    bring: (state) => ({
      ...state,
      counters: {
        [`eth:${sender}`]: {
          next: '8',
          free: [],
          inFlight: Object.fromEntries(
            Array.from({ length: 16 }, (_, n) => [n, { id: `txn_${n}`, stage: 'signed' as const }]),
          ),
        },
      },
    }),
  };
  let sender = '';
  const build = (account: TestAccount): AccountCommand => {
    const from = address(account);
    sender = from.address;
    return {
      type: 'build_withdrawal',
      id: txn(),
      inputs: inputsOf(),
      from,
      tokenSymbol: 'ETH',
      decimals: 18,
      intent: {
        chain: 'eth',
        from: from.address,
        fromPath: from.derivationPath,
        to: RECIPIENT,
        amount: 1n,
        token: null,
        tag: null,
      },
    };
  };
  t.deepEqual(holds(subject, build, [suspended, rotation, settled, busy]), []);
});

test('style (c): when several refusals apply to signed bytes, the earlier one of the error table wins', (t) => {
  const subject = () => {
    const account = enrolled({ modules: [evm as ChainModule] });
    account.accept({ type: 'claim_lease', sessionId: 'ses_a', liveSessions: [] });
    return account;
  };
  const stale: Reason = {
    code: 'LEASE_EPOCH_STALE',
    bring: (state) => ({ ...state, lease: { ...state.lease, epoch: 9 } }),
  };
  const closed: Reason = { code: 'CONFLICT', bring: (state) => ({ ...state, withdrawals: {} }) };
  // The payload is none in every case: SIGNED_BATCH_REJECTED is always among the reasons.
  const always: Reason = { code: 'SIGNED_BATCH_REJECTED', bring: (state) => state };
  const submit = (account: TestAccount): AccountCommand => {
    const from = account.accept(commands.createAddress()).reply;
    const known: WithdrawalRow = account.accept({
      type: 'build_withdrawal',
      id: txn(),
      inputs: inputsOf(),
      from,
      tokenSymbol: 'ETH',
      decimals: 18,
      intent: {
        chain: 'eth',
        from: from.address,
        fromPath: from.derivationPath,
        to: RECIPIENT,
        amount: 1n,
        token: null,
        tag: null,
      },
    }).reply;
    return {
      type: 'submit_signed',
      known,
      signed: { chain: 'eth', payload: '0x00', txid: '0x00' },
      sessionId: 'ses_a',
      leaseEpoch: 1,
    };
  };
  for (const reasons of [
    [always],
    [always, suspended],
    [always, rotation],
    [always, stale, closed],
    [always, suspended, rotation, stale, closed],
  ]) {
    const wrong = holds(subject, submit, reasons).filter((line) => line.startsWith('SIGNED_BATCH_REJECTED'));
    t.deepEqual(wrong, [], reasons.map(({ code }) => code).join());
  }
  const late = subject();
  const asked = submit(late);
  late.state = stale.bring(closed.bring(late.state));
  t.is(
    late.refused({ ...asked, signed: { chain: 'eth', payload: '0x00', txid: '0x00' } } as AccountCommand).code,
    'SIGNED_BATCH_REJECTED',
  );
});

test('style (c): a sync of a suspended account that is quarantined says the earlier of both', (t) => {
  const wrong = holds(
    () => enrolled(),
    () => commands.enrol({ publicKey: IDENTITY, keys: [pushedKey('tron')] }),
    [suspended, rotation],
  );
  t.deepEqual(wrong, []);
});

test('the first refusal is the one with the lowest place in the table, in whatever order they are given', (t) => {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  t.is(firstRefusal(null, null), null);
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.shuffledSubarray(codes, { minLength: 1 }), (some) => {
        const first = firstRefusal(...some.map((code) => refuse(code)), null)!;
        return precedenceOf(first.code) === Math.min(...some.map(precedenceOf));
      }),
    ),
  );
});

test('I27 never over the address limit, whatever is created, archived and brought back', (t) => {
  const step = fc.record({
    act: fc.constantFrom('create' as const, 'archive' as const, 'unarchive' as const),
    which: fc.nat({ max: 120 }),
  });
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const account = enrolled({ plan: { tier: 'premium', band: 'launch' } });
        account.state = { ...account.state, activeAddresses: 995 };
        const rows: AddressRow[] = [];
        for (const { act, which } of steps) {
          if (act === 'create') {
            const decision = account.decide(commands.createAddress());
            if (decision.ok) rows.push(account.accept(commands.createAddress()).reply);
          } else {
            const index = which % Math.max(1, rows.length),
              known = rows[index];
            const command =
              known === undefined
                ? null
                : {
                    type: 'set_address_status' as const,
                    alone: true,
                    known,
                    status: act === 'archive' ? ('archived' as const) : ('active' as const),
                  };
            if (command !== null && account.attempt(command) === null)
              rows[index] = { ...known!, status: command.status };
          }
          if (account.state.activeAddresses > 1_000) return false;
          if (account.state.activeAddresses !== 995 + rows.filter(({ status }) => status === 'active').length)
            return false;
          if (new Set(rows.map(({ index }) => index)).size !== rows.length) return false;
        }
        return true;
      }),
      { numRuns: 60 },
    ),
  );
});
