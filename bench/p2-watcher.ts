/**
 * P2: the watcher's CPU for one EVM block — parse, prove, decode, match against watched addresses in PostgreSQL,
 * write — against a lossless parse of the same answers; parse, decode and keys alone for the other families; and what
 * each chain asks of a core at its peak.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogueOf } from '../chains/catalogue.ts';
import type { Endpoint, Transport } from '../chains/chain.ts';
import { factsOf, loadModule, networkOf } from '../chains/registry.ts';
import { contentOf } from '../chain-watchers/follow/content.ts';
import { keyed } from '../chain-watchers/follow/match.ts';
import { emptyMemory, type Run } from '../chain-watchers/memory.ts';
import type { Cursor } from '../model/ports/watch-store.ts';
import { openDatabase, type Sql } from '../persistence/postgres/sql.ts';
import { createWatchStore } from '../persistence/postgres/watch-store.ts';
import { isRefusal } from '../protocol/errors.ts';
import { parseLossless } from '../protocol/lossless-json.ts';
import type { Chain } from '../protocol/slugs.ts';
import { prepareDatabase } from '../developer/database.ts';
import { startEmbeddedPostgres } from '../developer/embedded-postgres.ts';
import { seedDeveloperOrganizations } from '../developer/seed.ts';
import { realisticBlock, type RecordedBlock } from './evm-blocks.ts';
import { FAMILY_BLOCKS, stellarBlock } from './family-blocks.ts';
import { backendsCpuMs, median, type Figure } from './figure.ts';

/** 10 × the recorded block: 180 transactions, 610 logs, what a block of Ethereum holds. */
const COPIES = 10;
const BLOCKS = 24;
const WARM_BLOCKS = 8;
const TRANSACTIONS = 180;
const PAID_PER_BLOCK = 2;
/** What a ledger of Stellar holds at most. */
const STELLAR_OPERATIONS = 1_000;
/** Watched addresses at each measurement; the registry grows from one to the next. */
const REGISTRY_ROWS = [1_000_000, 10_000_000];
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));
const payee = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;

/** CPU of this process for one call, all threads, microseconds. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Two decimals, for people. */
const rounded = (value: number): number => Math.round(value * 100) / 100;

/**
 * Rows of the registry for the numbers of a range, as the append would write them; only paid ones need their `address`.
 */
async function fill(sql: Sql, accountId: string, from: number, to: number): Promise<void> {
  await sql`
    select set_config(name, value, false)
      from (values ('session_replication_role', 'replica'), ('work_mem', '256MB'), ('synchronous_commit', 'off'),
                   ('statement_timeout', '0')) as setting(name, value)`;
  await sql`
    insert into flock.address_registry (address_key, account_id, address_id)
      select encode(substr(sha256(convert_to('liveevm', 'UTF8') || decode(lpad(to_hex(n), 40, '0'), 'hex')), 1, 16),
                    'hex')::uuid as key,
             ${accountId}, 'adr_' || lpad(n::text, 26, '0')
        from generate_series(${from}::bigint, ${to}::bigint) n order by key`;
}

/** The issued addresses of the numbers from 1, in their canonical text. */
async function fillPaid(sql: Sql, accountId: string, canonical: readonly string[]): Promise<void> {
  await sql`set session_replication_role = replica`;
  await sql`
    insert into flock.address
        (account_id, id, environment, chain, family, address, address_key, derivation_path, purpose, index, status,
         created_at)
      select g.account_id, g.address_id, 'live', 'eth', 'evm', r.address, g.address_key,
             'm/44''/60''/0''/0/' || r.n, 'deposit', r.n, 'active', now()
        from jsonb_array_elements_text(${JSON.stringify(canonical)}::text::jsonb) with ordinality r(address, n)
        join flock.address_registry g
          on g.account_id = ${accountId} and g.address_id = 'adr_' || lpad(r.n::text, 26, '0')`;
  await sql`analyze flock.address`;
  await sql`analyze flock.address_registry`;
}

/** Recorded answers begin so, and with the id 1. */
const ANSWER = '{"jsonrpc":"2.0","id":';

