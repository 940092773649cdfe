/**
 * All that a story has: the machine, the cloud and its database, three replicas with their disks, the network, the
 * endpoints.
 */
import type { WebhookRow } from '../../model/rows/webhook.ts';
import { newId } from '../../protocol/node/ids.ts';
import { EVENTS } from '../../protocol/slugs.ts';
import { commands, enrolled, rowsOf } from '../support/account.ts';
import { Checks } from './checks.ts';
import { Cloud } from './cloud.ts';
import { Database, type Seed, type StoryDatabase } from './database.ts';
import { Disk } from './disk.ts';
import { EdgeProcess } from './edge-process.ts';
import { Host, Machine, Process } from './machine.ts';
import { Network } from './network.ts';
import type { Plant } from './plants.ts';
import { SqlDatabase, type SqlPrepared } from './sql-database.ts';
import { Receivers } from './receiver.ts';

export const REPLICAS = 3;
const ADDRESSES = 3;
const ENDPOINTS = ['https://first.example/', 'https://second.example/'] as const;
/** A process that was ended comes back after this at the earliest: nothing that it had sent is on its way then. */
const RESTART_MS = 800;
/** Clocks of computers go wrong by less than this share. */
const CLOCK_DRIFT = 0.002;

/** A replica's place: its host and disk stay, its processes come and go. */
export interface Place {
  readonly host: Host;
  readonly disk: Disk;
  edge: EdgeProcess | null;
}

export class World {
  readonly machine: Machine;
  readonly network: Network;
  readonly receivers: Receivers;
  readonly database: StoryDatabase;
  /** The database where it is the real one. */
  readonly sql: SqlDatabase | null;
  readonly checks: Checks;
  readonly places: readonly Place[];
  readonly cloudHost: Host;
  readonly purposes = new Map<string, 'cloud' | 'withdrawal'>();
  /** What happened, one line each. */
  readonly told: string[] = [];
  /** Transactions that a node does not count yet, or not any more. */
  countLag = 0;
  /** What a node counts of the sender's transactions now. */
  counted: () => number = () => 0;
  cloud: Cloud | null = null;
  readonly #plant: Plant;
  #ids = 0;

  constructor(seed: number, plant: Plant, sql: SqlPrepared | null = null) {
    this.machine = new Machine(seed);
    this.#plant = plant;
    this.network = new Network(this.machine);
    this.receivers = new Receivers(this.machine);
    this.sql = sql === null ? null : new SqlDatabase(this.machine, seedOf(), sql);
    this.database = this.sql ?? new Database(this.machine, seedOf());
    this.cloudHost = new Host(this.machine, 'cloud', 1);
    this.places = Array.from({ length: REPLICAS }, (_, index) => ({
      host: new Host(this.machine, `edge-${index + 1}`, 1 + CLOCK_DRIFT * (2 * this.machine.random() - 1)),
      disk: new Disk(),
      edge: null,
    }));
    this.checks = new Checks({
      machine: this.machine,
      database: this.database,
      receivers: this.receivers,
      edges: () => this.places.map(({ edge }) => edge),
      purposes: this.purposes,
    });
    this.machine.onEvent = () => this.checks.always();
    for (const place of this.places) place.disk.onKill = () => this.endEdge(place, 'at a write');
  }

  tell(text: string): void {
    this.told.push(
      `${(this.machine.nowMs / 1_000).toLocaleString('en', { minimumFractionDigits: 3, useGrouping: false })} ${text}`,
    );
  }

  startCloud(): void {
    const process = new Process(this.machine, 'cloud', this.cloudHost);
    process.run(() => {
      this.cloud = new Cloud({ process, database: this.database, plant: this.#plant, counted: () => this.counted() });
      this.network.cloud = this.cloud;
      this.cloud.start();
    });
  }

  endCloud(): void {
    const { cloud } = this;
    if (cloud === null) return;
    this.cloud = null;
    cloud.process.kill();
    this.network.died(cloud.process);
  }

  startEdge(place: Place): void {
    const process = new Process(this.machine, place.host.name, place.host);
    process.run(() => {
      place.edge = new EdgeProcess(process, place.disk, this.newId('ses'), {
        network: this.network,
        receivers: this.receivers,
        checks: this.checks,
        plant: this.#plant,
      });
      place.edge.start();
    });
  }

  endEdge(place: Place, how: string): void {
    const { edge } = place;
    if (edge === null) return;
    this.tell(`${place.host.name} ends (${how})`);
    place.edge = null;
    place.disk.killsAt = null;
    edge.process.kill();
    this.network.died(edge.process);
  }

  get restartMs(): number {
    return RESTART_MS;
  }

  /** An id that is the same each time the story is told. */
  newId(prefix: 'ses' | 'txn' | 'dlv'): string {
    return newId(prefix, this.cloudHost.wallMs(), randomBytesOf((this.#ids += 1)));
  }
}

function randomBytesOf(number: number): Uint8Array {
  const random = new Uint8Array(10);
  new DataView(random.buffer).setUint32(6, number);
  return random;
}

let kept: Seed | null = null;

/**
 * An enrolled account with addresses and endpoints; made once, for deriving keys takes longer than a story's minute.
 */
export function seedOf(): Seed {
  if (kept !== null) return kept;
  const account = enrolled();
  const issued = Array.from({ length: ADDRESSES }, () => account.accept(commands.createAddress()).reply);
  const own = rowsOf(account.rows, 'address')
    .map(({ row }) => row)
    .filter(({ purpose }) => purpose !== 'deposit');
  const webhooks = ENDPOINTS.map((url, index): WebhookRow => ({
    id: `hook-${index + 1}`,
    accountId: account.state.accountId,
    url,
    events: [...EVENTS],
    status: 'enabled',
    sealedSecrets: [`whsec_${Buffer.alloc(32, index + 1).toString('base64')}`],
    secretPreview: '',
    createdAtMs: 0,
    updatedAtMs: 0,
  }));
  for (const row of webhooks) account.accept({ type: 'create_webhook', row });
  kept = {
    state: account.state,
    events: account.history,
    rows: [...account.rows],
    addresses: [...issued, ...own],
    webhooks,
  };
  return kept;
}
