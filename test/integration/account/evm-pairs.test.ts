/**
 * Spec §1.6 on the real schema: a model of who has which EVM address, against the gateway's handlers of two nodes, the
 * account actor and the posting functions.
 */
import test from 'ava';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { createAccountEntity, type AccountReply } from '../../../actors/account/account.ts';
import { createChainBook } from '../../../actors/account/chain-book.ts';
import type {
  AccountCommand,
  AccountEvent,
  AccountReplies,
  AccountState,
  RowWrite,
} from '../../../model/account/capabilities.ts';
import { ask, createSystem, systemClock, type ActorSystem, type Outcome } from '../../../actors/kernel/index.ts';
import { evm } from '../../../chains/evm/index.ts';
import type { ChainModule } from '../../../chains/chain.ts';
import { addressHandlers } from '../../../gateway/http/address/addresses.ts';
import type { HandlerDeps } from '../../../gateway/http/surroundings.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { addressKeyOf, newId, shardOf } from '../../../protocol/node/ids.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { restartPolicy } from '../../../actors/kernel/restart-policy.ts';
import { RESTARTS } from '../../actors/kernel/node.ts';
import { commands } from '../../support/account.ts';
import { newEvmKey } from '../../support/gateway.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  appendOf,
  linksAfter,
  newOrganization,
  NOW_MS,
  openStores,
  recordOf,
  transferTo,
  webhookRow,
  write,
} from '../../support/store-rows.ts';

const NETWORKS = ['eth', 'bsc', 'polygon', 'avax', 'base'] as const;
type Network = (typeof NETWORKS)[number];

let database: TestDatabase;
let stores: Stores;
let system: ActorSystem;
let send: <C extends AccountCommand>(accountId: AccountId, command: C) => Promise<Outcome<AccountReplies[C['type']]>>;
type Operation = 'createAddress' | 'archiveAddress' | 'unarchiveAddress';
let nodes: Record<Operation, { handle: (asked: never) => Promise<unknown> }>[];

test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  const policy = restartPolicy(RESTARTS),
    quiet = () => {};
  system = createSystem({
    clock: systemClock,
    random: () => 0,
    policies: { entity: policy, worker: policy },
    log: { warn: quiet, error: quiet },
    hooks: {},
  });
  const accounts = system.entities<AccountState, AccountCommand, AccountEvent, RowWrite, AccountReply>({
    entity: createAccountEntity({ book: createChainBook([evm as ChainModule]) }),
    store: stores.accounts,
    shardOf,
  });
  send = ((accountId, command) => ask(accounts.address(accountId), command)) as typeof send;
  let now = NOW_MS;
  // Two nodes that know nothing of each other's requests.
  nodes = [0, 1].map(
    () =>
      addressHandlers({
        accounts: { ask: send },
        chains: { enabled: () => NETWORKS, notBegun: async () => null },
        stores: { reads: stores.read },
        pools: {
          issue: (_account: AccountId, _chain: string, issue: (unissued: readonly never[]) => unknown) => issue([]),
        },
        nowMs: () => (now += 1),
      } as unknown as HandlerDeps) as (typeof nodes)[number],
  );
});
test.after.always(async () => {
  await system.stop(2_000);
  await database.close();
});

async function accepted<C extends AccountCommand>(
  accountId: AccountId,
  command: C,
): Promise<AccountReplies[C['type']]> {
  const outcome = await send(accountId, command);
  if (outcome.ok !== true) throw new Error(`${command.type}: ${JSON.stringify(outcome)}`);
  return outcome.reply;
}

const identity = () => randomBytes(32).toString('hex');
const addressIds = () => Array.from({ length: 10 }, () => newId('adr', NOW_MS));

async function enrolled(environment: 'live' | 'sandbox' = 'live'): Promise<AccountId> {
  const { [environment]: accountId } = await newOrganization(stores);
  await database.owner`delete from account_key where account_id = ${accountId}`;
  await accepted(accountId, commands.enrol({ publicKey: identity(), keys: [newEvmKey()], addressIds: addressIds() }));
  return accountId;
}

