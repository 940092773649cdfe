/** What must be true of a fleet at every moment, and what must become true when the faults have stopped. */
import { isRefusal } from '../../../protocol/errors.ts';
import type { Fleet, Replica } from './fleet.ts';

const EVENTS_OF_A_DEPOSIT = ['deposit_detected', 'deposit_confirmed'] as const;

export class FleetWatch {
  readonly #fleet: Fleet;
  /** Transactions of the simulated ledger that paid an own address. */
  readonly deposits: string[] = [];
  /** Withdrawals that the application was told to be broadcast. */
  readonly withdrawals: string[] = [];
  readonly problems: string[] = [];
  epoch = 0;
  /** Who led when it was looked last. */
  leader: Replica | null = null;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Between two faults: epochs only rise, and no two replicas lead at one time. */
  async look(): Promise<void> {
    const { replicas, atCloud } = this.#fleet;
    const leading = new Map<Replica, number>();
    for (const replica of replicas)
      if ((await replica.metric('svc_edge_leader ')) === 1) leading.set(replica, performance.now());
    this.leader = [...leading.keys()][0] ?? null;
    // One that led before and still leads after the others were asked led all the time.
    const lasting = await Promise.all(
      [...leading.keys()].map(async (replica) => (await replica.metric('svc_edge_leader ')) === 1),
    );
    if (lasting.filter(Boolean).length > 1)
      this.problems.push(`${[...leading.keys()].map(({ name }) => name).join(' and ')} lead at one time`);
    const lease = await atCloud.call('getEdgeLease');
    if (isRefusal(lease)) return;
    if (lease.epoch < this.epoch) this.problems.push(`the epoch fell from ${this.epoch} to ${lease.epoch}`);
    this.epoch = Math.max(this.epoch, lease.epoch);
  }

  /** Everything that is still open, as sentences; empty when the fleet has converged. */
  async open(): Promise<string[]> {
    const { replicas, receiver, sql, accountId } = this.#fleet;
    const taken = new Set(
      receiver.arrivals.filter((arrival) => arrival.taken).map(({ event, txid }) => `${event} ${txid}`),
    );
    const missing = this.deposits
      .flatMap((txid) => EVENTS_OF_A_DEPOSIT.map((event) => `${event} ${txid}`))
      .filter((key) => !taken.has(key));
    const [{ waiting }] = await sql<[{ waiting: number }]>`
      select count(*)::int as waiting from flock.delivery where account_id = ${accountId} and status <> 'delivered'`;
    const leaders = await Promise.all(replicas.map((replica) => replica.metric('svc_edge_leader ')));
    const depths = await Promise.all(replicas.map((replica) => replica.metric('svc_edge_outbox_depth ')));
    return [
      ...missing.map((key) => `${key} has not arrived`),
      ...(waiting > 0 ? [`${waiting} deliveries are not recorded as delivered`] : []),
      ...(leaders.filter((leader) => leader === 1).length === 1 ? [] : [`leaders: ${leaders.join()}`]),
      // A follower keeps its reports for a while: whether they are worth something is known when the lease is settled.
      ...(depths.every((depth, index) => depth === 0 || leaders[index] === 0) ? [] : [`outboxes: ${depths.join()}`]),
      ...(await this.#openWithdrawals()),
    ];
  }

  /** What no convergence can mend. */
  async final(): Promise<string[]> {
    const { receiver, sql, accountId } = this.#fleet;
    const published = await sql<
      { eventId: string; body: string }[]
    >`select event_id, body from flock.publication where account_id = ${accountId}`;
    const bodies = new Map(published.map(({ eventId, body }) => [eventId, body]));
    const wrong = receiver.arrivals
      .filter(({ eventId, raw }) => bodies.get(eventId) !== raw)
      .map(({ eventId }) => `event ${eventId} came with other bytes than were published`);
    return [
      ...this.problems,
      ...wrong,
      ...(receiver.forged === 0 ? [] : [`${receiver.forged} deliveries did not verify`]),
    ];
  }

  async #openWithdrawals(): Promise<string[]> {
    const { sql, accountId } = this.#fleet;
    const rows = await sql<{ id: string; status: string; versions: number }[]>`
      select id, status, jsonb_array_length(versions::jsonb) as versions from flock.withdrawal where account_id = ${accountId}`;
    const byId = new Map(rows.map((row) => [row.id, row]));
    return this.withdrawals.flatMap((id) => {
      const row = byId.get(id);
      if (row === undefined) return [`withdrawal ${id} is gone`];
      return row.versions === 1 && ['broadcast', 'confirming', 'confirmed'].includes(row.status)
        ? []
        : [`withdrawal ${id} is ${row.status} with ${row.versions} signed versions`];
    });
  }
}
