/** What the clock does for links, page by page: payments 3.2, M11, S17. */
import test from 'ava';
import { lentRound, paymentRound, type RoundParts } from '../../../actors/payment/rounds.ts';
import type { DueLink } from '../../../model/ports/payment-store.ts';
import type { AccountId } from '../../../protocol/ids.ts';

const PAGE = 500;
const STUCK = 'org_a_live' as AccountId,
  FOREIGN = 'org_b_live' as AccountId,
  FAULTY = 'org_c_live' as AccountId,
  LAST = 'org_d_live' as AccountId;

const linksOf = (accountId: AccountId, count: number): DueLink[] =>
  Array.from({ length: count }, (_, n) => ({ accountId, id: `lnk_${String(n).padStart(4, '0')}`, at: 'then' }));
/** A page of them behind one, as the database gives it. */
const pageOf = (all: readonly DueLink[]) => async (behind: DueLink | null, limit: number) => {
  const from = behind === null ? 0 : all.findIndex((one) => one.accountId === behind.accountId && one.id === behind.id);
  return all.slice(behind === null ? 0 : from + 1).slice(0, limit);
};

/** Links of an account that refuses, of another node, of one whose actor fails, and of one that is asked last. */
const ALL = [...linksOf(STUCK, PAGE + 1), ...linksOf(FOREIGN, PAGE), ...linksOf(FAULTY, 1), ...linksOf(LAST, 1)];

function parts(said: string[]): RoundParts {
  const page = pageOf(ALL);
  return {
    payments: {
      expire: async () => 1,
      erase: async () => 0,
      expireEnded: async () => null,
      forgetResting: async () => 0,
      due: (_nowMs: number, behind: DueLink | null, limit: number) => page(behind, limit),
      monitored: (_nowMs: number, behind: DueLink | null, limit: number) => page(behind, limit),
      retired: page,
      release: async (accountId: AccountId) => said.push(`release ${accountId}`) > 0 && accountId === LAST,
    },
    reads: {
      paymentLink: async (_accountId: AccountId, id: string) => ({ id, chain: 'eth' }),
      headOf: async () => 1,
      paidAddresses: async () => [{ id: 'adr_1' }],
    },
    accounts: {
      ask: async (accountId: AccountId, { type }: { type: string }) => {
        if (accountId === FAULTY) throw new Error('its actor fails');
        said.push(`${type} ${accountId}`);
        return accountId === STUCK ? { ok: false, code: 'CHAIN_NOT_READY' } : { ok: true, reply: { closed: true } };
      },
    },
    nowMs: () => 1,
    isMine: (accountId: AccountId) => accountId !== FOREIGN,
    log: { warn: (facts: object) => void said.push(`warned of ${(facts as DueLink).accountId}`) },
  } as unknown as RoundParts;
}

test('payments 3.2: links of an account that refuses or fails, and those of other nodes, hide nobody’s that are due', async (t) => {
  const said: string[] = [];
  t.deepEqual(await paymentRound(parts(said)), { expired: 1, closed: 1 });
  t.is(said.filter((one) => one === `close_due_link ${STUCK}`).length, PAGE + 1);
  t.deepEqual(said.slice(PAGE + 1), [`warned of ${FAULTY}`, `close_due_link ${LAST}`]);
});

test('payments S17, M11: 500 shared links of an account that is not ready keep nobody else’s on a retired identity; releases come page by page too', async (t) => {
  const said: string[] = [];
  t.deepEqual(await lentRound(parts(said)), { released: 1 });
  for (const type of ['relend_link', 'set_address_status', 'release']) {
    const of = said.filter((one) => one.startsWith(type));
    t.is(of.filter((one) => one.endsWith(STUCK)).length, PAGE + 1, type);
    t.is(of.at(-1), `${type} ${LAST}`);
    t.false(said.includes(`${type} ${FOREIGN}`));
  }
  t.is(said.filter((one) => one === `warned of ${FAULTY}`).length, 2);
});

test('payments P11, S17: what cannot expire is passed over and said once, and what is behind it expires', async (t) => {
  const said: string[] = [],
    parted = parts(said),
    left = new Map<string, number | null>([
      ['lnk_first', null],
      ['lnk_even', 500],
      ['org_z_live', 1],
    ]);
  const expireEnded = async (limit: number, passed: readonly string[]) => {
    const [subject, waiting] = [...left].find(([id]) => !passed.includes(id)) ?? [];
    if (subject === undefined) return null;
    if (waiting === null) return { subject, expired: 0, trouble: 'its row is refused' };
    const expired = Math.min(limit, waiting!);
    if (expired < limit) left.delete(subject);
    else left.set(subject, waiting! - expired);
    return { subject, expired, trouble: null };
  };
  const warned: object[] = [];
  const { expired } = await paymentRound({
    ...parted,
    payments: { ...parted.payments, due: async () => [], expireEnded },
    log: { warn: (facts) => void warned.push(facts) },
  });
  t.is(expired, 1 + 500 + 1);
  t.deepEqual(warned, [{ what: 'lnk_first', reason: 'its row is refused' }]);
  t.deepEqual([...left.keys()], ['lnk_first'], 'it is tried again with the next round');
});
