/** A contract that pays another amount when its transaction is included again: what is credited is what stands. */
import test from 'ava';
import { getCreateAddress, HDNodeWallet } from 'ethers';
import { isRefusal } from '../../protocol/errors.ts';
import { CONFIRMATIONS, openCompany, patiently } from '../support/company.ts';

const ODD = 1_000n,
  EVEN = 7n;
/**
 * Pays the address in its call data 1,000 wei in a block with an odd number, 7 wei in one with an even number:
 * value = (NUMBER AND 1) × 993 + 7, then CALL(GAS, CALLDATALOAD(0), value, 0, 0, 0, 0).
 */
const RUNTIME = '6000600060006000' + '4360011661' + '03e1' + '02600701' + '600035' + '5af100';
const CREATION = `0x60${(RUNTIME.length / 2).toString(16)}80600b6000396000f3${RUNTIME}`;
const FEES = {
  type: 2,
  chainId: 1,
  gasLimit: 200_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
  maxFeePerGas: 100_000_000_000n,
};

test('C2, decisions 5: an attacker whose contract pays less after a reorg is credited what it paid', async (t) => {
  t.timeout(600_000);
  const company = await openCompany();
  try {
    const { anvil, client, sql, receiver } = company;
    const wallet = HDNodeWallet.fromPhrase('test test test test test test test test test test test junk');
    const send = async (raw: string) => anvil.rpc<string>('eth_sendRawTransaction', [raw]);
    await send(await wallet.signTransaction({ ...FEES, nonce: 0, value: 10n ** 18n, data: CREATION }));
    const contract = getCreateAddress({ from: wallet.address, nonce: 0 });
    await company.mine(1);
    const height = async () => Number(await anvil.rpc<string>('eth_blockNumber', []));
    if ((await height()) % 2 !== 0) await company.mine(1);
    const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'attacker' } });
    const data = `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`;
    const raw = await wallet.signTransaction({ ...FEES, nonce: 1, to: contract, data });
    const txid = await send(raw);
    await company.mine(1); // an odd block: it pays 1,000
    const found = (status: string) =>
      patiently(
        `a deposit that is ${status}`,
        () => client.call('listTransactions', { query: { direction: 'in' } }),
        (page) => !isRefusal(page) && page.content.some((row) => row.txid === txid && row.status === status),
      );
    const seen = await found('detected');
    if (isRefusal(seen)) throw new Error(seen.code);
    t.is(seen.content[0]!.amount, String(ODD));
    await company.mine(CONFIRMATIONS - 2); // one block below the threshold
    const depth = CONFIRMATIONS - 1;
    await anvil.rpc('anvil_reorg', [depth, [[raw, 1]]]); // the same transaction, one block later: it pays 7
    await company.mine(CONFIRMATIONS + 1);
    const confirmed = await found('confirmed');
    if (isRefusal(confirmed)) throw new Error(confirmed.code);
    t.like(confirmed.content[0]!, { amount: String(EVEN), incarnation: 2, txid });
    const entries = await sql<{ kind: string; amount: bigint }[]>`
      select e.kind, e.amount from flock.ledger_entry e join flock.deposit d on d.id = e.deposit_id where d.txid = ${txid} and e.kind <> 'detected'`;
    t.deepEqual(
      entries.map(({ kind, amount }) => [kind, amount]),
      [['credit', EVEN]],
    );
    const told = await patiently(
      'the events',
      async () =>
        receiver.received
          .map(({ raw: body }) => JSON.parse(body) as { event: string; data: { txid?: string; amount: string } })
          .filter((event) => event.data.txid === txid),
      (events) => events.some(({ event }) => event === 'deposit_confirmed'),
    );
    t.deepEqual(
      told.map((event) => [event.event, event.data.amount]),
      [
        ['deposit_detected', String(ODD)],
        ['deposit_reversed', String(ODD)],
        ['deposit_detected', String(EVEN)],
        ['deposit_confirmed', String(EVEN)],
      ],
    );
  } finally {
    await company.close();
  }
});
