/** Windows of scans over PostgreSQL, with chains that answer as a test wants. Migration M-D2, M-D5, M-D8, M-D9. */
import { HDKey } from '@scure/bip32';
import test from 'ava';
import { lanesOf } from '../../actors/migration/discovery/lanes.ts';
import { scanRound, type ScanDeps } from '../../actors/migration/discovery/work.ts';
import type { Use, UseAsk } from '../../chains/use.ts';
import type { NewScan } from '../../model/ports/scan-store.ts';
import { newId } from '../../protocol/node/ids.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { eventually } from '../support/gateway.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { newOrganization, NOW_MS, openStores } from '../support/store-rows.ts';

const database = await createTestDatabase();
const { scans, uploads, watch, imports, ...stores } = await openStores(database);
test.after.always(() => database.close());

const keyAt = (account: number) => {
  const path = `m/44'/60'/${account}'`;
  return {
    family: 'evm' as const,
    path,
    xpub: HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive(path).publicExtendedKey,
    publicKey: null,
  };
};

async function projectOf(
  environment: 'sandbox' | 'live' = 'sandbox',
): Promise<{ accountId: AccountId; projectId: string }> {
  const { [environment]: accountId } = await newOrganization({ ...stores, scans, uploads, watch, imports } as never);
  const projectId = newId('mig', NOW_MS);
  await uploads.createProject(accountId, { id: projectId, name: 'old', createdAtMs: NOW_MS }, 200);
  return { accountId, projectId };
}

async function begun(
  of: { accountId: AccountId; projectId: string },
  chain: Chain = 'eth',
  more: Partial<NewScan> = {},
): Promise<string> {
  const id = newId('scn', Date.now());
  const scan: NewScan = {
    id,
    ...of,
    keySourceId: 'ks_x',
    chain,
    gapLimit: 20,
    maxScan: 10_000,
    requestedMaxScan: null,
    review: null,
    tokens: [],
    lanes: lanesOf({ keys: [keyAt(0)] }, chain, 'account', [0]),
    mappedTo: null,
    createdAtMs: Date.now(),
    mapping: [],
    ...more,
  };
  if ((await scans.begin(scan, 4)) !== 'begun') throw new Error('not begun');
  return id;
}

const unused = async ({ addresses }: UseAsk): Promise<Use> => ({
  used: addresses.map(() => false),
  evidence: 'state',
  height: 1,
  requests: 0,
});
const depsOf = (fetchUse: (asked: UseAsk) => Promise<Use>, more: Partial<ScanDeps> = {}): ScanDeps => ({
  scans,
  watch,
  chains: { bind: async () => ({ client: { fetchUse } }) as never },
  log: { info: () => undefined, warn: () => undefined },
  ...more,
});
const gate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
};

test.serial('migration M-D9: a window that takes longer than a claim stays with the node that reads it', async (t) => {
  const of = await projectOf(),
    id = await begun(of);
  const { opened, open } = gate();
  let asked = 0;
  const slow = async (what: UseAsk) => {
    asked += 1;
    await opened;
    return unused(what);
  };
  const round = scanRound(depsOf(slow, { holdEveryMs: 10 }));
  await eventually(
    'it reads',
    async () => asked,
    (count) => count === 1,
  );
  const until = async (): Promise<number> =>
    (await database.owner`select worked_until from flock.scan where id = ${id}`)[0]!['workedUntil'] as number;
  await database.owner`update flock.scan set worked_until = clock_timestamp() - interval '1 second' where id = ${id}`;
  await eventually('it is held on', until, (at) => at > Date.now());
  t.deepEqual(await scans.claimScans(10), [], 'another node finds nothing');
  open();
  await round;
  t.like(await scans.scan(of.accountId, id), { state: 'completed', stoppedBy: 'gap_limit' });
});

