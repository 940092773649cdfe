/**
 * Where the outputs of an address come from, at a node's head.
 *
 *   index        an address index answers at once
 *   scan         without one, `scantxoutset` of the node itself: minutes on the main network, one at a time, and the
 *                same effort for one script as for thousands. So scripts are gathered, a script that was scanned once
 *                is kept up with the blocks that follow, and a caller who waits too long is asked to retry.
 *
 * Both give a snapshot at some block; the blocks after it are read until the node's head. A snapshot may hold outputs
 * that are spent meanwhile: whether one is unspent is asked of the node in any case (`coins.ts`). It must not lack one.
 */
import { z } from 'zod';
import { ChainUnavailable, type Block, type Endpoint, type Head } from '../chain.ts';
import { listIn, objectIn, type Answer } from '../node-answer.ts';
import { readBlock, readHash } from './block.ts';
import { indexSnapshot, type Snapshot } from './esplora.ts';
import type { BtcNetwork } from './network.ts';
import { ask, call, parsed } from './node.ts';
import type { Sources } from './sources.ts';
import type { BtcBlock } from './transfers.ts';

export interface Snapshots {
  /** Outputs that may pay the address and be unspent at this head of this node. Throws: ChainUnavailable. */
  outpointsAt(node: Endpoint, address: string, script: Uint8Array, head: Head): Promise<ReadonlySet<string>>;
  /**
   * Whether anything pays each script and was unspent when the node scanned its outputs, or came since: one scan for
   * all of them. Throws: ChainUnavailable.
   */
  paidAt(node: Endpoint, scripts: readonly Uint8Array[], head: Head): Promise<readonly boolean[]>;
  /** A block that was read anyway: keeps scanned scripts current without reading it again. */
  see(block: Block<BtcBlock>): void;
}

/**
 * Blocks that are read to come from a snapshot to the head. Choice: about a minute of reading, the time of a new scan.
 */
const FOLLOWED_BLOCKS_MAX = 72;
/** Blocks by which node and snapshot may differ in a moment when a block spreads. */
const TRAILING_BLOCKS_MAX = 1;
/** Scripts that are kept up; the one asked for longest ago goes first. */
const SCRIPTS_MAX = 50_000;
const SCRIPTS_PER_SCAN = 10_000;
/** How long a caller waits for a scan that it needs, milliseconds. It goes on without the caller. */
export const SCAN_WAIT_MS = 12_000;
/** The longest scan, milliseconds. */
const SCAN_MS_MAX = 900_000;

const scanReply = z.object({
  success: z.literal(true),
  height: z.int().nonnegative(),
  bestblock: z.string().regex(/^[0-9a-f]{64}$/),
  unspents: z.array(z.object({ txid: z.string(), vout: z.int().nonnegative(), scriptPubKey: z.string() })),
});

type Scripts = Map<string, Set<string>>;
const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');

/** Adds to each known script the outputs of a block that pay it. */
function addOutputs(scripts: Scripts, { raw }: Block<BtcBlock>): void {
  for (const entry of listIn(raw['tx'], 'transactions of a block')) {
    const transaction = objectIn(entry, 'transaction');
    for (const output of listIn(transaction['vout'], 'outputs')) {
      const { n, scriptPubKey } = objectIn(output, 'output');
      scripts.get(String((scriptPubKey as Answer | null)?.['hex']))?.add(`${String(transaction['txid'])}:${String(n)}`);
    }
  }
}

type Place = Pick<Head, 'height' | 'hash'>;

interface Following {
  readonly network: BtcNetwork;
  readonly node: Endpoint;
  readonly head: Head;
  /** Blocks by which the place may be above the head: the node is waited for. Further above, the chain went back. */
  readonly aheadMax: number;
}

/**
 * Reads the blocks above a place up to a head. False when the place is not on the head's chain, or too far below it.
 * Throws: ChainUnavailable when the node has not come to the place yet.
 */
async function follow(
  { network, node, head, aheadMax }: Following,
  place: Place,
  take: (block: Block<BtcBlock>) => void,
): Promise<boolean> {
  if (head.height - place.height > FOLLOWED_BLOCKS_MAX) return false;
  if (place.height > head.height) {
    const hash = await readHash(network, node, place.height);
    if (hash === null && place.height - head.height <= aheadMax) {
      throw new ChainUnavailable(network.slug, `the node has not come to ${place.height} yet`);
    }
    return hash === place.hash;
  }
  let parent = place.hash;
  for (let height = place.height + 1; height <= head.height; height += 1) {
    const block = await readBlock(network, node, height);
    if (block.parentHash !== parent) return false;
    take(block);
    parent = block.hash;
  }
  return parent === head.hash;
}

