/** Scans for used addresses below the keys of a source, and their limits. Spec §4.8; migration M-D1–M-D10. */
import { gapOf, lanesOf, missingAccount } from '../../../actors/migration/discovery/lanes.ts';
import { readMapping } from '../../../actors/migration/discovery/mapping.ts';
import { originOf } from '../../../actors/migration/trace.ts';
import { sourceOf } from '../../../actors/key-source/decide.ts';
import { deploymentsOf, type Registry } from '../../../chains/catalogue.ts';
import type { Catalogue, Token } from '../../../chains/chain.ts';
import type { Lane, Mapped, NewScan, Scan, ScanPlace } from '../../../model/ports/scan-store.ts';
import { cursorText, pageAskOf } from '../../../protocol/cursor.ts';
import { isRefusal, notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { SCAN_SELF_SERVICE_MAX, type ScanWarning } from '../../../protocol/migration/words.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { pageNumberOf, pageOf } from '../../../protocol/page.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, bearerOf, unknownIn, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { walked } from '../walked.ts';
import { instantOf, instantOrNull } from '../views.ts';
import { noted } from './noted.ts';
import { whileWiped } from './wiped.ts';

type Area =
  | 'discover'
  | 'getScan'
  | 'cancelScan'
  | 'listScanAddresses'
  | 'listScanLimits'
  | 'approveScanLimit'
  | 'declineScanLimit';

/** Of an account, at once. */
const RUNNING_MAX = 4;
/** What an endpoint is asked of a scan in a second. */
const REQUESTS_PER_SECOND = 10;
const CALLS_PER_REQUEST = 100;

export function scanHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    chains,
    log,
    nowMs,
    stores: { uploads, scans },
  } = deps;

  async function scanOf(asked: Pick<Asked<'getScan'>, 'caller' | 'params'>): Promise<Scan | Refusal> {
    const { scanId } = asked.params;
    return (await scans.scan(accountOf(asked), scanId)) ?? unknownIn(asked, 'scan', scanId);
  }
  const viewOf = (scan: Scan) => scanView(scan, nowMs());

  async function decided(
    asked: Asked<'approveScanLimit'> | Asked<'declineScanLimit'>,
    review: 'approved' | 'declined',
  ): Promise<ReplyOf<'getScan'> | Refusal> {
    const { scanId } = asked.params;
    const { note } = asked;
    const scan = await scans.review(scanId, review, note === null ? undefined : { ...note, target: scanId });
    if (scan === 'unknown') return unknownIn(asked, 'scan', scanId);
    if (scan === 'none_waits')
      return refuse('CONFLICT', { reason: 'state' }, 'no limit of this scan waits, or another scan of its keys runs');
    const { userId } = bearerOf(asked);
    log.warn({ requestId: asked.requestId, userId, scanId, status: review }, 'an administrator decided on a scan');
    return viewOf(scan);
  }

  return {
    async discover(asked) {
      const wiped = await whileWiped(deps, asked);
      if (wiped !== null) return wiped;
      const accountId = accountOf(asked),
        { projectId } = asked.params,
        { chain, keySourceId, gapLimit = null, maxScan = SCAN_SELF_SERVICE_MAX, userRefMappingCsv = '' } = asked.body;
      if ((await uploads.project(accountId, projectId)) === null) return unknownIn(asked, 'project', projectId);
      const family = FAMILY_OF[chain];
      if (family === 'sol' || family === 'xlm') return refuse('INVALID_CHAIN', { chain, reason: 'no_discovery' });
      const source = sourceOf(await stateOf(deps, accountId), keySourceId);
      if (source === undefined)
        return notFound('key source', keySourceId, { field: 'keySourceId', environment: asked.caller.environment });
      const branches = asked.body.branches ?? (family === 'btc' ? [0, 1] : [0]);
      const lanes = lanesOf(source, chain, asked.body.template ?? 'account', [...new Set(branches)] as (0 | 1)[]);
      if (lanes.length === 0)
        return refuse('INVALID_INPUT', { field: 'keySourceId', reason: 'no extended public key of this chain' });
      const missing = missingAccount(lanes);
      if (missing !== null)
        return refuse('INVALID_INPUT', {
          field: 'template',
          reason: `account ${missing} has no key`,
          next: 'register the key of each account from 0 on, or leave the template out',
        });
      const binding = await chains.bind(accountId, chain);
      if (isRefusal(binding)) return binding;
      const tokens = tokensNamed(
        chain,
        binding.catalogue,
        asked.body.probeTokens ?? probedAnyway(chains.tokens.catalogueOf(chain)),
        chains.tokens.current,
      );
      if (isRefusal(tokens)) return tokens;
      const mapping = readMapping(userRefMappingCsv);
      if (isRefusal(mapping)) return mapping;
      const isAbove = maxScan > SCAN_SELF_SERVICE_MAX;
      const scan: NewScan = {
        id: newId('scn', nowMs()),
        accountId,
        projectId,
        keySourceId,
        chain,
        gapLimit,
        maxScan: Math.min(maxScan, SCAN_SELF_SERVICE_MAX),
        requestedMaxScan: isAbove ? maxScan : null,
        review: isAbove ? 'pending' : null,
        tokens,
        lanes,
        mappedTo: highest(mapping),
        mapping,
        createdAtMs: nowMs(),
      };
      const outcome = await scans.begin(scan, RUNNING_MAX);
      if (outcome === 'running') return refuse('CONFLICT', { reason: 'scan_running' });
      if (outcome === 'many') return refuse('CONFLICT', { reason: 'too_many_scans', limit: RUNNING_MAX });
      await noted(deps, asked, scan.id);
      return viewOf((await scans.scan(accountId, scan.id))!);
    },
    async getScan(asked) {
      const scan = await scanOf(asked);
      return isRefusal(scan) ? scan : viewOf(scan);
    },
    async cancelScan(asked) {
      const scan = await scanOf(asked);
      if (isRefusal(scan)) return scan;
      if (await scans.cancel(scan.accountId, scan.id)) await noted(deps, asked, scan.id);
      return viewOf((await scans.scan(scan.accountId, scan.id))!);
    },
    async listScanAddresses(asked) {
      const scan = await scanOf(asked);
      if (isRefusal(scan)) return scan;
      const ask = pageAskOf('scan-addresses', asked.query);
      if (isRefusal(ask)) return ask;
      const { size } = ask,
        page = pageNumberOf(ask),
        lengths = rowsOf(scan);
      const after = 'after' in ask ? placeOf(ask.after.key) : placeBefore(lengths, page * size);
      const source = sourceOf(await stateOf(deps, scan.accountId), scan.keySourceId);
      const rows = await scans.rows(scan.accountId, scan.id, after, size + 1);
      const shown = rows.slice(0, size),
        last = shown.at(-1);
      const next =
        rows.length > size
          ? cursorText('scan-addresses', { page: page + 1, key: `${last!.lane}.${last!.index}` })
          : null;
      const content = shown.map(({ lane, index, address, used, userRef }) => {
        const { branch } = scan.lanes[lane]!;
        const derivationPath = pathOf(source?.fingerprint ?? '', scan.lanes[lane]!, index);
        return { index, branch, address, derivationPath, used, userRef };
      });
      return pageOf(content, { page, size, total: lengths.reduce((sum, rows_) => sum + rows_, 0), next });
    },
    async listScanLimits({ query }) {
      const page = await walked('scan-limits', query, {
        read: (after, limit) => scans.underReview(after ?? '', limit),
        keyOf: ({ id }) => id,
      });
      if (isRefusal(page)) return page;
      return {
        content: page.rows.map((scan) => ({ ...viewOf(scan), accountId: scan.accountId })),
        next: page.next,
      };
    },
    approveScanLimit: (asked) => decided(asked, 'approved'),
    declineScanLimit: (asked) => decided(asked, 'declined'),
  };
}

