/**
 * All ten chains at once, on real watchers, accounts and PostgreSQL, while their peers lag, lie, limit, die and
 * reorganise and the cloud is killed. Seeded: the seed alone decides what is played; `FLOCK_SEED` plays another one,
 * `FLOCK_SOAK_STEPS=100` plays a longer one.
 */
import test from 'ava';
import { newStorage } from '../support/edge/disk.ts';
import { createDepositCheck, takenKeysIn } from '../../edge/webhooks/deposit-check.ts';
import { createOwnNodes } from '../../edge/signing/own-nodes.ts';
import { networkOf } from '../../chains/registry.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { formatAmount } from '../../protocol/money.ts';
import { CHAINS, type Chain } from '../../protocol/slugs.ts';
import { CONTRACT, problemsOf, type Holder, type Movement } from '../support/record-contract.ts';
import { problemsOfBooks, type Paid } from '../support/books.ts';
import { patiently } from '../support/company.ts';
import { seeded } from '../support/seeded.ts';
import { play, type Payment } from '../support/soak/play.ts';
import { openTenChains, type TenChains } from '../support/soak/ten-chains.ts';
import { registryIn } from '../support/edge/registry.ts';

/** The same catalogue at each call, as an edge's registry gives it. */
const TOKENS = registryIn().catalogueOf;

const SEED = Number(process.env.FLOCK_SEED ?? 20_261_128);
const STEPS = Number(process.env.FLOCK_SOAK_STEPS ?? 9);
const ADDRESSES = 8;
const KILLS = 2;
const SETTLE_EVERY_MS = 400;

interface Row {
  chain: Chain;
  deposits: number;
  credited: number;
  twice: number;
  reversed: number;
  uncredited: number;
  again: number;
}

/**
 * What the books hold of each chain. `uncredited`: reversed after it was confirmed; `again`: credited in a later
 * incarnation than the first.
 */
async function countsOf({ sql, accountId }: TenChains): Promise<Map<Chain, Row>> {
  const rows = await sql<Row[]>`
    with told as (
      select d.chain, d.id, d.incarnation,
             count(*) filter (where e.kind = 'credit') - count(*) filter (where e.kind = 'reversal') as net,
             bool_or(e.kind = 'credit' and e.incarnation > 1) as again
        from flock.deposit d left join flock.ledger_entry e on e.deposit_id = d.id
       where d.account_id = ${accountId} group by d.chain, d.id, d.incarnation)
    select chain, count(*)::int as deposits, count(*) filter (where net = 1)::int as credited, count(*) filter (where net > 1)::int as twice,
           (select count(*)::int from flock.publication p where p.account_id = ${accountId}
              and p.body::jsonb ->> 'event' = 'deposit_reversed' and p.body::jsonb -> 'data' ->> 'chain' = told.chain) as reversed,
           (select count(*)::int from flock.publication p where p.account_id = ${accountId}
              and p.body::jsonb ->> 'event' = 'deposit_reversed' and p.body::jsonb -> 'data' ->> 'chain' = told.chain
              and p.body::jsonb -> 'data' ->> 'reversedFrom' = 'confirmed') as uncredited,
           count(*) filter (where again)::int as again
      from told group by chain`;
  return new Map(rows.map((row) => [row.chain, row]));
}

/** What stands, as the ledgers themselves say it. */
async function standing({ chains }: TenChains, payments: ReadonlyMap<string, Payment>): Promise<Map<string, Paid>> {
  const paid = new Map<string, Paid>();
  for (const [txid, { chain, address, amount }] of payments)
    paid.set(txid, { address, amount, survives: await chains.get(chain)!.stands(txid) });
  return paid;
}