/** Snapshots over the sources of one network. `waitMs` bounds a caller's wait for a scan. */
export function createSnapshots(network: BtcNetwork, sources: Sources, waitMs: number = SCAN_WAIT_MS): Snapshots {
  const scans = new Scans(network, waitMs);

  const fromIndex = async (
    index: Endpoint,
    node: Endpoint,
    address: string,
    script: Uint8Array,
    head: Head,
  ): Promise<ReadonlySet<string> | null> => {
    let snapshot: Snapshot;
    try {
      snapshot = await indexSnapshot(network, index, address, script);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      return null; // another index, or the node itself
    }
    const scripts: Scripts = new Map([[hexOf(script), new Set(snapshot.outpoints)]]);
    const following = { network, node, head, aheadMax: Infinity };
    return (await follow(following, snapshot, (block) => addOutputs(scripts, block)))
      ? scripts.get(hexOf(script))!
      : null;
  };

  return {
    see: (block) => scans.see(block),
    paidAt: (node, wanted, head) =>
      Promise.all(wanted.map(async (script) => (await scans.outpointsAt(node, hexOf(script), head)).size > 0)),
    async outpointsAt(node, address, script, head) {
      for (const index of await sources.indexes()) {
        const found = await fromIndex(index, node, address, script, head);
        if (found !== null) return found;
      }
      return scans.outpointsAt(node, hexOf(script), head);
    },
  };
}

/**
 * Scripts that a node scanned for, kept up to one position of the chain. A reorg below it, or a gap that is too long,
 * forgets all of them: outputs that come back with a replaced block are not in any list.
 */
class Scans {
  readonly #network: BtcNetwork;
  readonly #waitMs: number;
  #scripts: Scripts = new Map();
  #position: Place | null = null;
  #wanted = new Set<string>();
  #running: Promise<void> | null = null;
  /** Moves of the position, one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(network: BtcNetwork, waitMs: number) {
    this.#network = network;
    this.#waitMs = waitMs;
  }

  see(block: Block<BtcBlock>): void {
    if (this.#position === null || block.parentHash !== this.#position.hash) return;
    addOutputs(this.#scripts, block);
    this.#position = { height: block.height, hash: block.hash };
  }

  async outpointsAt(node: Endpoint, script: string, head: Head): Promise<ReadonlySet<string>> {
    // The second time, everything was forgotten and is scanned at the head itself.
    for (let tries = 0; tries < 2; tries += 1) {
      await this.#awaitScan(node, script);
      const found = await this.#inTurn(() => this.#upTo(node, script, head));
      if (found !== null) return found;
    }
    throw new ChainUnavailable(this.#network.slug, 'the chain moved while it was scanned');
  }

  async #upTo(node: Endpoint, script: string, head: Head): Promise<ReadonlySet<string> | null> {
    const position = this.#position;
    if (position === null || !this.#scripts.has(script)) return null;
    const following = { network: this.#network, node, head, aheadMax: TRAILING_BLOCKS_MAX };
    const followed = await follow(following, position, (block) => this.see(block));
    if (!followed) {
      this.#forget();
      return null;
    }
    const found = this.#scripts.get(script);
    if (found === undefined) return null;
    this.#scripts.delete(script); // the script asked for last comes last
    this.#scripts.set(script, found);
    return new Set(found);
  }

  #forget(): void {
    this.#scripts = new Map();
    this.#position = null;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work, work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #awaitScan(node: Endpoint, script: string): Promise<void> {
    if (this.#scripts.has(script)) return;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, this.#waitMs, 'late');
    });
    const result = await Promise.race([this.#scanFor(node, script), patience]).finally(() => clearTimeout(timer));
    if (result === 'late') {
      throw new ChainUnavailable(this.#network.slug, 'the node scans its outputs for this address; ask again');
    }
  }

  /** Resolves when the script was scanned; joins the scan that is running only if that one looks for it. */
  async #scanFor(node: Endpoint, script: string): Promise<void> {
    while (!this.#scripts.has(script)) {
      this.#wanted.add(script);
      this.#running ??= this.#scan(node).finally(() => {
        this.#running = null;
      });
      await this.#running;
    }
  }

  async #scan(node: Endpoint): Promise<void> {
    const scripts = [...this.#wanted].slice(0, SCRIPTS_PER_SCAN);
    for (const script of scripts) this.#wanted.delete(script);
    const asked = call(
      'scantxoutset',
      'start',
      scripts.map((script) => ({ desc: `raw(${script})` })),
    );
    const reply = parsed(scanReply, await ask(this.#network, patient(node), asked), 'scantxoutset');
    const found: Scripts = new Map(scripts.map((script) => [script, new Set<string>()]));
    for (const { txid, vout, scriptPubKey } of reply.unspents) found.get(scriptPubKey)?.add(`${txid}:${vout}`);
    await this.#inTurn(() => this.#take(node, found, { height: reply.height, hash: reply.bestblock }));
  }

  /** Both parts go on from the lower position: an output that is added twice is one. */
  async #take(node: Endpoint, found: Scripts, at: Place): Promise<void> {
    const before = this.#position;
    if (before !== null && (await readHash(this.#network, node, before.height)) !== before.hash) this.#forget();
    const position = this.#position; // `see` may have moved it meanwhile, along parent links
    for (const [script, outpoints] of found) this.#scripts.set(script, outpoints);
    this.#position = position !== null && position.height < at.height ? position : at;
    for (const script of this.#scripts.keys()) {
      if (this.#scripts.size <= SCRIPTS_MAX) break;
      this.#scripts.delete(script);
    }
  }
}

/** The same node, waited for as long as a scan takes. */
export function patient(node: Endpoint): Endpoint {
  return { name: node.name, request: (asked) => node.request({ ...asked, timeoutMs: SCAN_MS_MAX }) };
}