const highest = (mapping: readonly Mapped[]): number | null =>
  mapping.reduce<number | null>((most, { index }) => Math.max(most ?? 0, index), null);

/** Tokens are all that many deposit addresses have: what the catalogue names is asked about where nobody said what. */
const probedAnyway = (catalogue: Catalogue): string[] => [...catalogue.values()].map(({ symbol }) => symbol);

/** Every deployment of a symbol on the chain. Refuses: TOKEN_NOT_ON_CHAIN, TOKEN_NOT_SUPPORTED. */
function tokensNamed(
  chain: Chain,
  catalogue: Catalogue,
  symbols: readonly string[],
  registry: Registry,
): Token[] | Refusal {
  const tokens = new Map<string, Token>();
  for (const symbol of symbols) {
    const here = [...catalogue.values()].filter((one) => one.symbol === symbol);
    if (here.length === 0) {
      const deployedOn = deploymentsOf({
        ...registry,
        tokens: registry.tokens.filter((one) => one.symbol === symbol),
      }).map((one) => one.chain);
      return deployedOn.length > 0
        ? refuse('TOKEN_NOT_ON_CHAIN', { field: 'probeTokens', chain, reason: symbol, deployedOn })
        : refuse('TOKEN_NOT_SUPPORTED', { field: 'probeTokens', chain, reason: symbol });
    }
    for (const token of here) tokens.set(token.contract, token);
  }
  return [...tokens.values()];
}

