/**
 * `chains rebuild --chain C [--above HEIGHT]`: after a chain stopped, because its nodes hold none of our newest blocks
 * (G17), says where both part, and with `--above` takes the chain's branch above that height. It asks the nodes of
 * `…_RPC_URLS` itself and may run beside the nodes of the cloud: the one that follows the chain sees on its next look
 * that the chain moved on, and goes on from there.
 */
import { openLiveChains, type LiveChain } from '../../../chain-watchers/live.ts';
import type { RebuildRefusal } from '../../../chain-watchers/reorg/rebuild.ts';
import type { Metrics } from '../../../chain-watchers/ports.ts';
import { catalogueOf } from '../../../chains/catalogue.ts';
import { chainFailure } from '../../../chains/failure.ts';
import { isEnabled, loadModule, networkOf } from '../../../chains/registry.ts';
import type { AuditStore } from '../../../model/ports/audit-store.ts';
import type { WatchStore } from '../../../model/ports/watch-store.ts';
import { withFiles } from '../../../protocol/node/settings-in-files.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { readChainSettings } from '../../../supervision/config.ts';

const NEXT: Readonly<Record<RebuildRefusal, string>> = {
  nothing_followed: 'no block of this chain is recorded: start a node of the cloud, it begins at the head',
  same_branch: 'the nodes hold our newest block: there is nothing to rebuild',
  head_is_behind: 'the nodes are below our newest block and on our branch: wait until they have caught up',
  nothing_common:
    'the nodes hold none of the blocks that are kept: look whether they are of another network, or give another archive of the chain as endpoint',
  above_common: 'at that height the nodes hold another block: name the height of `common`, or a lower one',
  not_kept: 'no block at that height or below is kept: name a higher one, at most that of `common`',
};

/** Answers of the command that are no result: exit code 1. */
export type RebuildFault = RebuildRefusal | 'not_configured' | 'chain_unavailable' | 'not_agreed' | 'moved_meanwhile';

export class RebuildRefused extends Error {
  constructor(fault: RebuildFault, words: string) {
    super(`${fault}: ${words}`);
    this.name = 'RebuildRefused';
  }
}

export interface Rebuilding {
  readonly watch: WatchStore;
  readonly audit: AuditStore;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: () => number;
  /** What the watcher says meanwhile. */
  readonly say: (line: string) => void;
}

const NO_METRICS: Metrics = { set: () => undefined, add: () => undefined, observeBlock: () => undefined };

/**
 * The answer of the command; without a height it changes nothing. Throws: RebuildRefused; RangeError for settings of
 * the chain that cannot be read.
 */
export async function rebuildChain(rebuilding: Rebuilding, chain: Chain, above: number | null): Promise<object> {
  const { close, one } = await open(rebuilding, chain);
  try {
    await one.checkTokens();
    await one.watcher.look();
    const { nothing, cursor, headHeight, common } = await one.watcher.parting();
    if (nothing !== null) throw new RebuildRefused(nothing, NEXT[nothing]);
    const where = { chain, cursor: cursor!.height, head: headHeight, common: common!.height };
    if (above === null) return { ...where, replaces: cursor!.height - common!.height };
    const rebuilt = await one.watcher.rebuildAbove(above);
    switch (rebuilt.kind) {
      case 'reorg':
        return { ...where, above, replaced: rebuilt.depth, followed: rebuilt.cursor.height };
      case 'refused':
        throw new RebuildRefused(rebuilt.refusal, `${NEXT[rebuilt.refusal]} (common: ${common!.height})`);
      case 'lost_race':
        throw new RebuildRefused('moved_meanwhile', 'a node of the cloud followed the chain meanwhile: look again');
      case 'ours':
        throw new RebuildRefused('same_branch', NEXT.same_branch);
      case 'suspect':
      case 'stopped':
        throw new RebuildRefused('not_agreed', rebuilt.reason);
    }
  } catch (error) {
    const reason = chainFailure(error);
    if (reason === null) throw error;
    throw new RebuildRefused('chain_unavailable', `${reason}; nothing was changed, run it again`);
  } finally {
    await close();
  }
}

async function open(
  { watch, audit, env, nowMs, say }: Rebuilding,
  chain: Chain,
): Promise<{ one: LiveChain; close: () => Promise<void> }> {
  const setting = `${chain.toUpperCase()}_RPC_URLS`,
    problems: string[] = [];
  const { [chain]: settings } = readChainSettings(withFiles(env, [setting], problems), problems);
  if (problems.length > 0) throw new RangeError(problems.join('; '));
  if (settings === undefined)
    throw new RebuildRefused('not_configured', `${setting} is needed: the same nodes as those of the cloud`);
  const line = (fields: object, message: string) => say(`${message} ${JSON.stringify(fields)}`);
  const live = await openLiveChains({
    chains: { [chain]: settings },
    networkOf,
    isEnabled,
    loadModule,
    catalogueOf: (slug) => catalogueOf(slug),
    watch,
    audit,
    // Facts wait in the inbox of their account; its node finds them there.
    accounts: { wake: async () => undefined, ask: () => Promise.reject(new Error('no account is asked here')) },
    nowMs,
    random: Math.random,
    log: { info: () => undefined, warn: line, error: line },
    metrics: NO_METRICS,
  });
  const one = live.chains.get(chain);
  if (one === undefined) throw new RebuildRefused('not_configured', `this version does not run ${chain}`);
  return { one, close: live.close };
}