test.serial(
  'migration M-D8: a slow chain of one account keeps no other account waiting, and is read one window at a time',
  async (t) => {
    const hog = await projectOf(),
      other = await projectOf();
    const { opened, open } = gate();
    for (const chain of ['bsc', 'polygon', 'avax', 'base'] as const) await begun(hog, chain);
    let asked = 0;
    const deps = depsOf(async (what) => {
      asked += 1;
      await opened;
      return unused(what);
    });
    const slow = scanRound(deps);
    await eventually(
      'it reads',
      async () => asked,
      (count) => count > 0,
    );
    const [held] = await database.owner`
    select count(*)::int as scans from flock.scan
     where account_id = ${hog.accountId} and worked_until > clock_timestamp()`;
    t.is(held!['scans'], 1, 'one window of an account at a time');
    t.deepEqual(await scans.claimScans(10), [], 'also for another node');
    const id = await begun(other);
    await scanRound(depsOf(unused));
    t.like(await scans.scan(other.accountId, id), { state: 'completed' }, 'while the first account waits');
    open();
    await slow;
  },
);

test.serial(
  'migration M-D2: accounts of one address each end with their keys, also where more was approved',
  async (t) => {
    const of = await projectOf();
    const lanes = lanesOf({ keys: [0, 1, 2].map(keyAt) }, 'eth', 'each', [0]);
    const id = await begun(of, 'eth', { lanes, requestedMaxScan: 20_000, review: 'pending' });
    await scanRound(depsOf(unused));
    t.like(await scans.scan(of.accountId, id), { state: 'completed', stoppedBy: 'max_scan' });
    await scans.review(id, 'approved');
    await scanRound(depsOf(unused));
    t.like(await scans.scan(of.accountId, id), { state: 'completed', stoppedBy: 'max_scan', maxScan: 20_000 });
  },
);

test.serial('migration M-D2: only scans that a decision helps wait for one, and a wiped one does not', async (t) => {
  const of = await projectOf();
  const asked = { requestedMaxScan: 20_000, review: 'pending' as const };
  const waiting = async () => (await scans.underReview('', 200)).filter(({ accountId }) => accountId === of.accountId);
  const cancelled = await begun(of, 'eth', asked);
  await scans.cancel(of.accountId, cancelled);
  t.deepEqual(await waiting(), [], 'cancelled');
  t.is(await scans.review(cancelled, 'approved'), 'none_waits');
  const short = await begun(of, 'eth', asked);
  t.is((await waiting()).length, 1, 'under way');
  await scanRound(depsOf(unused));
  t.deepEqual(await waiting(), [], 'ended by its gap');
  t.is(await scans.review(short, 'approved'), 'none_waits');
  const wiped = await begun(of, 'eth', asked);
  await database.owner`update flock.scan set lanes = '[]' where id = ${wiped}`;
  t.like(await scans.review(wiped, 'approved'), { lanes: [] });
  await scans.cancel(of.accountId, wiped);
});

test.serial(
  'migration M-D5, M-D6: a window that is read by who sees less than before is unread, and no gap',
  async (t) => {
    const of = await projectOf(),
      id = await begun(of, 'eth', { gapLimit: 150 });
    let windows = 0;
    const failing = async (what: UseAsk): Promise<Use> => {
      windows += 1;
      return { ...(await unused(what)), evidence: windows === 1 ? 'history' : 'unspent_only' };
    };
    await scanRound(depsOf(failing));
    const waiting = (await scans.scan(of.accountId, id))!;
    t.like(waiting, { evidence: 'history', unread: 100, stoppedBy: null });
    t.is(waiting.lanes[0]!.next, 100);
    t.regex(waiting.reason!, /only unspent_only is there/);
    await scans.cancel(of.accountId, id);
  },
);