/** A node that answers from memory. */
function transportOf(blocks: ReadonlyMap<string, RecordedBlock>): Transport {
  const replies = new Map<string, string>();
  for (const block of blocks.values()) {
    replies.set(`eth_getBlockByNumber 0x${block.height.toString(16)}`, block.block);
    replies.set(`eth_getBlockReceipts 0x${block.height.toString(16).padStart(64, '0')}`, block.receipts);
  }
  const missing = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32_601, message: 'the method does not exist' },
  });
  const endpoint: Endpoint = {
    name: 'recorded',
    async request({ body }) {
      const { id, method, params } = JSON.parse(body ?? '{}') as {
        id: number;
        method: string;
        params: readonly unknown[];
      };
      const text = replies.get(`${method} ${String(params[0])}`) ?? missing;
      // F25: under the asked id
      return { status: 200, headers: {}, text: `${ANSWER}${id}${text.slice(ANSWER.length + 1)}` };
    },
  };
  return { endpoints: [endpoint], pick: () => endpoint, attempt: (read) => read(endpoint), report: () => undefined };
}

function canonicalOf(address: string): string {
  const parsed = factsOf('eth').parseAddress(networkOf('eth'), address);
  if (isRefusal(parsed)) throw new Error(`${address} is no address`);
  return parsed.canonical;
}

async function runOf(sql: Sql, blocks: ReadonlyMap<string, RecordedBlock>): Promise<Run> {
  const network = networkOf('eth'),
    module = await loadModule('eth'),
    catalogue = catalogueOf('eth');
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const parts = {
    ledger: 'eth',
    network,
    module,
    catalogue,
    client: module.createClient(network, transportOf(blocks), catalogue),
    store: createWatchStore(sql),
    witnesses: [],
    log: silent,
    nowMs: Date.now,
    reconcilePerBlock: null,
  } as unknown as Run['parts']; // what a block's content and its record need
  return { parts, memory: emptyMemory(), waker: { wake: () => undefined, settled: async () => undefined } };
}

interface Measured {
  readonly oursUs: number;
  readonly databaseUs: number;
  readonly losslessUs: number;
  readonly nativeUs: number;
  readonly lookupMs: number;
  readonly matched: number;
}

/**
 * Every block read, proven, decoded, matched and recorded, in turns with the parse of its answers: medians over the
 * blocks after the first ones. The database's part is a mean of those, since /proc counts in hundredths of a second.
 */
async function watch(
  run: Run,
  blocks: readonly RecordedBlock[],
  from: Cursor | null,
  databasePid: number,
): Promise<Measured & { cursor: Cursor }> {
  const { client, store, ledger } = run.parts;
  const cpu: number[] = [],
    lookups: number[] = [],
    lossless: number[] = [],
    native: number[] = [];
  let cursor = from,
    matched = 0;
  const timed = {
    ...store,
    watched: async (...asked: Parameters<typeof store.watched>) => {
      const at = performance.now();
      const found = await store.watched(...asked);
      lookups.push(performance.now() - at);
      return found;
    },
  };
  const measuredRun: Run = { ...run, parts: { ...run.parts, store: timed } };
  let databaseMs = 0;
  for (const [at, { height, block: answer, receipts }] of blocks.entries()) {
    lossless.push(
      await cpuOf(() => {
        for (const text of [answer, receipts]) parseLossless(text);
      }),
    );
    native.push(
      await cpuOf(() => {
        for (const text of [answer, receipts]) JSON.parse(text);
      }),
    );
    if (at === WARM_BLOCKS) databaseMs = backendsCpuMs(databasePid);
    cpu.push(
      await cpuOf(async () => {
        const block = await client.getBlock(height);
        const { record } = await contentOf(measuredRun, block, cursor);
        const { recorded } = await store.recordBlock(ledger, record);
        if (!recorded) throw new Error(`block ${height} was not recorded`);
        matched += record.transfers.length;
        cursor = { height: block.height, hash: block.hash };
      }),
    );
  }
  databaseMs = backendsCpuMs(databasePid) - databaseMs;
  const after = (samples: readonly number[]): number => median(samples.slice(WARM_BLOCKS));
  return {
    oursUs: after(cpu),
    databaseUs: (databaseMs * 1_000) / (blocks.length - WARM_BLOCKS),
    losslessUs: after(lossless),
    nativeUs: after(native),
    lookupMs: after(lookups),
    matched,
    cursor: cursor!,
  };
}

