/**
 * A node among several: what it owns of shards and chains, and who owns the rest. PostgreSQL decides (decision 40); a
 * doorbell makes the others look at once. With each heartbeat the node compares what is with what should be
 * (`Holdings`) and does one round of it at a time:
 *
 *   lost       parts forget it at once; nothing of it is written any more (the database refuses it anyway)
 *   hand over  new work is refused as moved, what is at work ends, the database records that it is nobody's
 *   claim      the database mints a new epoch, parts begin
 */
import type { TimerHandle } from '../actors/kernel/timers.ts';
import type { ClusterStore, Holding, Member, OwnerMap } from '../model/ports/cluster-store.ts';
import type { NodeAbout } from '../model/ports/nodes.ts';
import { SHARD_COUNT } from '../protocol/node/ids.ts';
import type { Chain } from '../protocol/slugs.ts';
import { Heartbeat, type HeartbeatDeps } from './heartbeat.ts';
import { Holdings, type View } from './holdings.ts';
import { nameOf, placeOf } from './place.ts';
import { ownersAmong } from './roles.ts';

const ALL_SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);
const ROUND_AGAIN_MS = 500;
/** Silence of others is believed by a node whose own heartbeats have succeeded for so long. */
const STEADY_MS = 4_000;

/** Asks the other nodes to look now; losing it costs them a heartbeat. */
export interface Doorbell {
  ring(): void;
  onRing(look: () => void): void;
}

export interface MembershipDeps extends HeartbeatDeps {
  readonly store: ClusterStore;
  /** Of this process alone: two processes with one name are two nodes. */
  readonly nodeId: string;
  /** Where other nodes reach this one. */
  readonly url: string;
  readonly about: NodeAbout;
  readonly doorbell: Doorbell;
  /** Nodes came or went. */
  readonly onMembers?: (members: readonly Member[]) => void;
}

/** What the parts of a node do when it gains or loses. Each is repeated after a rejection, while it is still so. */
export interface Moves {
  /** Shards are another node's now: forget them. Nothing of them can be written. */
  lost(shards: readonly number[]): Promise<void>;
  /** Resolves when nothing of these shards is at work, at the latest after a second. */
  leaving(shards: readonly number[]): Promise<void>;
  gained(shards: readonly number[]): Promise<void>;
  /** The chains that this node follows now. */
  chains(followed: ReadonlySet<Chain>): Promise<void>;
}

/** Who answers for a shard. */
export interface Owner {
  readonly node: string;
  readonly url: string | null;
  readonly epoch: number;
}

export class Membership extends Heartbeat {
  readonly #deps: MembershipDeps;
  readonly #shards = new Holdings<number>();
  readonly #chains = new Holdings<Chain>();
  #members: readonly Member[] = [];
  #map: OwnerMap | null = null;
  #reading: Promise<void> | null = null;
  #moves: Moves | null = null;
  #round: Promise<void> | null = null;
  #stopping = false;
  #shardPlaces: { readonly of: string; readonly places: readonly (string | null)[] } = { of: '', places: [] };

  constructor(deps: MembershipDeps) {
    super(deps);
    this.#deps = deps;
    deps.doorbell.onRing(() => {
      if (!this.#stopping) void this.look();
    });
  }

  /** The first look, before the node serves. Throws: NotDurable. */
  async join(): Promise<void> {
    await this.requireDurable();
    await this.look();
    await this.refresh();
    this.#deps.doorbell.ring();
  }

  /** From now on shards and chains are claimed, and the parts follow. */
  follow(moves: Moves): void {
    this.#moves = moves;
    this.#begin();
  }

  /**
   * Gives everything to the others and leaves; the heartbeat goes on until `end`. Work that does not end in time
   * is fenced by the next owner.
   */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    await this.#round;
    const shards = this.#shards.held(),
      chains = this.#chains.held();
    const { store, nodeId, doorbell } = this.#deps;
    await this.#handOver(shards, chains);
    await store.leave(nodeId);
    doorbell.ring();
  }

  epochOf(shard: number): number | undefined {
    return this.#shards.writingEpochOf(shard);
  }

  /** True when this node takes new work of a shard: none once its lease may be over, until its next beat. */
  serves(shard: number): boolean {
    return !this.lapsed && this.#shards.epochOf(shard) !== undefined;
  }

  /** The same, having asked the database. */
  async stillOwns(shard: number): Promise<boolean> {
    if (!this.serves(shard)) return false;
    await this.refresh();
    const holding = this.#map!.shards[shard]!;
    return holding.owner === this.#deps.nodeId && holding.epoch === this.#shards.epochOf(shard);
  }