test.serial('migration M-D1: of twenty scans that begin at once four are taken', async (t) => {
  const of = await projectOf();
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      begun(of, 'eth', { keySourceId: `ks_${n}` }).then(
        () => 'begun',
        () => 'many',
      ),
    ),
  );
  t.is(outcomes.filter((outcome) => outcome === 'begun').length, 4);
  const [running] = await database.owner`
    select array_agg(slot order by slot) as slots from flock.scan where account_id = ${of.accountId}`;
  t.deepEqual(running!['slots'], [0, 1, 2, 3]);
  for (const { id } of await database.owner<{ id: string }[]>`
    select id from flock.scan where account_id = ${of.accountId}`)
    await scans.cancel(of.accountId, id);
  await begun(of); // their slots are free again
});

test.serial(
  'migration M-D2: a limit that is approved while another scan of its keys begins stays as it is',
  async (t) => {
    for (let n = 0; n < 10; n += 1) {
      const of = await projectOf();
      const id = await begun(of, 'eth', { maxScan: 10, requestedMaxScan: 20_000, review: 'pending' });
      await scanRound(depsOf(unused));
      t.like(await scans.scan(of.accountId, id), { stoppedBy: 'max_scan' });
      const [approved, second] = await Promise.allSettled([scans.review(id, 'approved'), begun(of)]);
      t.is(approved.status, 'fulfilled', String((approved as PromiseRejectedResult).reason));
      const isOn = (approved as PromiseFulfilledResult<unknown>).value !== 'none_waits';
      t.not(isOn, second.status === 'fulfilled', 'one of them');
      await scanRound(depsOf(unused));
    }
    t.is(await scans.review('scn_none', 'declined'), 'unknown');
  },
);

test.serial('migration M-D8: scans of all accounts together keep to the pace of a live chain', async (t) => {
  const some = await Promise.all([projectOf('live'), projectOf('live')]);
  for (const of of some) await begun(of, 'avax');
  let asked = 0;
  const deps = depsOf(async (what) => {
    asked += 1;
    return { ...(await unused(what)), requests: 600 };
  });
  await scanRound(deps);
  t.is(asked, 1, 'the other one waits for a minute');
  t.deepEqual(await scans.claimScans(10), []);
  await begun(some[0]!, 'base');
  await scanRound(deps);
  t.is(asked, 2, 'another chain has its own pace');
  await database.owner`update flock.scan_pace set next_at = now() where chain = 'avax'`;
  await scanRound(deps);
  t.is(asked, 3);
});

test.serial('migration M-D6: a node that answers for all at once is asked about a thousand', async (t) => {
  const of = await projectOf(),
    id = await begun(of, 'eth', { gapLimit: 1_000 });
  const sizes: number[] = [];
  await scanRound(
    depsOf(async (what) => {
      sizes.push(what.addresses.length);
      return { ...(await unused(what)), evidence: 'unspent_only' };
    }),
  );
  t.deepEqual(sizes, [100, 1_000]);
  t.like(await scans.scan(of.accountId, id), { state: 'completed', stoppedBy: 'gap_limit' });
});

test.serial('migration M-D8: a scan that waits for the reading of blocks says so', async (t) => {
  const of = await projectOf('live'),
    id = await begun(of, 'polygon');
  const coverage = async () => ({ completeHeight: 10, headHeight: 14 });
  await scanRound(depsOf(unused, { watch: { coverage } as never }));
  t.like(await scans.scan(of.accountId, id), { state: 'queued', tries: 0 });
  t.regex((await scans.scan(of.accountId, id))!.reason!, /is behind$/);
  await database.owner`update flock.scan set due_at = now() where id = ${id}`;
  await scanRound(depsOf(unused));
  t.like(await scans.scan(of.accountId, id), { state: 'completed', reason: null });
});

