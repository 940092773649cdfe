/**
 * What every chain family must do, whatever it is made of. A family's own test file gives a peer (a real node or a
 * stand-in that keeps a ledger) and gets these tests: `chainModuleContract('evm', async (t) => peer)`.
 */
import test, { type ExecutionContext } from 'ava';
import {
  ChainUnavailable,
  type ChainModule,
  type Endpoint,
  type Intent,
  type Network,
  type Transport,
  type Unsigned,
} from '../../chains/chain.ts';
import type { Signer, SigningKey } from '../../edge/signing/signers/signer.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { HandTimer } from '../support/hand-timer.ts';

export interface Peer {
  readonly network: Network;
  readonly module: ChainModule;
  readonly signer: Signer;
  readonly endpoint: Endpoint;
  /** A transport over these endpoints, without waiting times. */
  transport(endpoints: readonly Endpoint[]): Transport;
  /** A funded sender whose key is known. */
  readonly sender: { readonly address: string; readonly path: string; readonly key: SigningKey };
  /** An address that holds nothing, can be paid, and is not the sender. */
  readonly receiver: string;
  /** A native payment to the receiver by somebody else, submitted and not yet in a block; its txid. */
  pay(amount: bigint): Promise<string>;
  /** One more block, with everything that was submitted. */
  mine(): Promise<void>;
  /** Smallest amount that the receiver can be paid. */
  readonly amount: bigint;
}

const unavailable = { instanceOf: ChainUnavailable } as const;

function must<T extends object>(value: T | Refusal): T {
  if (isRefusal(value)) throw new Error(`${value.code} ${JSON.stringify(value.details)}`);
  return value;
}