interface View {
  readonly id: string;
  readonly chain: Network;
  readonly address: string;
  readonly derivationPath: string;
}

async function create(accountId: AccountId, chain: Network, { userRef, tag }: Pair, node = 0): Promise<View> {
  const asked = { caller: { accountId }, body: { chain, userRef, tag }, claim: undefined };
  const answer = await nodes[node]!.createAddress.handle(asked as never);
  if (isRefusal(answer)) throw new Error(JSON.stringify(answer));
  return answer as View;
}

async function setStatus(accountId: AccountId, id: string, status: 'active' | 'archived', node = 0): Promise<void> {
  const operation = status === 'active' ? nodes[node]!.unarchiveAddress : nodes[node]!.archiveAddress;
  const answer = await operation.handle({ caller: { accountId }, params: { id }, claim: undefined } as never);
  if (isRefusal(answer)) throw new Error(JSON.stringify(answer));
}

async function rotate(accountId: AccountId): Promise<void> {
  const rotationId = newId('rot', Date.now());
  await accepted(
    accountId,
    commands.enrol({ publicKey: identity(), keys: [newEvmKey()], rotationId, addressIds: addressIds() }),
  );
  await accepted(accountId, {
    type: 'decide_rotation',
    rotationId,
    decision: 'approve',
    byUser: 'usr_1',
    addressIds: addressIds(),
  });
}

// ── The model ────────────────────────────────────────────────────────────────────────────────────────────────────

interface Pair {
  readonly userRef: string;
  readonly tag: string | null;
}
interface Held {
  readonly pair: string;
  readonly chain: Network;
  readonly index: number;
  readonly era: number;
  active: boolean;
}

class Model {
  held: Held[] = [];
  next = 0;
  era = 0;

  create({ userRef, tag }: Pair, chain: Network): Held {
    const pair = JSON.stringify([userRef, tag]);
    const own = this.held.filter((one) => one.pair === pair && one.era === this.era);
    const free = [...new Set(own.filter(({ active }) => active).map(({ index }) => index))]
      .filter((index) => !own.some((one) => one.index === index && one.chain === chain))
      .sort((a, b) => a - b);
    const index = free[0] ?? this.next;
    if (free[0] === undefined) this.next += 1;
    const made: Held = { pair, chain, index, era: this.era, active: true };
    this.held.push(made);
    return made;
  }

  get active(): number {
    return new Set(this.held.filter(({ active }) => active).map(({ index }) => index)).size;
  }
}

async function compare(
  t: {
    deepEqual: (a: unknown, b: unknown, message?: string) => void;
    is: (a: unknown, b: unknown, message?: string) => void;
  },
  accountId: AccountId,
  model: Model,
): Promise<AddressRow[]> {
  const { content } = await stores.read.addresses(accountId, {}, { page: 0, size: 200 });
  const key = (chain: string, index: number, pair: string, active: boolean) => `${index} ${chain} ${pair} ${active}`;
  t.deepEqual(
    content
      .map((row) => key(row.chain, row.index!, JSON.stringify([row.userRef, row.tag]), row.status === 'active'))
      .sort(),
    model.held.map(({ chain, index, pair, active }) => key(chain, index, pair, active)).sort(),
  );
  const byIndex = Object.groupBy(content, ({ index }) => String(index));
  for (const rows of Object.values(byIndex)) {
    t.is(
      new Set(rows!.map(({ address, derivationPath, addressKey }) => `${address} ${derivationPath} ${addressKey}`))
        .size,
      1,
      'one address',
    );
  }
  const { activeAddresses, indexes } = await accepted(accountId, { type: 'inspect' });
  t.deepEqual([activeAddresses, indexes.evm ?? 0], [model.active, model.next]);
  const [row] = await database.owner<{ registered: number }[]>`
    select count(*)::int as registered from address_registry g join address a on a.account_id = g.account_id and a.id = g.address_id
     where g.account_id = ${accountId} and a.purpose = 'deposit'`;
  t.is(row!.registered, model.next, 'each address is registered once');
  return content;
}