test.serial(
  'migration M-D: scans are forgotten 90 days after their end, unless a batch was made of them',
  async (t) => {
    const of = await projectOf();
    const ids = [await begun(of), await begun(of, 'bsc'), await begun(of, 'base')] as const;
    for (let n = 0; n < 3; n += 1) await scanRound(depsOf(unused));
    const [old, young, taken] = ids;
    await database.owner`
    insert into flock.scan_row (account_id, scan_id, lane, n, address, used)
      select ${of.accountId}, ${old}, 0, n, 'a' || n, false from generate_series(1000, 26000) n`;
    const batch = { id: newId('imp', NOW_MS), ...of, chain: null, includeChange: false, createdAtMs: NOW_MS };
    await imports.createBatch({ ...batch, scanId: taken }, 10);
    await database.owner`
    update flock.scan set ended_at = now() - interval '91 days' where id in (${old}, ${taken})`;
    const kept = async () =>
      (await Promise.all(ids.map((id) => scans.scan(of.accountId, id)))).map((scan) => scan !== null);
    t.is(await scans.forget(Date.now() - 100 * 86_400_000), 0);
    t.true((await scans.forget(Date.now())) > 25_000, 'no caller has younger ones forgotten');
    t.deepEqual(await kept(), [false, true, true]);
    t.deepEqual([...(await database.owner`select from flock.scan_row where scan_id = ${old}`)], []);
    t.not(await scans.scan(of.accountId, young), null);
  },
);

test.serial(
  'migration M-D4: of a scan whose rows are being forgotten no batch is made, and no limit is approved: it would have holes',
  async (t) => {
    const of = await projectOf();
    const id = await begun(of, 'eth', { maxScan: 40, requestedMaxScan: 20_000, review: 'pending', gapLimit: 1_000 });
    await scanRound(depsOf(unused));
    t.like(await scans.scan(of.accountId, id), { state: 'completed', stoppedBy: 'max_scan' });
    await database.owner`update flock.scan set ended_at = now() - interval '91 days' where id = ${id}`;
    // A process that forgets is killed behind each of its calls.
    for (let calls = 1; calls <= 3; calls += 1) {
      await database.owner`select flock.forget_scans(now(), 10)`;
      const batch = { id: newId('imp', NOW_MS), ...of, chain: null, includeChange: false, createdAtMs: NOW_MS };
      t.false(await imports.createBatch({ ...batch, scanId: id }, 10), `behind ${calls}`);
      t.is(await scans.review(id, 'approved'), 'none_waits', `behind ${calls}`);
    }
    await scans.forget(Date.now());
    t.is(await scans.scan(of.accountId, id), null);
  },
);

test.serial('migration M-D1: a decision about a scan that runs makes no room for a fifth', async (t) => {
  const of = await projectOf();
  const id = await begun(of, 'eth', { requestedMaxScan: 20_000, review: 'pending' });
  for (const chain of ['bsc', 'base', 'polygon'] as const) await begun(of, chain);
  t.not(await scans.review(id, 'declined'), 'none_waits');
  await t.throwsAsync(() => begun(of, 'avax'), { message: 'not begun' });
});

test.serial('migration M-D8: an endpoint that fails is left alone by all scans of its chain, too', async (t) => {
  const some = await Promise.all([projectOf('live'), projectOf('live'), projectOf('live')]);
  await database.owner`update flock.scan set state = 'cancelled', ended_at = now() where ended_at is null`;
  await database.owner`delete from flock.scan_pace`;
  for (const of of some) await begun(of, 'base');
  let asked = 0;
  const deps = depsOf(async () => {
    asked += 1;
    throw new Error('connection refused');
  });
  await scanRound(deps);
  t.is(asked, 1, 'the others wait');
  const less = async (what: UseAsk): Promise<Use> => {
    asked += 1;
    return { ...(await unused(what)), evidence: 'unspent_only', requests: 600 };
  };
  await database.owner`delete from flock.scan_pace`;
  await database.owner`update flock.scan set evidence = 'state', due_at = now() where chain = 'base' and ended_at is null`;
  await scanRound(depsOf(less));
  t.is(asked, 2, 'what was read of too little use was asked for all the same');
});