/** CPU per transaction with everything, by chain: the four others of the family are read alike. */
async function evm(): Promise<Map<Chain, number>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-bench-'));
  const postgres = await startEmbeddedPostgres({
    dataDir: join(dataDir, 'postgres'),
    durable: false,
    log: () => undefined,
  });
  const { appUrl, superuserUrl } = await prepareDatabase(postgres.url);
  const sql = openDatabase({ url: appUrl, connections: 4, name: 'flock-bench' });
  const admin = openDatabase({ url: superuserUrl, connections: 1, name: 'flock-bench-fill', role: null });
  try {
    const { organizationId } = await seedDeveloperOrganizations({
      databaseUrl: appUrl,
      secretKey: '0'.repeat(64),
      recordFile: join(dataDir, 'seed.json'),
    });
    const accountId = `${organizationId}_live`;
    const total = BLOCKS * REGISTRY_ROWS.length;
    const blocks = Array.from({ length: total }, (_, n) =>
      realisticBlock(
        n + 1,
        COPIES,
        Array.from({ length: PAID_PER_BLOCK }, (_, k) => payee(1 + n * PAID_PER_BLOCK + k)),
      ),
    );
    const run = await runOf(sql, new Map(blocks.map((block) => [String(block.height), block])));
    let filled = 0;
    let cursor: Cursor | null = null;
    const lookups: string[] = [],
      costs: number[] = [];
    for (const [stage, rows] of REGISTRY_ROWS.entries()) {
      await fill(admin, accountId, filled + 1, rows);
      const paid = Array.from({ length: total * PAID_PER_BLOCK }, (_, n) => canonicalOf(payee(1 + n)));
      if (filled === 0) await fillPaid(admin, accountId, paid);
      filled = rows;
      const measured = await watch(run, blocks.slice(stage * BLOCKS, (stage + 1) * BLOCKS), cursor, postgres.pid);
      cursor = measured.cursor;
      const oursUs = measured.oursUs + measured.databaseUs;
      costs.push(oursUs);
      if (measured.matched !== BLOCKS * PAID_PER_BLOCK) throw new Error(`${measured.matched} payments matched`);
      lookups.push(`${rounded(measured.lookupMs)} ms at ${rows / 1e6} M`);
      const kilobytes = Math.round((blocks[0]!.block.length + blocks[0]!.receipts.length) / 1_000);
      emit({
        id: stage === 0 ? 'P2a' : 'P2b',
        what: `CPU of one EVM block, ${rows / 1e6} M watched addresses`,
        ours: oursUs / 1_000,
        limit: measured.losslessUs / 1_000,
        unit: 'ms',
        better: 'lower',
        goal: 2,
        note:
          `180 transactions, 610 logs, ${kilobytes} kB; watcher ${rounded(measured.oursUs / 1_000)} ms, database ${rounded(measured.databaseUs / 1_000)} ms; limit: lossless parse of the same answers, in turns; ` +
          `${rounded(oursUs / measured.nativeUs)} × JSON.parse; look-up of the block's payees: ${lookups.join(', ')}`,
      });
    }
    return new Map([['eth', median(costs) / TRANSACTIONS]]);
  } finally {
    await sql.end({ timeout: 5 });
    await admin.end({ timeout: 5 });
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const ROUNDS = 12;
const WARM_ROUNDS = 4;

/** Medians of what is measured in turns, microseconds, after the first rounds. */
async function inTurns<K extends string>(works: Readonly<Record<K, () => unknown>>): Promise<Record<K, number>> {
  const empty = Object.keys(works).map((name) => [name, [] as number[]]);
  const samples = Object.fromEntries(empty) as unknown as Record<K, number[]>;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, work] of Object.entries(works) as [K, () => unknown][]) samples[name].push(await cpuOf(work));
  }
  const medians = Object.entries<number[]>(samples).map(([name, all]) => [name, median(all.slice(WARM_ROUNDS))]);
  return Object.fromEntries(medians) as Record<K, number>;
}