  follows(chain: Chain): boolean {
    return !this.lapsed && this.#chains.epochOf(chain) !== undefined;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  /** Who answers for a shard, as far as this node knows; null when nobody does. */
  ownerOf(shard: number): Owner | null {
    const own = this.lapsed ? undefined : this.#shards.epochOf(shard);
    if (own !== undefined) return { node: this.#deps.nodeId, url: this.#deps.url, epoch: own };
    const holding = this.#map?.shards[shard];
    if (holding === undefined || holding.owner === null || holding.owner === this.#deps.nodeId) return null;
    const url = this.#members.find(({ id }) => id === holding.owner)?.url ?? null;
    return { node: holding.owner, url, epoch: holding.epoch };
  }

  /** What each node owns, for the operator. */
  owners(): OwnerMap | null {
    return this.#map;
  }

  /** What no node serves: shards, and by chain 1 or 0 for every one that a node has endpoints for, or ever followed. */
  undone(): { shardsUnowned: number; chainUnfollowed: Record<string, number> } {
    const isServed = (holding: Holding | undefined) =>
      holding !== undefined && holding.owner !== null && !holding.vacant;
    const map = this.#map;
    const chains = new Set([
      ...(map?.chains.keys() ?? []),
      ...this.#members.flatMap(({ about }) => about?.chains ?? []),
    ]);
    return {
      shardsUnowned: map === null ? SHARD_COUNT : map.shards.filter((holding) => !isServed(holding)).length,
      chainUnfollowed: Object.fromEntries(
        [...chains].map((chain) => [chain, isServed(map?.chains.get(chain)) ? 0 : 1]),
      ),
    };
  }

  /** Reads who owns what; callers that come while it is read share the answer. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  protected async beat(): Promise<void> {
    const { store, nodeId, leaseSeconds } = this.#deps;
    // A node that left is not made to live again by a beat.
    if (this.#stopping) return;
    const { mapVersion, members } = await store.beat(nodeId, leaseSeconds);
    const changed = idsOf(members) !== idsOf(this.#members);
    if (changed) this.#sayWho(this.#members, members);
    this.#members = members;
    if (changed) this.#deps.onMembers?.(members);
    // A reading that began before this beat may be older than it: then the next beat reads again.
    if (changed || mapVersion !== versionOf(this.#map) || !this.#settled()) await this.refresh();
    this.#begin();
  }

  /** What an operator looks for first, when a node died. */
  #sayWho(before: readonly Member[], now: readonly Member[]): void {
    const { log, nodeId } = this.#deps;
    const namesOf = (some: readonly Member[], others: readonly Member[]) =>
      some.filter(({ id }) => id !== nodeId && !others.some((other) => other.id === id)).map(({ id }) => nameOf(id));
    const came = namesOf(now, before),
      gone = namesOf(before, now);
    if (came.length > 0) log.info({ names: came }, 'other nodes are there');
    if (gone.length > 0)
      log.warn(
        { names: gone },
        'nodes are gone: they stopped, or were silent for their lease; the others share theirs',
      );
  }

  async #read(): Promise<void> {
    this.#map = await this.#deps.store.owners(this.#deps.leaseSeconds);
  }

  /**
   * Every shard has an owner that lives. One that is no member any more is not vacant yet where it claimed something
   * after its last beat: nothing but time changes that.
   */
  #settled(): boolean {
    const map = this.#map;
    if (map === null) return false;
    const living = new Set(this.#members.map(({ id }) => id));
    const isOwned = ({ owner, vacant }: Holding) => owner !== null && !vacant && living.has(owner);
    return map.shards.every(isOwned) && [...map.chains.values()].every(isOwned);
  }

  #begin(): void {
    if (this.#moves === null || this.#stopping) return;
    this.#round ??= this.#turn(this.#moves)
      .catch((error: unknown) => {
        this.#deps.log.warn({ err: error }, 'a change of owners was not carried out; it is tried again');
      })
      .finally(() => {
        this.#round = null;
      });
  }

  async #turn(moves: Moves): Promise<void> {
    const map = this.#map;
    if (map === null) return;
    const { store, nodeId, leaseSeconds, log, doorbell } = this.#deps;
    const shards = this.#shards.plan(
      ALL_SHARDS,
      this.#view((shard) => map.shards[shard], this.#placesOfShards()),
    );
    const known = new Set([...map.chains.keys(), ...this.#members.flatMap(({ about }) => about?.chains ?? [])]);
    const chains = this.#chains.plan(
      known,
      this.#view((chain) => map.chains.get(chain), this.#placeOfChain),
    );
    if (shards.lost.length > 0) {
      this.#shards.forget(shards.lost);
      log.warn({ count: shards.lost.length }, 'other nodes own shards that were of this one');
      await moves.lost(shards.lost);
    }
    if (chains.lost.length > 0) {
      this.#chains.forget(chains.lost);
      log.warn({ chains: chains.lost }, 'other nodes follow chains that were of this one');
      await moves.chains(new Set(this.#chains.held()));
    }
    if (shards.handOver.length + chains.handOver.length > 0) {
      await this.#handOver(shards.handOver, chains.handOver);
      doorbell.ring();
    }
    if (shards.claim.length > 0) {
      const claimed = await store.claimShards(nodeId, shards.claim, leaseSeconds);
      this.#shards.claimed(claimed);
      if (claimed.size > 0) {
        const owners = [...claimed.keys()].map((shard) => map.shards[shard]?.owner);
        log.info({ count: claimed.size, from: this.#othersAmong(owners) }, 'this node owns more shards');
        await this.#repeated(() => moves.gained([...claimed.keys()].filter((shard) => this.serves(shard))));
      }
    }
    if (chains.claim.length > 0) {
      const claimed = await store.claimChains(nodeId, chains.claim, leaseSeconds);
      this.#chains.claimed(claimed);
      if (claimed.size > 0) {
        const owners = [...claimed.keys()].map((chain) => map.chains.get(chain)?.owner);
        log.info({ chains: [...claimed.keys()], from: this.#othersAmong(owners) }, 'this node follows more chains');
        await this.#repeated(() => moves.chains(new Set(this.#chains.held())));
      }
    }
  }

  /** Names of the other nodes that had it until now: none where it was handed over. */
  #othersAmong(owners: readonly (string | null | undefined)[]): string[] {
    const { nodeId } = this.#deps;
    return [...new Set(owners.flatMap((owner) => (owner == null || owner === nodeId ? [] : [nameOf(owner)])))];
  }

  async #handOver(shards: readonly number[], chains: readonly Chain[]): Promise<void> {
    const { store, nodeId, log } = this.#deps;
    this.#shards.leaving(shards);
    this.#chains.leaving(chains);
    if (chains.length > 0) await this.#moves?.chains(new Set(this.#chains.held()));
    if (shards.length > 0) await this.#moves?.leaving(shards);
    if (shards.length > 0) await store.releaseShards(nodeId, shards);
    if (chains.length > 0) await store.releaseChains(nodeId, chains);
    this.#shards.forget(shards);
    this.#chains.forget(chains);
    if (shards.length > 0) log.info({ count: shards.length }, 'shards were handed over');
    if (chains.length > 0) log.info({ chains }, 'chains were handed over');
  }

  async #repeated(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (this.#stopping) return;
        this.#deps.log.warn({ err: error }, 'a part of the node did not follow; it is tried again');
        await new Promise<TimerHandle>((resolve) => {
          this.clock.setTimer(ROUND_AGAIN_MS, () => resolve(null));
        });
      }
    }
  }

  #view<Key>(ownerOf: View<Key>['ownerOf'], place: View<Key>['placeOf']): View<Key> {
    return {
      self: this.#deps.nodeId,
      placeOf: place,
      ownerOf,
      mayTakeOver: this.steadyForMs >= STEADY_MS,
    };
  }

  /** Placed once for each set of nodes. */
  #placesOfShards(): (shard: number) => string | null {
    const nodes = ownersAmong(this.#members.filter(({ url }) => url !== null));
    const of = idsOf(nodes);
    if (of !== this.#shardPlaces.of || this.#shardPlaces.places.length === 0) {
      const ids = nodes.map(({ id }) => id);
      this.#shardPlaces = { of, places: ALL_SHARDS.map((shard) => placeOf(`shard ${shard}`, ids)) };
    }
    const { places } = this.#shardPlaces;
    return (shard) => places[shard] ?? null;
  }

  readonly #placeOfChain = (chain: Chain): string | null =>
    placeOf(
      `chain ${chain}`,
      this.#members
        .filter(({ about }) => about?.roles.includes('watchers') === true && about.chains.includes(chain))
        .map(({ id }) => id),
    );
}

/** Of what was read, as a beat counts it; null before anything was. */
function versionOf(map: OwnerMap | null): number | null {
  if (map === null) return null;
  return [...map.shards, ...map.chains.values()].reduce((sum, { epoch }) => sum + epoch, 0);
}

const idsOf = (members: readonly Member[]): string => members.map(({ id }) => id).join(' ');
