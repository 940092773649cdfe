/** Every field of every record, on every chain of the sandbox, through all states of a deposit and a withdrawal. */
import test from 'ava';
import { catalogueOf } from '../../chains/catalogue.ts';
import { networkOf } from '../../chains/registry.ts';
import { CHAINS, EVENTS, FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { own } from '../support/btc-inputs.ts';
import { patiently } from '../support/company.ts';
import { openDeveloper } from '../support/developer.ts';
import {
  CONTRACT,
  isNullable,
  pathsOf,
  problemsOf,
  problemsOfEvent,
  type Movement,
  type ToldEvent,
} from '../support/record-contract.ts';
import { keyOf } from '../support/sol-node.ts';
import { SHOP as TRON_SHOP } from '../support/tron-ledger.ts';
import { ours as xlmAt } from '../support/xlm-node.ts';
import { ours as xrpAt } from '../support/xrp-node.ts';

const EVM_PAYEE = '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0';
const PAYEE: Partial<Record<Chain, string>> = {
  btc: own(900).address,
  tron: TRON_SHOP,
  sol: keyOf(2).address,
  xrp: xrpAt(0, 9).address,
  xlm: xlmAt(9).address,
};

const flock = await openDeveloper();
const { calm: client, receiver } = flock;
const webhook = await client.must('createWebhook', { body: { url: receiver.url, events: [...EVENTS] } });
receiver.setSecret(webhook.secret);
test.after.always(() => flock.close());

for (const chain of CHAINS) {
  test.serial(
    `found F72: ${chain}: every field of every record and event is there, typed and exact, from the address to the confirmed withdrawal`,
    async (t) => {
      t.timeout(600_000);
      const { nativeSymbol: symbol, nativeDecimals: decimals, threshold } = networkOf(chain),
        sinceMs = Date.now();
      const asset = { contract: null, symbol, decimals },
        unit = 10n ** BigInt(decimals);
      const given = { chain, userRef: 'customer-1', tag: 'vip', label: 'first' };
      const issued = await client.must('createAddress', { body: given });
      const holder = { ...given, environment: 'sandbox' as const, address: issued.address };
      const params = { chain, address: issued.address };
      const check = (what: keyof typeof CONTRACT, record: object, truth: object) => {
        const { schema, table } = CONTRACT[what];
        t.deepEqual(problemsOf(`${chain} ${what}`, schema, table as never, record, truth), []);
      };
      const holds = async (amount: bigint) =>
        check('balance', await client.must('getBalance', { params }), { holder, asset, amount, exists: null });
      const explorerOf = (txid: string) => `${new URL(known!.explorerUrl!).origin}/sandbox/explorer/${chain}/${txid}`;
      const recordOf = (id: string) => client.must('getTransaction', { params: { id } });
      const heard = async (event: ToldEvent, movement: Movement, record: Awaited<ReturnType<typeof recordOf>>) => {
        const got = await receiver.next((one) => one.event === event && one.data['txid'] === movement.txid);
        const counted = (count: number) =>
          count === (event.endsWith('confirmed') ? threshold : event === 'withdrawal_broadcast' ? 0 : 1);
        t.deepEqual(problemsOfEvent(JSON.parse(got.raw), { movement, record, event, counted }), []);
        return got;
      };
      check('address', issued, holder);
      t.deepEqual(await client.must('getAddress', { params: { id: issued.id } }), issued);
      await holds(0n);

      const amount = 100n * unit;
      const paid = await client.must('simulateDeposit', { body: { chain, address: issued.address, amount: '100' } });
      let known =
        (await client.must('listTransactions', { query: { chain, direction: 'in' } })).content.find(
          ({ txid }) => txid === paid.txid,
        ) ?? null;
      const deposit: Movement = {
        holder,
        asset,
        direction: 'in',
        status: 'detected',
        id: known!.id,
        txid: paid.txid,
        outputIndex: paid.outputIndex,
        counterparty: null,
        amount,
        inBlock: true,
        confirmations: (count) => count === 1,
        threshold,
        fee: null,
        versions: [],
        explorerUrl: explorerOf(paid.txid),
        sinceMs,
        before: null,
      };
      const seenStatus = threshold === 1 ? 'confirmed' : 'detected';
      check('transaction', known!, { ...deposit, status: seenStatus });
      t.deepEqual(await recordOf(known!.id), known!);
      if (threshold > 1) await heard('deposit_detected', deposit, known!);
      if (chain === 'xrp' || chain === 'xlm') await heard('address_activated', deposit, known!);
      await client.must('simulateConfirmation', { body: { chain, txid: paid.txid, confirmations: threshold } });
      const credited = await recordOf(known!.id);
      check('transaction', credited, {
        ...deposit,
        status: 'confirmed',
        confirmations: (count: number) => count === threshold,
        before: known,
      });
      const told = await heard('deposit_confirmed', deposit, credited);
      const delivered = await patiently(
        'delivery',
        () => client.call('listDeliveries', { query: { size: '50' } }),
        (page) =>
          'content' in page && page.content.some((row) => row.eventId === told.id && row.status === 'delivered'),
      );
      check(
        'delivery',
        (delivered as Awaited<ReturnType<typeof client.must<'listDeliveries'>>>).content.find(
          ({ eventId }) => eventId === told.id,
        )!,
        { eventId: told.id, event: 'deposit_confirmed', url: receiver.url, webhookId: webhook.id },
      );
      check('coverage', await client.must('getCoverage', { params: { chain } }), {
        chain,
        head: credited.height!,
        sinceMs,
      });
      check('fee', await client.must('getFees', { params: { chain } }), { chain });
      await holds(amount);

      const to = PAYEE[chain] ?? EVM_PAYEE,
        sent = 2n * unit;
      await client.must('simulateStuck', { body: { chain, stuck: true } });
      const built = await client.must('buildTransaction', {
        body: { chain, from: issued.address, to, amount: sent.toString() },
      });
      const out: Movement = {
        ...deposit,
        direction: 'out',
        status: 'built',
        id: built.id,
        txid: null,
        outputIndex: null,
        counterparty: to,
        amount: sent,
        inBlock: false,
        confirmations: (count) => count === 0,
        explorerUrl: null,
      };
      check('built', built, out);
      known = await recordOf(built.id);
      check('transaction', known, out);
      const answered = await client.must('broadcastTransaction', { params: { id: built.id } }),
        txid = answered.txid!;
      const waiting: Movement = {
        ...out,
        status: 'broadcast',
        txid,
        versions: [{ txid, at: 'node' }],
        explorerUrl: answered.explorerUrl,
        before: known,
      };
      known = await recordOf(built.id);
      t.deepEqual(answered, known);
      check('transaction', known, waiting);
      await heard('withdrawal_broadcast', waiting, known);
      await client.must('simulateConfirmation', { body: { chain, txid, confirmations: 1 } });
      const after = BigInt((await client.must('getBalance', { params })).amount);
      const mined: Movement = {
        ...waiting,
        status: threshold === 1 ? 'confirmed' : 'confirming',
        inBlock: true,
        confirmations: (count) => count === 1,
        fee: amount - sent - after,
        versions: [{ txid, at: 'block' }],
        before: known,
      };
      known = await recordOf(built.id);
      check('transaction', known, mined);
      await client.must('simulateConfirmation', { body: { chain, txid, confirmations: threshold } });
      const done = await recordOf(built.id);
      check('transaction', done, {
        ...mined,
        status: 'confirmed',
        confirmations: (count: number) => count === threshold,
        before: known,
      });
      t.true(mined.fee! <= BigInt(built.feeEstimate.feeMax));
      await client.must('simulateStuck', { body: { chain, stuck: false } });
      const got = await receiver.next((one) => one.event === 'withdrawal_confirmed' && one.data['txid'] === txid);
      t.deepEqual(
        problemsOfEvent(JSON.parse(got.raw), {
          movement: mined,
          record: done,
          event: 'withdrawal_confirmed',
          counted: (count) => count === threshold,
        }),
        [],
      );
      await holds(after);
    },
  );
}

/**
 * Chains with a listed token, EVM once; its whole balance is paid out twice, so that the second payment is refused: by
 * the node on sol and xrp, by a block elsewhere.
 */
for (const chain of CHAINS.filter((one) => catalogueOf(one).size > 0 && (FAMILY_OF[one] !== 'evm' || one === 'eth'))) {
  test.serial(
    `found F72: ${chain}: the same of a token, of a payment that a node or its block refuses, of a build that nobody broadcast and of a deposit that a reorg takes`,
    async (t) => {
      t.timeout(600_000);
      const network = networkOf(chain),
        { threshold } = network,
        sinceMs = Date.now();
      const { contract, symbol, decimals } = [...catalogueOf(chain).values()][0]!,
        asset = { contract, symbol, decimals },
        native = { contract: null, symbol: network.nativeSymbol, decimals: network.nativeDecimals };
      /**
       * Elsewhere a token has an account or a line of its own, which the simulated ledger keeps only while it holds
       * something.
       */
      const ownsItself = ['evm', 'tron'].includes(FAMILY_OF[chain]);
      const given = { chain, userRef: 'customer-2', tag: 'token', label: 'second' };
      const { address } = await client.must('createAddress', { body: given });
      const holder = { ...given, environment: 'sandbox' as const, address },
        params = { chain, address };
      const check = (what: keyof typeof CONTRACT, record: object, truth: object) => {
        const { schema, table } = CONTRACT[what];
        t.deepEqual(problemsOf(`${chain} ${what}`, schema, table as never, record, truth), []);
      };
      const recordOf = (id: string) => client.must('getTransaction', { params: { id } });
      const heard = async (
        event: ToldEvent,
        movement: Movement,
        record: Awaited<ReturnType<typeof recordOf>>,
        count: number,
      ) => {
        const got = await receiver.next((one) => one.event === event && one.data['txid'] === movement.txid);
        t.deepEqual(
          problemsOfEvent(JSON.parse(got.raw), { movement, record, event, counted: (told) => told === count }),
          [],
        );
      };
      const pay = async (amount: string, tokenContract: string | null) => {
        const paid = await client.must('simulateDeposit', {
          body: { chain, address, amount, tokenContract, autoConfirm: true },
        });
        return (await client.must('listTransactions', { query: { chain, direction: 'in' } })).content.find(
          ({ txid }) => txid === paid.txid,
        )!;
      };
      await pay('100', null);
      const credited = await pay('5', contract),
        amount = 5n * 10n ** BigInt(decimals);
      const deposit: Movement = {
        holder,
        asset,
        direction: 'in',
        status: 'confirmed',
        id: credited.id,
        txid: credited.txid,
        outputIndex: credited.outputIndex,
        counterparty: null,
        amount,
        inBlock: true,
        confirmations: (count) => count === threshold,
        threshold,
        fee: null,
        versions: [],
        explorerUrl: credited.explorerUrl,
        sinceMs,
        before: null,
      };
      check('transaction', credited, deposit);
      await heard('deposit_confirmed', deposit, credited, threshold);
      check('balance', await client.must('getTokenBalance', { params: { ...params, token: contract } }), {
        holder,
        asset,
        amount,
        exists: true,
      });

      const to = PAYEE[chain] ?? EVM_PAYEE;
      const build = (paymentRef: string) =>
        client.must('buildTransaction', {
          body: { chain, from: address, to, amount: amount.toString(), tokenContract: contract, paymentRef },
        });
      const movementOf = (id: string, more: Partial<Movement>): Movement => ({
        ...deposit,
        direction: 'out',
        id,
        txid: null,
        outputIndex: null,
        counterparty: to,
        inBlock: false,
        confirmations: (count) => count === 0,
        explorerUrl: null,
        status: 'built',
        ...more,
      });
      const left = await build(`${chain}-left`),
        built = await build(`${chain}-paid`);
      if (left.unsigned.replayKey.kind === 'nonce' || left.unsigned.replayKey.kind === 'sequence')
        check('transaction', await recordOf(left.id), movementOf(left.id, {}));
      check('built', built, movementOf(built.id, {}));
      await client.must('simulateStuck', { body: { chain, stuck: true } });
      const first = await client.must('broadcastTransaction', { params: { id: built.id } });
      // An xlm address has one payment on its way; its second one cannot be refused by a block.
      const second =
        chain === 'xlm'
          ? []
          : [await client.must('broadcastTransaction', { params: { id: (await build(`${chain}-refused`)).id } })];
      await client.must('simulateStuck', { body: { chain, stuck: false } });
      for (const sent of [first, ...second]) {
        const failed = sent !== first,
          refused = sent.status === 'failed',
          event = failed ? 'withdrawal_failed' : 'withdrawal_confirmed';
        if (!refused)
          await client.must('simulateConfirmation', { body: { chain, txid: sent.txid!, confirmations: threshold } });
        await receiver.next((one) => one.event === event && one.data['txid'] === sent.txid);
        const record = await recordOf(sent.id);
        const movement = movementOf(sent.id, {
          status: failed ? 'failed' : 'confirmed',
          txid: sent.txid,
          inBlock: !refused,
          confirmations: (count) => (refused ? count === 0 : count >= threshold),
          versions: [{ txid: sent.txid!, at: refused ? 'submitted' : 'block' }],
          explorerUrl: sent.explorerUrl,
          failed,
        });
        check('transaction', record, movement);
        await heard(event, movement, record, refused ? 0 : threshold);
      }
      check('balance', await client.must('getTokenBalance', { params: { ...params, token: contract } }), {
        holder,
        asset,
        amount: 0n,
        exists: ownsItself ? true : null,
      });

      const before = await pay('1', null);
      await client.must('simulateReorg', { body: { chain, depth: before.confirmations } });
      const reversed = await recordOf(before.id);
      const gone: Movement = {
        ...deposit,
        asset: native,
        amount: 10n ** BigInt(native.decimals),
        status: 'reversed',
        id: before.id,
        txid: before.txid,
        outputIndex: before.outputIndex,
        confirmations: (count) => count === 0,
        explorerUrl: before.explorerUrl,
        before,
      };
      check('transaction', reversed, gone);
      await heard('deposit_reversed', gone, reversed, 0);
    },
  );
}

test('found F72: a field that may be null says in its description when it is', (t) => {
  for (const [what, { schema }] of Object.entries(CONTRACT)) {
    if (what === 'coverage') continue;
    for (const [path, shape] of pathsOf(schema)) {
      if (isNullable(shape) && !path.startsWith('unsigned.') && !path.startsWith('attempts.'))
        t.regex(shape.description ?? '', /null/, `${what} ${path}`);
    }
  }
});
