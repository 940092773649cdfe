/**
 * What an account has to do in a story: deposits that come, mature and are orphaned, and withdrawals of every replica's
 * callers.
 */
import type { Fact, SeenTransfer } from '../../model/rows/inbox.ts';
import { ModelAccount } from '../support/model-account.ts';
import { usedValue } from './database.ts';
import type { World } from './world.ts';

const THRESHOLD = 12;

export class Work {
  /** What the account must have made of the facts. */
  readonly model = new ModelAccount();
  readonly #world: World;
  readonly #detected: SeenTransfer[] = [];
  readonly #settled: SeenTransfer[] = [];
  readonly #landed = new Set<string>();
  readonly #asked: string[] = [];
  /** The sender's transactions in blocks, as the chain counts them. */
  #count = 0;
  #transfers = 0;
  #facts = 0;

  constructor(world: World) {
    this.#world = world;
    world.counted = () => Math.max(0, this.#count - world.countLag);
  }

  /** A transfer is seen, matures or is orphaned. */
  deposit(): void {
    const { machine } = this.#world,
      dice = machine.random();
    if (dice < 0.5 || this.#detected.length === 0) return this.#seen(this.#transfer());
    const [transfer] = this.#detected.splice(machine.pick(this.#detected.length), 1);
    if (dice < 0.9) {
      this.#fact({ kind: 'matured', deposit: { ...transfer!, confirmations: THRESHOLD } });
      this.#settled.push(transfer!);
      return;
    }
    this.#fact({ kind: 'orphaned', deposit: transfer! });
    if (machine.chance(0.5)) this.#seen(transfer!);
  }

  /** A caller of a replica has a payment built and asks it to broadcast. */
  withdraw(): void {
    const { cloud, database, machine, places, purposes } = this.#world;
    const place = places[machine.pick(places.length)]!;
    if (cloud === null || place.edge === null) return;
    const isSweep = machine.chance(0.3),
      id = this.#world.newId('txn'),
      [from] = database.seed.addresses;
    const intent = {
      chain: 'eth',
      from: from!.address,
      fromPath: from!.derivationPath,
      to: `0x${'ab'.repeat(20)}`,
      amount: BigInt(1 + machine.pick(300)),
      token: null,
      tag: null,
    } as const;
    purposes.set(id, isSweep ? 'cloud' : 'withdrawal');
    this.#world.tell(`${place.host.name} is asked for ${intent.amount} (${isSweep ? 'sweep' : 'withdrawal'})`);
    const used = usedValue(database.withdrawals.values(), intent.from),
      counted = this.#world.counted();
    cloud.process.run(
      () =>
        void cloud.build({ id, intent, from: from!, counted }).then((row) => {
          if (row === null) return;
          const { replayKey } = row.unsigned;
          if (used !== null && replayKey.kind === 'nonce' && replayKey.value <= Number(used.value)) {
            this.#world.checks.note(
              'value used once',
              `${id} is built with ${replayKey.value}, and a block of ours has ${used.value}`,
            );
          }
          this.#asked.push(id);
          machine.after(machine.between(5, 50), () => {
            const { edge } = place;
            edge?.process.run(() => void edge.withdraw(row, isSweep ? 'sweep' : 'withdrawal').catch(() => undefined));
          });
        }),
    );
  }

  /** A caller had no answer and asks again, whichever replica it reaches. */
  askAgain(): void {
    const { machine, places } = this.#world,
      { edge } = places[machine.pick(places.length)]!;
    const id = this.#asked[machine.pick(this.#asked.length)];
    if (id !== undefined) edge?.process.run(() => void edge.signing.broadcast(id).catch(() => undefined));
  }

  /** A withdrawal that a node took is in a block, and deep in it. */
  land(): void {
    for (const {
      id,
      status,
      txid,
      unsigned: { replayKey },
    } of this.#world.database.withdrawals.values()) {
      if (status !== 'broadcast' || this.#landed.has(id)) continue;
      this.#landed.add(id);
      if (replayKey.kind === 'nonce') this.#count = Math.max(this.#count, replayKey.value + 1);
      const fact = {
        withdrawalId: id,
        txid: txid!,
        height: 10,
        blockHash: '0xb1',
        success: true,
        reason: null,
        fee: '10',
      };
      this.#fact({ kind: 'withdrawal_included', ...fact });
      this.#fact({ kind: 'withdrawal_matured', ...fact });
      return;
    }
  }

  #transfer(): SeenTransfer {
    const {
      machine,
      database: { seed },
    } = this.#world;
    this.#transfers += 1;
    const issued = seed.addresses.filter(({ purpose }) => purpose === 'deposit'),
      address = issued[machine.pick(issued.length)]!;
    return {
      ledger: 'eth',
      chain: 'eth',
      txid: `0x${this.#transfers}`,
      outputIndex: 0,
      addressId: address.id,
      address: address.address,
      amount: String(1 + machine.pick(1_000)),
      decimals: 18,
      tokenContract: null,
      tokenSymbol: 'ETH',
      chainTag: null,
      from: ['0xaa'],
      activates: false,
      threshold: THRESHOLD,
      confirmations: 1,
      height: 100,
      blockHash: '0xaa',
    };
  }

  #seen(transfer: SeenTransfer): void {
    this.#detected.push(transfer);
    this.#fact({ kind: 'seen', deposit: transfer });
  }

  /** Recorded by a watcher; its wake may be lost, then the sweep of the inbox finds it. */
  #fact(fact: Fact): void {
    const { cloud, cloudHost, database, machine } = this.#world;
    this.#facts += 1;
    database.addFact(fact, cloudHost.wallMs());
    this.model.take([{ id: String(this.#facts), accountId: database.seed.state.accountId, fact }]);
    if (cloud !== null && machine.chance(0.7))
      cloud.process.run(() => void cloud.accounts.wake(database.seed.state.accountId).catch(() => undefined));
  }
}
