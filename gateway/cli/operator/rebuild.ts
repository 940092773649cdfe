/**
 * `chains rebuild --chain C [--above HEIGHT]`: after a chain stopped, because its nodes hold none of our newest blocks
 * (G17), says where both part, and with `--above` takes the chain's branch above that height, which must be where they
 * part. It asks the nodes of
 * `…_RPC_URLS` itself and may run beside the nodes of the cloud: the one that follows the chain sees on its next look
 * that the chain moved on, and goes on from there.
 */
import { Contradicted } from '../../../chain-watchers/follow/movements.ts';
import { openLiveChains, type LiveChain } from '../../../chain-watchers/live.ts';
import type { Parting, RebuildRefusal } from '../../../chain-watchers/reorg/rebuild.ts';
import type { Metrics } from '../../../chain-watchers/ports.ts';
import { chainFailure } from '../../../chains/failure.ts';
import { isEnabled, loadModule, networkOf } from '../../../chains/registry.ts';
import type { Tokens } from '../../../chains/tokens.ts';
import type { AuditStore } from '../../../model/ports/audit-store.ts';
import type { WatchStore } from '../../../model/ports/watch-store.ts';
import { withFiles } from '../../../protocol/node/settings-in-files.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { readChainSettings } from '../../../chain-watchers/settings.ts';

const NEXT: Readonly<Record<RebuildRefusal, string>> = {
  nothing_followed: 'no block of this chain is recorded: start a node of the cloud, it begins at the head',
  same_branch: 'the nodes hold our newest block: there is nothing to rebuild',
  head_is_behind:
    'the nodes are below our newest block, and what they do not hold yet would be reversed: wait until `head` is at `cursor` or above it',
  nothing_common:
    'the nodes hold none of the blocks that are kept: look whether they are of another network, or give another archive of the chain as endpoint',
  above_common: 'at that height the nodes hold another block: name the height of `common`',
  below_common:
    'the nodes hold our blocks above that height, and those are not read again: name the height of `common`',
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
  readonly tokens: Tokens;
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
    if (nothing !== null) throw refusedFor(nothing, { cursor, headHeight, common });
    const where = { chain, cursor: cursor!.height, head: headHeight, common: common!.height };
    if (above === null) return { ...where, replaces: cursor!.height - common!.height };
    const rebuilt = await one.watcher.rebuildAbove(above);
    switch (rebuilt.kind) {
      case 'reorg':
        return { ...where, above, replaced: rebuilt.depth, followed: rebuilt.cursor.height };
      case 'refused':
        throw refusedFor(rebuilt.refusal, rebuilt.parting);
      case 'lost_race':
        throw new RebuildRefused('moved_meanwhile', 'a node of the cloud followed the chain meanwhile: look again');
    }
  } catch (error) {
    const reason = chainFailure(error);
    if (reason === null) throw error;
    if (error instanceof Contradicted)
      throw new RebuildRefused(
        'not_agreed',
        `${reason}; nothing was changed: find out which one is wrong, and run it again`,
      );
    throw new RebuildRefused('chain_unavailable', `${reason}; nothing was changed, run it again`);
  } finally {
    await close();
  }
}

/** With the heights, so that a person sees how far to wait, or which one to name. */
function refusedFor(refusal: RebuildRefusal, { cursor, headHeight, common }: Parting): RebuildRefused {
  const heights = `cursor: ${cursor?.height ?? 'none'}, head: ${headHeight}, common: ${common?.height ?? 'none'}`;
  return new RebuildRefused(refusal, `${NEXT[refusal]} (${heights})`);
}

async function open(
  { watch, audit, tokens, env, nowMs, say }: Rebuilding,
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
    tokens,
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