/** What a payment on a network becomes: id of the row it takes, and the events that are told. */
async function payOn(accountId: AccountId, chain: Network, row: AddressRow) {
  const [watched] = await stores.watch.watched('live', [row.addressKey]);
  const before = await stores.watch.cursor(chain);
  const [link] = linksAfter(before ?? { height: 99, hash: 'root' }, 1, 'p');
  const transfer = transferTo(row, link!, { ledger: chain, chain: chain as Chain, addressId: watched!.addressId });
  await stores.watch.recordBlock(
    chain,
    recordOf(
      link!,
      [{ ...transfer, accountId, addressKey: row.addressKey }],
      before === null ? { previous: null } : {},
    ),
  );
  const waiting = await stores.inbox.inboxOf(accountId, 200);
  const { events } = await accepted(accountId, {
    type: 'apply_facts',
    ...waiting,
    depositIds: waiting.inbox.map(() => newId('dep', NOW_MS)),
  });
  const [deposit] = await database.owner<{ addressId: string; userRef: string; announced: boolean }[]>`
    select address_id, user_ref, announced from deposit where account_id = ${accountId} and txid = ${transfer.txid}`;
  return { events, deposit: deposit!, transfer, link: link! };
}

// Those that record blocks run one after the other: a chain has one watcher.
const PAIRS: readonly Pair[] = [
  { userRef: 'u1', tag: null },
  { userRef: 'u1', tag: 'a' },
  { userRef: 'u1', tag: 'A' },
  { userRef: 'u2', tag: null },
];
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('create' as const), pair: fc.nat(3), chain: fc.nat(4), node: fc.nat(1) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('burst' as const),
      pair: fc.nat(3),
      chains: fc.array(fc.nat(4), { minLength: 2, maxLength: 6 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('flip' as const), which: fc.nat(), node: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rotate' as const) }) },
);

test.serial(
  'found F40: random users, tags, networks, archives and rotations against a model, on two nodes and the real schema',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), fc.nat(), async (steps, seed) => {
        const accountId = await enrolled(),
          model = new Model(),
          made = new Map<Held, string>();
        for (const one of steps) {
          if (one.kind === 'rotate') {
            await rotate(accountId);
            model.era += 1;
          } else if (one.kind === 'flip') {
            const held = model.held[one.which % Math.max(1, model.held.length)];
            if (held === undefined) continue;
            await setStatus(accountId, made.get(held)!, held.active ? 'archived' : 'active', one.node);
            held.active = !held.active;
          } else if (one.kind === 'create') {
            const chain = NETWORKS[one.chain]!,
              pair = PAIRS[one.pair]!;
            const view = await create(accountId, chain, pair, one.node),
              held = model.create(pair, chain);
            t.is(Number(view.derivationPath.split('/').at(-1)), held.index, JSON.stringify(steps));
            made.set(held, view.id);
          } else {
            const pair = PAIRS[one.pair]!;
            const views = await Promise.all(
              one.chains.map((chain, at) => create(accountId, NETWORKS[chain]!, pair, at % 2)),
            );
            for (const chain of one.chains) {
              const held = model.create(pair, NETWORKS[chain]!);
              const view = views.find(
                ({ chain: of, derivationPath }) =>
                  of === held.chain && Number(derivationPath.split('/').at(-1)) === held.index,
              );
              t.truthy(view, JSON.stringify({ steps, views, held }));
              made.set(held, view!.id);
            }
          }
        }
        const rows = await compare(t, accountId, model);
        for (const [at, paid] of rows.slice(0, 3).entries()) {
          const chain = NETWORKS[(seed + at) % 5]!;
          const ofAddress = rows
            .filter(({ index }) => index === paid.index)
            .sort((a, b) => a.createdAtMs - b.createdAtMs);
          const expected =
            ofAddress.find((row) => row.chain === chain) ??
            ofAddress.find(({ status }) => status === 'active') ??
            ofAddress[0]!;
          const { events, deposit } = await payOn(accountId, chain, paid);
          t.deepEqual(deposit, {
            addressId: expected.id,
            userRef: paid.userRef!,
            announced: expected.status === 'active',
          });
          t.deepEqual(events, expected.status === 'active' ? ['deposit_detected'] : []);
        }
      }),
      { numRuns: 16, includeErrorInReport: true },
    );
  },
);

