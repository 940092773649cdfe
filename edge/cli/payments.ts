/**
 * `npm run -s flock-edge -- payments list | settle ID`: signed payments that may still land as far as the edge knows,
 * and one that an operator looked up on the chain: it landed, or cannot land any more. Settling lets an equal payment,
 * or a higher counter of its sender, be signed. Works on the data directory, and on the EDGE_SPEND_LEDGER of the
 * environment, whether the edge runs or not. Answers are JSON lines on standard output.
 */
import { parseArgs } from 'node:util';
import type { Environ } from '../config.ts';
import { readSecret } from '../process/secret-setting.ts';
import { openSharedSpend, SCOPE_SETTING, spendLedgerPlace, spendReplicaOf } from '../spend/shared-spend.ts';
import type { SharedSpend } from '../spend/replica.ts';
import { SpendLedger, type OpenPayment } from '../spend/ledger.ts';
import { openStorage, type Storage } from '../storage/storage.ts';
import type { Output } from './local-keys.ts';

const USAGE = `usage: flock-edge payments list
       flock-edge payments settle TRANSACTION_ID
   --data-dir DIR      the edge's data directory (EDGE_DATA_DIR, .data/edge)`;

const OPTIONS = { 'data-dir': { type: 'string' } } as const;
const LISTED_MAX = 1_000;
const NO_CAPS = { spendCaps: new Map(), withdrawalCaps: new Map(), spendWindowMs: 1 };
const CLOCK = { nowMs: () => 0, mark: () => undefined };

/** Runs one command; answers the exit code: 0 done, 1 refused, 2 not understood. */
export async function paymentsCommand(
  args: readonly string[],
  env: Environ,
  out: Output,
  err: Output,
): Promise<number> {
  const parsed = parse(args);
  if (parsed === null) {
    err.write(`${USAGE}\n`);
    return 2;
  }
  const storage = openStorage(parsed.dataDir ?? (env['EDGE_DATA_DIR'] || '.data/edge'));
  let shared: SharedSpend | null = null;
  try {
    shared = await sharedOf(storage, env);
    const ledger = new SpendLedger(storage, NO_CAPS, CLOCK);
    const open = await (shared?.open(LISTED_MAX) ?? ledger.open(LISTED_MAX));
    if (parsed.verb === 'list') {
      for (const payment of open) out.write(`${JSON.stringify(viewOf(storage, payment))}\n`);
      return 0;
    }
    if (!ledger.knows(parsed.id) && !open.some(({ transactionId }) => transactionId === parsed.id)) {
      err.write('no such signed payment is known here\n');
      return 1;
    }
    ledger.settle([parsed.id], 'by_operator');
    await shared?.settle([parsed.id], 'by_operator');
    out.write(`${JSON.stringify({ transactionId: parsed.id, settled: 'by_operator' })}\n`);
    return 0;
  } finally {
    await shared?.close();
    storage.close();
  }
}

/**
 * The ledger that the replicas share, under the scope that the edge of this directory counted in. Throws: Error for a
 * setting that is none.
 */
async function sharedOf(storage: Storage, env: Environ): Promise<SharedSpend | null> {
  const problems: string[] = [];
  const text = readSecret(
    Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== '')) as Record<
      string,
      string
    >,
    'EDGE_SPEND_LEDGER',
    problems,
  );
  const scope = storage.setting(SCOPE_SETTING);
  if (problems.length > 0) throw new Error(problems.join('; '));
  if (text == null || scope === null) return null;
  const place = spendLedgerPlace(text);
  if (place === null)
    throw new Error('EDGE_SPEND_LEDGER: must be a postgres:// address or the absolute path of a directory');
  return openSharedSpend({
    place,
    scope,
    caps: NO_CAPS,
    clock: CLOCK,
    replica: spendReplicaOf(storage),
    wallMs: Date.now,
    monotonicMs: () => performance.now(),
  });
}

type Parsed = { readonly verb: 'list' | 'settle'; readonly id: string; readonly dataDir: string | undefined };

function parse(args: readonly string[]): Parsed | null {
  try {
    const {
      positionals: [verb, id = '', ...rest],
      values,
    } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const dataDir = values['data-dir'];
    if (rest.length > 0) return null;
    if (verb === 'list') return id === '' ? { verb, id, dataDir } : null;
    return verb === 'settle' && /^txn_[a-z2-7]{26}$/.test(id) ? { verb, id, dataDir } : null;
  } catch {
    return null;
  }
}

function viewOf(storage: Storage, { countedAtMs, ...payment }: OpenPayment): object {
  const txids = storage.all<{ txid: string }>(
    'select txid from signatures where transaction_id = ? and txid is not null order by rowid',
    payment.transactionId,
  );
  return { ...payment, txids: txids.map(({ txid }) => txid), signedAt: new Date(countedAtMs).toISOString() };
}