/** Rows of each lane that a list shows. */
export const rowsOf = ({ lanes, mappedTo }: Pick<Scan, 'lanes' | 'mappedTo'>): number[] =>
  lanes.map(({ lastUsed, next }, at) => Math.min(next, Math.max(lastUsed ?? -1, at === 0 ? (mappedTo ?? -1) : -1) + 1));

/** The place before a row, counted over all lanes. */
function placeBefore(lengths: readonly number[], skip: number): ScanPlace | null {
  if (skip === 0) return null;
  let left = skip;
  for (const [lane, length] of lengths.entries()) {
    if (left <= length) return { lane, index: left - 1 };
    left -= length;
  }
  return { lane: lengths.length, index: 0 };
}

function placeOf(key: string): ScanPlace {
  const [lane, index] = key.split('.').map(Number);
  return { lane: lane!, index: index! };
}

/** `[fingerprint/44'/60'/0'/0/7]`. */
export function pathOf(fingerprint: string, { keys, branch }: Pick<Lane, 'keys' | 'branch'>, index: number): string {
  const key = keys.length === 1 ? keys[0]! : keys[index]!;
  return originOf({ fingerprint }, key, `${branch}/${keys.length === 1 ? index : 0}`);
}

function scanView(scan: Scan, nowMs: number): ReplyOf<'getScan'> {
  const { id, projectId, keySourceId, chain, state, lanes, maxScan, stoppedBy, createdAtMs, endedAtMs } = scan;
  const used = lanes.flatMap(({ lastUsed }) => (lastUsed === null ? [] : [lastUsed]));
  const scanned = lanes.reduce((sum, { next }) => sum + next, 0);
  const estimate = estimateOf(scan);
  const isMoving = state === 'running' && scanned > 0;
  return {
    id,
    scanId: id,
    projectId,
    keySourceId,
    chain,
    networks: [chain],
    state,
    gapLimit: gapOf(scan.gapLimit, scan.evidence),
    maxScan,
    requestedMaxScan: scan.requestedMaxScan,
    review: scan.review,
    scanned,
    found: scan.found,
    lastUsedIndex: used.length === 0 ? null : Math.max(...used),
    largestGap: Math.max(0, ...lanes.map(({ largestGap }) => largestGap)),
    unread: scan.unread,
    truncated: stoppedBy === 'max_scan',
    stoppedBy,
    evidence: scan.evidence,
    headHeight: scan.headHeight,
    etaSeconds: isMoving
      ? Math.ceil((((nowMs - createdAtMs) / scanned) * Math.max(0, estimate.indexes - scanned)) / 1_000)
      : null,
    warnings: warningsOf(scan),
    reason: scan.reason,
    estimate,
    createdAt: instantOf(createdAtMs),
    endedAt: instantOrNull(endedAtMs),
  };
}

function estimateOf({ chain, lanes, maxScan, tokens }: Scan): ReplyOf<'getScan'>['estimate'] {
  const indexes = lanes.reduce(
    (sum, { keys }) => sum + (keys.length === 1 ? maxScan : Math.min(maxScan, keys.length)),
    0,
  );
  const family = FAMILY_OF[chain];
  const requests =
    family === 'evm'
      ? Math.ceil((indexes * (3 + tokens.length)) / CALLS_PER_REQUEST)
      : indexes * (family === 'tron' ? 1 + tokens.length : 1);
  return { indexes, requests, seconds: Math.ceil(requests / REQUESTS_PER_SECOND) };
}

function warningsOf({ chain, evidence, lanes }: Scan): ScanWarning[] {
  const family = FAMILY_OF[chain];
  const said: (ScanWarning | false)[] = [
    evidence === 'unspent_only' && 'spent_unseen',
    (evidence === 'unspent_only' || evidence === 'blocks') && 'pending_unseen',
    (family === 'evm' || family === 'tron') && 'tokens_unseen',
    family === 'evm' && 'evm_networks',
    family === 'xrp' && evidence === 'state' && 'deleted_unseen',
    lanes.some(({ keys, done, next }) => keys.length > 1 && done === 'max_scan' && next >= keys.length) &&
      'keys_exhausted',
    lanes.some(({ branch, lastUsed }) => branch === 1 && lastUsed !== null) && 'change_holds_money',
  ];
  return said.filter((one) => one !== false);
}