test('found F40: for one (userRef, tag) the n-th address is the n-th on every network, with a row of its own for each', async (t) => {
  const accountId = await enrolled();
  const one = await Promise.all(NETWORKS.map((chain) => create(accountId, chain, { userRef: 'u', tag: 't' })));
  t.is(new Set(one.map(({ address }) => address)).size, 1);
  t.is(new Set(one.map(({ id }) => id)).size, 5);
  const [other] = [await create(accountId, 'bsc', { userRef: 'u', tag: null })];
  t.not(other!.address, one[0]!.address, 'another tag is another pair');
  const second = [
    await create(accountId, 'base', { userRef: 'u', tag: 't' }),
    await create(accountId, 'eth', { userRef: 'u', tag: 't' }),
  ];
  t.is(second[0]!.address, second[1]!.address);
  t.is((await accepted(accountId, { type: 'inspect' })).activeAddresses, 3);
});

test.serial('found F40: a row of a network that came between two blocks of a reorg reverses nothing', async (t) => {
  const accountId = await enrolled();
  await accepted(accountId, {
    type: 'create_webhook',
    row: webhookRow(accountId, { events: ['deposit_detected', 'deposit_reversed'] }),
  });
  const eth = await create(accountId, 'eth', { userRef: 'u', tag: null });
  const row = (await stores.read.address(accountId, eth.id))!;
  const { deposit, transfer, link } = await payOn(accountId, 'polygon', row);
  t.is(deposit.addressId, eth.id, 'the oldest active one');
  const polygon = await create(accountId, 'polygon', { userRef: 'u', tag: null });
  t.is(polygon.address, eth.address);
  const fork = { height: link.height - 1, hash: link.parentHash };
  const [again] = linksAfter(fork, 1, 'q'),
    moved = { ...transfer, accountId, addressKey: row.addressKey, height: again!.height, blockHash: again!.hash };
  const [watched] = await stores.watch.watched('live', [row.addressKey]);
  await stores.watch.recordReorg('polygon', fork, { height: link.height, hash: link.hash }, [
    recordOf(again!, [{ ...moved, addressId: watched!.addressId }]),
  ]);
  const waiting = await stores.inbox.inboxOf(accountId, 200);
  const { events } = await accepted(accountId, {
    type: 'apply_facts',
    ...waiting,
    depositIds: waiting.inbox.map(() => newId('dep', NOW_MS)),
  });
  t.deepEqual(events, []);
  t.is(
    (await payOn(accountId, 'polygon', row)).deposit.addressId,
    polygon.id,
    'and the next payment takes the row of its network',
  );
  const since = (await stores.watch.addressesSince('live', 0, { most: 10_000 })).addresses.filter(
    ({ accountId: of, purpose }) => of === accountId && purpose === 'deposit',
  );
  t.deepEqual(
    since.map(({ addressId }) => addressId),
    [eth.id],
    'the watcher names an address by its first row',
  );
});

