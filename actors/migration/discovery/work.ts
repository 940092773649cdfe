/**
 * The windows of scans: addresses are derived, one endpoint says at one block which of them were used, and that is
 * committed with where the scan goes on. A node that dies in a window leaves it to the next claim, which reads it again
 * and comes to the same. Migration M-D5, M-D8, M-D9.
 */
import type { Use } from '../../../chains/use.ts';
import { chainFailure } from '../../../chains/failure.ts';
import type { ChainAccess } from '../../../model/ports/chain-access.ts';
import type { Lane, Scan, ScanChange, ScanStore } from '../../../model/ports/scan-store.ts';
import type { WatchStore } from '../../../model/ports/watch-store.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { environmentOf, ledgerOf, type AccountId } from '../../../protocol/ids.ts';
import { FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';
import { derive } from '../derivation/thread.ts';
import { advance, endedBy, nextWindow, type Window } from './lanes.ts';

export interface ScanDeps {
  readonly scans: ScanStore;
  readonly chains: Pick<ChainAccess, 'bind'>;
  readonly watch: Pick<WatchStore, 'coverage'>;
  readonly log: Record<'info' | 'warn', (fields: object, message: string) => void>;
  /** How often a window that is under way is held on to; HOLD_MS where absent. */
  readonly holdEveryMs?: number;
}

/** Scans that a node reads at once, each in a round of its own: a slow chain keeps no other waiting. */
export const SCAN_ROUNDS_AT_ONCE = 4;
/** How often each of them looks for scans that are due. */
export const SCAN_SWEEP_MS = 1_000;
/** Windows of one round. */
const WINDOWS_MAX = 250;
/** A third of what a claim lasts: a UTXO scan or a search through filters takes minutes. */
const HOLD_MS = 20_000;
/** Pause of a chain behind each request to an endpoint: ten a second, of all scans together. */
const PAUSE_PER_REQUEST_MS = 100;
/** Failures in a row after which it waits, and the pauses before it is tried again. */
const TRIES = 3;
const RETRY_MS = 1_000;
/** Pause of a chain whose endpoint failed: what was asked of it before that is not known. */
const FAILED_PACE_MS = 1_000;
const WAIT_MS = 30_000;
/** Blocks by which the watcher of the chain may lag before a scan lets it go first, and for how long. */
const LAG_BLOCKS_MAX = 3;
const YIELD_MS = 5_000;
const LAGS = 'the blocks of the chain are read first: their reading is behind';

/** Reads windows of scans that are due, one after the other, until none is. */
export async function scanRound(deps: ScanDeps): Promise<void> {
  for (let read = 0; read < WINDOWS_MAX; read += 1) {
    const [scan] = await deps.scans.claimScans(1);
    if (scan === undefined) return;
    await heldOn(deps, scan, () => readWindow(deps, scan));
  }
}

/** Does the work; meanwhile no other node takes the scan for a dead one's. */
async function heldOn(
  { scans, holdEveryMs = HOLD_MS }: ScanDeps,
  scan: Scan,
  work: () => Promise<void>,
): Promise<void> {
  // After one that fails the next one holds it; without any the window is read again by the node that claims it.
  const timer = setInterval(() => void scans.hold(scan).catch(() => undefined), holdEveryMs);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}

async function readWindow(deps: ScanDeps, scan: Scan): Promise<void> {
  const { scans, chains, log } = deps;
  const { accountId, chain } = scan;
  const window = nextWindow(scan.lanes, scan);
  try {
    const binding = await chains.bind(accountId, chain);
    if (isRefusal(binding)) {
      const reason = String(binding.details['reason'] ?? 'the chain is not enabled');
      return void (await (binding.details['permanent'] === true
        ? failed(deps, scan, reason)
        : unread(deps, scan, reason)));
    }
    if (await isLagging(deps, accountId, chain))
      return void (await scans.advance(scan, { ...same(scan), reason: LAGS, pauseMs: YIELD_MS }, []));
    if (window === null) return void (await complete(deps, scan, scan.lanes, {}));
    const addresses = await addressesOf(accountId, chain, scan.lanes[window.lane]!, window);
    const use = await binding.client.fetchUse?.({ addresses, tokens: scan.tokens });
    if (use === undefined) return void (await failed(deps, scan, 'the chain has no addresses below a public key'));
    // Windows before were read by who sees more: what this one calls unused may be emptied, and would count as a gap.
    if (weaker(scan.evidence, use.evidence) !== scan.evidence && scan.evidence !== null)
      return void (await unread(
        deps,
        scan,
        `only ${use.evidence} is there, and ${scan.evidence} was before`,
        paceOf(scan, use),
      ));
    await commit(deps, scan, window, addresses, use);
  } catch (error) {
    const reason = chainFailure(error);
    if (reason === null) log.warn({ err: error, accountId, scanId: scan.id }, 'a window of a scan failed');
    const paceMs = environmentOf(accountId) === 'sandbox' ? 0 : FAILED_PACE_MS;
    await unread(deps, scan, reason ?? 'an error of ours; it is tried again', paceMs);
  }
}

async function commit(
  deps: ScanDeps,
  scan: Scan,
  window: Window,
  addresses: readonly string[],
  use: Use,
): Promise<void> {
  // What an endpoint saw less of before stays said: a gap that it left is as long as that.
  const evidence = weaker(scan.evidence, use.evidence);
  const { lanes, counted, found } = advance(scan.lanes, window, use.used, scan, evidence);
  const rows = addresses
    .slice(0, counted)
    .map((address, at) => ({ lane: window.lane, index: window.from + at, address, used: use.used[at]! }));
  const seen = { found, evidence, headHeight: use.height };
  if (endedBy(lanes) !== null) return complete(deps, scan, lanes, { ...seen, paceMs: paceOf(scan, use) }, rows);
  await deps.scans.advance(scan, { ...READ, state: 'running', lanes, ...seen, paceMs: paceOf(scan, use) }, rows);
}

const READ = { unread: 0, tries: 0, reason: null, pauseMs: 0 } as const;

async function complete(
  { scans, log }: ScanDeps,
  scan: Scan,
  lanes: readonly Lane[],
  seen: Pick<ScanChange, 'found' | 'evidence' | 'headHeight' | 'paceMs'>,
  rows: Parameters<ScanStore['advance']>[2] = [],
): Promise<void> {
  const stoppedBy = endedBy(lanes)!;
  const isMine = await scans.advance(scan, { ...READ, state: 'completed', lanes, ...seen, stoppedBy }, rows);
  if (isMine) log.info({ accountId: scan.accountId, scanId: scan.id, stoppedBy }, 'a scan has ended');
}

/** A simulated ledger has no pace. */
const paceOf = ({ accountId }: Pick<Scan, 'accountId'>, { requests }: Use): number =>
  environmentOf(accountId) === 'sandbox' ? 0 : requests * PAUSE_PER_REQUEST_MS;

const same = ({ state, unread: left, tries, reason }: Scan) => ({ state, unread: left, tries, reason });

/** The window was not read: it is tried again, and after three failures the scan says that it waits. */
async function unread({ scans }: ScanDeps, scan: Scan, reason: string, paceMs = 0): Promise<void> {
  const tries = scan.tries + 1,
    isWaiting = tries >= TRIES,
    window = nextWindow(scan.lanes, scan);
  await scans.advance(
    scan,
    {
      state: isWaiting ? 'waiting' : 'running',
      unread: window === null ? 0 : window.to - window.from,
      tries,
      reason,
      pauseMs: isWaiting ? WAIT_MS : RETRY_MS,
      paceMs,
    },
    [],
  );
}

async function failed({ scans }: ScanDeps, scan: Scan, reason: string): Promise<void> {
  await scans.advance(scan, { ...READ, state: 'failed', reason }, []);
}

/** Money first: a chain whose watcher is behind is left to it. */
async function isLagging({ watch }: ScanDeps, accountId: AccountId, chain: Chain): Promise<boolean> {
  if (environmentOf(accountId) === 'sandbox') return false;
  const { completeHeight, headHeight } = await watch.coverage(ledgerOf(chain, accountId));
  return completeHeight !== null && headHeight !== null && headHeight - completeHeight > LAG_BLOCKS_MAX;
}

async function addressesOf(
  accountId: AccountId,
  chain: Chain,
  { keys, branch, script }: Lane,
  { from, to }: Window,
): Promise<string[]> {
  const job = { kind: 'addresses', family: FAMILY_OF[chain], script } as const;
  if (keys.length === 1) return derive(accountId, { ...job, keys: [keys[0]!.xpub], branch, from, to });
  const some = keys.slice(from, to).map(({ xpub }) => xpub);
  return derive(accountId, { ...job, keys: some, branch, from: 0, to: 1 });
}

const ORDER = ['unspent_only', 'state', 'blocks', 'history'] as const;
const weaker = (before: Scan['evidence'], now: Use['evidence']): Use['evidence'] =>
  before !== null && ORDER.indexOf(before) < ORDER.indexOf(now) ? before : now;