/** Parse, decode and key, without a database: what grows with the block. CPU per transaction, by chain. */
async function others(): Promise<Map<Chain, number>> {
  const perEntry = new Map<Chain, number>();
  for (const make of FAMILY_BLOCKS) {
    const { chain, count, texts } = make();
    const network = networkOf(chain),
      module = await loadModule(chain),
      catalogue = catalogueOf(chain);
    const parseBy = (by: (text: string) => unknown) => (): void => {
      for (const [, text] of texts) by(text);
    };
    const { ours, lossless, native } = await inTurns({
      ours: () => {
        const answers = Object.fromEntries(texts.map(([name, text]) => [name, parseLossless(text)]));
        const block = module.blockFromAnswers!(network, answers);
        keyed(module, network, 'live', block, module.transfersIn(network, block, catalogue).transfers);
      },
      lossless: parseBy(parseLossless),
      native: parseBy(JSON.parse),
    });
    perEntry.set(chain, ours / count);
    const kilobytes = Math.round(texts.reduce((sum, [, text]) => sum + text.length, 0) / 1_000);
    emit({
      id: `P2-${chain}`,
      what: `CPU of parse, decode and match keys, one ${chain} block`,
      ours: ours / 1_000,
      limit: lossless / 1_000,
      unit: 'ms',
      better: 'lower',
      goal: 2,
      note:
        `${count} transactions, ${kilobytes} kB; limit: lossless parse of the same answers; ` +
        `${rounded(ours / native)} × JSON.parse; no database`,
    });
  }
  perEntry.set('xlm', await stellar());
  return perEntry;
}

/**
 * A ledger of Stellar comes as XDR: read, proven and decoded by the client, against the SDK's decoding of the same
 * bytes.
 */
async function stellar(): Promise<number> {
  const { operations, height, endpoint, text } = await stellarBlock(STELLAR_OPERATIONS);
  const network = networkOf('xlm'),
    module = await loadModule('xlm'),
    catalogue = catalogueOf('xlm');
  const transport: Transport = {
    endpoints: [endpoint],
    pick: () => endpoint,
    attempt: (read) => read(endpoint),
    report: () => undefined,
  };
  const { LedgerCloseMeta } = await import('@stellar/stellar-sdk/xdr');
  const { ours, xdr } = await inTurns({
    ours: async () => {
      // A new client each time: one remembers the ledgers that it has proven.
      const block = await module.createClient(network, transport, catalogue).getBlock(height);
      keyed(module, network, 'live', block, module.transfersIn(network, block, catalogue).transfers);
    },
    xdr: () => {
      const { result } = JSON.parse(text) as { result: { ledgers: { metadataXdr: string }[] } };
      LedgerCloseMeta.fromXdr(Buffer.from(result.ledgers[0]!.metadataXdr, 'base64'));
    },
  });
  emit({
    id: 'P2-xlm',
    what: 'CPU of parse, proof, decode and match keys, one xlm ledger',
    ours: ours / 1_000,
    limit: xdr / 1_000,
    unit: 'ms',
    better: 'lower',
    goal: 2,
    note:
      `${operations} payments in ${operations / 10} transactions, ${Math.round(text.length / 1_000)} kB, by RPC; ` +
      "limit: the SDK's own decoding of the same XDR; no database",
  });
  return ours / operations;
}

/** What each chain asks for at its peak. chains.md part 10: entries of a block, and seconds between blocks. */
const PEAKS: readonly (readonly [chain: Chain, entries: number, seconds: number])[] = [
  ['btc', 4_373, 600],
  ['eth', 2_857, 12],
  ['bsc', 170, 0.45],
  ['polygon', 380, 2],
  ['avax', 714, 1],
  ['base', 10_000, 2],
  ['tron', 480, 3],
  ['sol', 1_700, 0.4],
  ['xrp', 420, 3],
  ['xlm', 1_000, 5],
];

/** CPU seconds of work for a second of chain time; a fifth is what catches up an hour's outage in a quarter. */
function peaks(perEntryUs: ReadonlyMap<Chain, number>): void {
  for (const [chain, entries, seconds] of PEAKS) {
    const us = perEntryUs.get(chain) ?? perEntryUs.get('eth')!;
    emit({
      id: `P2-peak-${chain}`,
      what: `share of one core that ${chain} takes at its peak`,
      ours: (us * entries) / seconds / 1e6,
      limit: 1,
      unit: 'CPU s/s',
      better: 'lower',
      goal: 0.2,
      note:
        `${entries} entries each ${seconds} s, ${Math.round(us)} µs each; ` +
        'a fifth of a core leaves room for five times that',
    });
  }
}

const perEntryUs = await evm();
for (const [chain, us] of await others()) perEntryUs.set(chain, us);
peaks(perEntryUs);