/** Blocks go on until the books are right. */
async function settle(flock: TenChains, payments: ReadonlyMap<string, Payment>): Promise<string[]> {
  for (const chain of flock.chains.values()) await chain.mine(chain.threshold + 8);
  let lastMinedMs = performance.now();
  const problems = async (): Promise<string[]> => {
    if (performance.now() - lastMinedMs > SETTLE_EVERY_MS) {
      for (const chain of flock.chains.values()) await chain.mine(1);
      lastMinedMs = performance.now();
    }
    return problemsOfBooks({ ...flock, paid: await standing(flock, payments) });
  };
  return patiently('books', problems, (found) => found.length === 0).catch(problems);
}

/** Confirmed deposits of each chain that are asked for at its own nodes. */
const CHECKED_PER_CHAIN = 6;

/** Decisions 6: the events that were published, and lies about them, before the nodes that an edge would ask. */
async function doubts({ sql, accountId, chains }: TenChains): Promise<string[]> {
  const nodes = new Map(
    [...chains.values()].map(({ chain, cloudEnv }) => [chain, cloudEnv[`${chain.toUpperCase()}_RPC_URLS`]!.split(',')]),
  );
  const check = createDepositCheck({
    isLentAt: () => false,
    catalogueOf: TOKENS,
    environment: 'live',
    nodes: createOwnNodes({
      catalogueOf: TOKENS,
      nodes,
      confirmations: new Map([...chains.values()].map(({ chain, threshold }) => [chain, threshold])),
      monotonicMs: () => performance.now(),
    }),
    keys: takenKeysIn(newStorage()),
    monotonicMs: () => performance.now(),
  });
  const wrong: string[] = [];
  try {
    for (const chain of chains.keys()) {
      const told = await sql<{ body: string }[]>`
        select p.body from flock.publication p join flock.deposit d on d.account_id = p.account_id and d.id = p.body::jsonb -> 'data' ->> 'depositId'
         where p.account_id = ${accountId} and d.chain = ${chain} and d.status = 'confirmed' and p.body::jsonb ->> 'event' = 'deposit_confirmed'
           and p.body::jsonb -> 'data' ->> 'blockHash' = d.block_hash order by d.height desc limit ${CHECKED_PER_CHAIN}`;
      if (told.length === 0) wrong.push(`${chain}: nothing was told`);
      for (const { body } of told) {
        const doubt = await check.doubt(body);
        if (doubt !== null) wrong.push(`${chain}: ${doubt} of ${body}`);
        const lie = JSON.parse(body) as { data: { amount: string; amountFormatted: string; decimals: number } };
        lie.data.amount = `1${lie.data.amount}`;
        lie.data.amountFormatted = formatAmount(BigInt(lie.data.amount), lie.data.decimals);
        const found = await check.doubt(JSON.stringify(lie));
        if (found !== 'no_such_movement') wrong.push(`${chain}: ${found} of a lie`);
      }
    }
  } finally {
    await check.close();
  }
  return wrong;
}

/** F72: records of deposits on real ledgers and stand-ins, reversed ones among them, beside what was paid. */
async function recordProblems(
  { client, chains }: TenChains,
  payments: ReadonlyMap<string, Payment>,
  addresses: ReadonlyMap<Chain, string[]>,
): Promise<string[]> {
  const problems: string[] = [];
  for (const [chain, { threshold }] of chains) {
    const network = networkOf(chain),
      { schema, table } = CONTRACT.transaction;
    const page = await patiently(`records of ${chain}`, () =>
      client.call('listTransactions', { query: { chain, direction: 'in', size: '50' } }),
    );
    if (isRefusal(page)) throw new Error(page.code);
    if (page.content.length === 0) problems.push(`${chain}: no record`);
    for (const record of page.content) {
      const paid = payments.get(record.txid ?? ''),
        isGone = record.status === 'reversed';
      if (paid === undefined) {
        problems.push(`${chain}: ${record.txid} was paid by nobody`);
        continue;
      }
      const holder: Holder = {
        chain,
        environment: 'live',
        address: paid.address,
        userRef: `soak-${chain}-${addresses.get(chain)!.indexOf(paid.address)}`,
        tag: null,
        label: null,
      };
      const movement: Movement = {
        holder,
        asset: { contract: null, symbol: network.nativeSymbol, decimals: network.nativeDecimals },
        direction: 'in',
        status: isGone ? 'reversed' : 'confirmed',
        id: record.id,
        txid: record.txid,
        outputIndex: record.outputIndex,
        counterparty: null,
        amount: paid.amount,
        inBlock: true,
        threshold,
        incarnation: (count) => count >= 1,
        confirmations: (count) => (isGone ? count === 0 : count >= threshold),
        fee: null,
        versions: [],
        explorerUrl: network.explorer.tx.replace('{id}', record.txid!),
        sinceMs: 0,
        before: null,
      };
      problems.push(...problemsOf(`${chain} transaction`, schema, table, record, movement));
    }
  }
  return problems;
}