test("found F40: the schema refuses an index of another pair, an index passed over, and a network of an address that is not the account's", async (t) => {
  const accountId = await enrolled();
  const eth = (await stores.read.address(accountId, (await create(accountId, 'eth', { userRef: 'u', tag: null })).id))!;
  const append = async (more: Partial<AddressRow>, paired: boolean) => {
    const row = { ...eth, id: newId('adr', Date.now()), chain: 'bsc' as const, ...more };
    return stores.accounts.append(await appendOf(stores, accountId, [{ table: 'address', row, paired }])).then(
      ({ kind }) => kind,
      (error: { constraint?: string }) => error.constraint,
    );
  };
  t.is(await append({}, false), 'refused', 'a new index has no row');
  t.is(await append({ userRef: 'v' }, true), 'address_index_once', 'another customer');
  t.is(await append({ tag: 't' }, true), 'address_index_once', 'another tag');
  const bytes = randomBytes(20);
  t.is(
    await append({ address: `0x${bytes.toString('hex')}`, addressKey: addressKeyOf('live', 'evm', bytes) }, true),
    'address_index_once',
    'another address',
  );
  const fresh = addressRow(accountId, { chain: 'bsc', userRef: 'u', index: 7 });
  t.is(await append({ ...fresh }, false), 'refused', 'index 0 has no row on bsc');
  t.is(await append({ chain: 'eth' }, true), 'refused', 'that network has it');
  const stranger = await enrolled();
  const claim = { ...eth, id: newId('adr', Date.now()), accountId: stranger };
  t.is(
    (await stores.accounts.append(await appendOf(stores, stranger, [{ table: 'address', row: claim, paired: false }])))
      .kind,
    'refused',
    'I9: ADDRESS_CONFLICT',
  );
  t.is(
    (await stores.accounts.append(await appendOf(stores, stranger, [{ table: 'address', row: claim, paired: true }])))
      .kind,
    'refused',
    'nothing of it is active there',
  );
  t.is(await append({}, true), 'appended');
  const status = async (id: string, becomes: 'active' | 'archived', alone: boolean) =>
    (
      await stores.accounts.append(
        await appendOf(stores, accountId, [{ table: 'address_status', id, status: becomes, alone }]),
      )
    ).kind;
  t.is(await status(eth.id, 'archived', true), 'refused', 'bsc is active');
  t.is(await status(eth.id, 'archived', false), 'appended');
});

test('found F40: at 100,000 rows of one pair the next index is a few index look-ups', async (t) => {
  const { live: accountId } = await newOrganization(stores);
  await write(stores, accountId, []);
  // Filled without its triggers, which look at each row.
  const filler = await database.admin.reserve();
  try {
    await filler`set session_replication_role = replica`;
    await filler`
      insert into flock.address (account_id, id, environment, chain, family, address, address_key, derivation_path, purpose, index, user_ref, tag, label, status, created_at)
      select ${accountId}, 'adr_' || c.chain || n, 'live', c.chain, 'evm', 'x' || n, gen_random_uuid(), 'm/' || n, 'deposit', n, 'big', null, null,
             case when n % 25000 = 3 then 'active' else 'archived' end, now()
        from generate_series(0, 49999) n cross join unnest('{eth,bsc}'::text[]) c(chain)`;
  } finally {
    await filler`reset session_replication_role`;
    filler.release();
  }
  await database.owner`analyze address`;
  const look = (chain: string) => database.owner<Record<string, string>[]>`
    explain (analyze, buffers, timing off) select unpaired_index(${accountId}, 'big', '', ${chain}, 0, 9223372036854775807)`;
  for (const [chain, expected] of [
    ['eth', null],
    ['bsc', null],
    ['polygon', 3],
  ] as const) {
    t.deepEqual(await stores.read.unpairedIndexes([{ accountId, chain, userRef: 'big', tag: null }]), [expected]);
    for (let warm = 0; warm < 7; warm += 1) await look(chain); // past the first plans, which are made anew
    const text = (await look(chain)).flatMap((line) => Object.values(line)).join('\n'),
      [, blocks] = /Buffers: shared hit=(\d+)/.exec(text) ?? [];
    t.true(Number(blocks) < 100, `${chain}: ${text}`);
  }
});