/** Registers the suite for one family. */
export function chainModuleContract(family: string, start: (t: ExecutionContext) => Promise<Peer>): void {
  const title = (text: string) => `contract ${family}: ${text}`;
  const clientOf = (peer: Peer, endpoints: readonly Endpoint[] = [peer.endpoint]) =>
    peer.module.createClient(peer.network, peer.transport(endpoints), new Map());

  test(
    title('G7 G9 head, heights, hashes and blocks agree with each other, and nothing is made up beyond the head'),
    async (t) => {
      const peer = await start(t),
        client = clientOf(peer);
      await peer.mine();
      await client.checkIdentity();
      const head = await client.getHead(),
        block = await client.getBlock(head.height);
      t.is(block.hash, head.hash);
      t.is(await client.getBlockHash(head.height), head.hash);
      t.is(await client.nextHeight(head.height), null);
      t.is(await client.nextHeight(block.parentHeight), head.height);
      t.is(await client.getBlockHash(block.parentHeight), block.parentHash);
      t.is((await client.getBlock(block.parentHeight)).hash, block.parentHash);
      await t.throwsAsync(() => client.getBlock(head.height + 50), unavailable);
      t.is(await client.getBlockHash(head.height + 50), null);
    },
  );

  test(
    title('G2 G3 G6 a payment is one transfer in canonical texts, with an outcome and a balance that grew by it'),
    async (t) => {
      const peer = await start(t),
        client = clientOf(peer),
        { module, network, receiver } = peer;
      const before = await client.fetchBalance(receiver, null);
      const txid = await peer.pay(peer.amount);
      await peer.mine();
      const outcome = await client.getOutcome(txid);
      t.true(outcome?.success);
      const block = await client.getBlock(outcome!.height);
      t.is(block.hash, outcome!.hash);
      const mine = module.transfersIn(network, block, new Map()).transfers.filter((one) => one.to === receiver);
      t.is(mine.length, 1);
      t.like(mine[0], {
        txid,
        amount: peer.amount,
        decimals: network.nativeDecimals,
        tokenContract: null,
        tokenSymbol: network.nativeSymbol,
      });
      t.is(must(module.parseAddress(network, mine[0]!.to)).canonical, receiver);
      const [told] = module.outcomesIn(network, block, new Set([txid]));
      t.like(told, { txid, success: true });
      const after = await client.fetchBalance(receiver, null);
      t.is(after.amount - before.amount, peer.amount);
      t.true(after.accountExists);
      t.is(after.available, after.amount - after.reserved > 0n ? after.amount - after.reserved : 0n);
    },
  );

  test(
    title(
      'G25 G26 G28 a payment is built, checked, signed, accepted, known, included; its fee is within what was said',
    ),
    async (t) => {
      const peer = await start(t),
        client = clientOf(peer),
        { module, network, sender, receiver } = peer;
      const intent: Intent = {
        chain: network.slug,
        from: sender.address,
        fromPath: sender.path,
        to: receiver,
        amount: peer.amount,
        token: null,
        tag: null,
      };
      const inputs = await client.fetchBuildInputs(intent);
      t.deepEqual(JSON.parse(JSON.stringify(inputs)), inputs, 'inputs are JSON-safe');
      const estimate = must(module.estimateFee(network, inputs, intent));
      const unsigned: Unsigned = must(module.buildUnsigned(network, inputs, intent, null));
      t.true(estimate.fee <= estimate.feeMax && unsigned.feeMax <= network.feeCap);
      const signed = peer.signer.sign(network, unsigned, sender.key);
      t.is(module.matchSigned(network, unsigned, signed), null);
      t.like(
        module.matchSigned(network, unsigned, {
          ...signed,
          txid: `${signed.txid.slice(0, -1)}${signed.txid.endsWith('1') ? '2' : '1'}`,
        }),
        { ok: false },
      );
      // One endpoint that hangs keeps nobody waiting: neither for its identity nor for the bytes.
      const hanging: Endpoint = { name: 'hanging', request: () => new Promise(() => undefined) },
        clock = new HandTimer();
      const hedged = module.createClient(
        network,
        { ...peer.transport([hanging, peer.endpoint]), hedge: { ms: 2_500, timer: clock.timer } },
        new Map(),
      );
      await clock.until(hedged.checkIdentity());
      t.deepEqual(await clock.until(hedged.broadcast(signed)), { kind: 'accepted', txid: signed.txid });
      t.true(
        ['accepted', 'already_known', 'unknown'].includes((await client.broadcast(signed)).kind),
        'the same bytes again are no refusal',
      );
      await peer.mine();
      const fate = await client.getFate(unsigned, signed.txid);
      t.is(fate.kind, 'included');
      if (fate.kind === 'included') {
        t.true(fate.outcome.success);
        t.true(fate.outcome.fee === null || fate.outcome.fee <= unsigned.feeMax);
      }
      t.is((await client.fetchBalance(receiver, null)).amount, peer.amount);
    },
  );

  test(
    title('1.7 G8 an endpoint that fails leaves every question unanswered: never a zero, never an empty block'),
    async (t) => {
      const peer = await start(t),
        { sender, network } = peer;
      const silent: Endpoint = {
        name: 'silent',
        request: async () => {
          throw new ChainUnavailable(network.slug, 'no answer');
        },
      };
      const empty: Endpoint = { name: 'empty', request: async () => ({ status: 200, headers: {}, text: '{}' }) };
      for (const endpoint of [silent, empty]) {
        const client = clientOf(peer, [endpoint]);
        const intent: Intent = {
          chain: network.slug,
          from: sender.address,
          fromPath: sender.path,
          to: peer.receiver,
          amount: peer.amount,
          token: null,
          tag: null,
        };
        for (const ask of [
          () => client.getHead(),
          () => client.getBlock(1),
          () => client.getBlockHash(1),
          () => client.nextHeight(1),
          () => client.fetchBalance(sender.address, null),
          () => client.fetchBuildInputs(intent),
          () => client.checkIdentity(),
        ] as (() => Promise<unknown>)[])
          await t.throwsAsync(ask, undefined, endpoint.name);
      }
    },
  );

  test(title('G10 a second endpoint answers where the first cannot'), async (t) => {
    const peer = await start(t),
      { network, sender } = peer;
    await peer.mine();
    const silent: Endpoint = {
      name: 'silent',
      request: async () => {
        throw new ChainUnavailable(network.slug, 'no answer');
      },
    };
    const client = clientOf(peer, [silent, peer.endpoint]);
    for (let i = 0; i < 3; i++) {
      const { height } = await client.getHead();
      t.is((await client.getBlock(height)).height, height);
      t.true((await client.fetchBalance(sender.address, null)).amount > 0n);
    }
  });
}