test(`G7 G10 G15 G16, reliability 4.1-12 to -17: ten chains at once, peers that lag, lie, die and reorganise: each payment is credited exactly once (seed ${SEED}, ${STEPS} steps)`, async (t) => {
  t.timeout(180_000 + STEPS * 20_000);
  t.log(`FLOCK_SEED=${SEED} FLOCK_SOAK_STEPS=${STEPS}`);
  const flock = await openTenChains();
  try {
    const addresses = new Map<Chain, string[]>();
    for (const chain of CHAINS) addresses.set(chain, await flock.issue(chain, ADDRESSES));
    let steps = 0,
      kills = 0;
    let restarting: Promise<unknown> = Promise.resolve();
    const onStep = () => {
      steps += 1;
      if (kills >= KILLS || steps < ((kills + 1) * STEPS * CHAINS.length) / (KILLS + 1)) return;
      kills += 1;
      restarting = restarting.then(async () => {
        flock.deployment.cloud.kill('SIGKILL');
        await flock.deployment.cloud.exited;
        await flock.deployment.restartCloud();
      });
    };
    const played = await Promise.all(
      CHAINS.map((slug, index) =>
        play(flock.chains.get(slug)!, {
          addresses: addresses.get(slug)!,
          random: seeded(SEED * 16 + index),
          steps: STEPS,
          onStep,
          cursorHeight: () => flock.cursorHeight(slug),
          recorded: flock.recorded,
        }),
      ),
    );
    await restarting;
    const payments = new Map(played.flatMap((one) => [...one]));
    const problems = await settle(flock, payments);
    if (problems.length > 0) for (const line of await flock.standing()) t.log(line);
    t.deepEqual(problems.slice(0, 20), []);

    const paid = await standing(flock, payments),
      counts = await countsOf(flock);
    for (const [slug, chain] of flock.chains) {
      const own = [...payments].filter(([, payment]) => payment.chain === slug),
        stands = own.filter(([txid]) => paid.get(txid)!.survives).length;
      const { credited, twice, reversed, uncredited, again } = counts.get(slug)!;
      t.log(
        `${slug.padEnd(8)} ${own.length} payments sent, ${stands} stand, ${credited} credited once, ${twice} twice; ${reversed} reversed, ${again} credited again`,
      );
      t.is(credited, stands, `${slug}: credited once`);
      t.is(twice, 0, `${slug}: credited twice`);
      if (chain.reorgMax > 0) {
        t.true(stands < own.length && reversed > 0, `${slug}: a payment left the chain`);
        t.true(again > 0, `${slug}: one that was reversed is credited again`);
      } else
        t.is(
          uncredited,
          0,
          `${slug}: what is final and confirmed is not reversed; what a peer told falsely is, before it is confirmed`,
        );
    }
    t.is(kills, KILLS);
    t.deepEqual((await recordProblems(flock, payments, addresses)).slice(0, 20), []);
    t.deepEqual(await doubts(flock), [], 'what an edge with nodes of its own would let through');
  } finally {
    await flock.close();
  }
});
