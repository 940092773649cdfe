/** A cloud that dies between a submit and its note: what a node may have is never given up for a refusal. */
import test from 'ava';
import { isRefusal } from '../../protocol/errors.ts';
import { CONFIRMATIONS, openCompany, patiently } from '../support/company.ts';

const OUTSIDER = '0x000000000000000000000000000000000000bEEF';

test('G26 G27 killed after a submit and before its note: refused later, the nonce stays held, and the same bytes land', async (t) => {
  t.timeout(600_000);
  const company = await openCompany({ cloudEnv: { FLOCK_FAILPOINTS: 'kill:first_submit.answered:1' } });
  try {
    const { anvil, client, deployment, receiver, sql, accountId } = company;
    const held = async () => {
      const [row] = await sql<{ counters: object; status: string; versions: { txid: string; doubtful?: true }[] }[]>`
        select flock.account_in_flight(a.account_id, '-infinity') -> 'counters' as counters, w.status, w.versions from flock.account a join flock.withdrawal w using (account_id)
         where a.account_id = ${accountId}`;
      return { counters: Object.values(row!.counters), status: row!.status, versions: row!.versions };
    };
    const address = await patiently('address', () =>
      client.call('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } }),
    );
    if (isRefusal(address)) throw new Error(address.code);
    await company.pay(address.address, 10n ** 17n);
    await company.mine(1 + CONFIRMATIONS);
    await receiver.next(({ event }) => event === 'deposit_confirmed');
    const built = await patiently('build', () =>
      client.call('buildTransaction', {
        body: { chain: 'eth', from: address.address, to: OUTSIDER, amount: '1000' },
        idempotencyKey: 'build-1',
      }),
    );
    if (isRefusal(built)) throw new Error(built.code);
    // the cloud dies of it
    const asked = client.call('broadcastTransaction', { params: { id: built.id } }).catch(() => undefined);
    await deployment.cloud.exited;
    const before = await held();
    const { txid } = before.versions[0]!;
    t.deepEqual([before.status, before.versions.length, before.counters.length], ['signing', 1, 1]);
    t.truthy(await anvil.rpc('eth_getTransactionByHash', [txid]), 'the bytes were out');

    // This node forgets them, and would refuse them now; another one may still have them.
    await anvil.rpc('anvil_dropTransaction', [txid]);
    const balance = await anvil.rpc<string>('eth_getBalance', [address.address, 'latest']);
    await anvil.rpc('anvil_setBalance', [address.address, '0x1']);
    await deployment.restartCloud({ FLOCK_FAILPOINTS: '' });
    const refused = 'svc_resubmissions_total{chain="eth",result="rejected_final"}';
    await patiently(
      'refused',
      async () => (await fetch(`${deployment.cloudUrl}/metrics`)).text(),
      (text) => text.includes(refused),
    );
    const after = await held();
    t.deepEqual([after.status, after.versions.map((version) => version.txid)], ['signing', [txid]]);
    t.deepEqual(after.counters, before.counters, 'the nonce is not free');
    t.false(receiver.received.some(({ event }) => event === 'withdrawal_failed'));

    await anvil.rpc('anvil_setBalance', [address.address, balance]);
    await patiently(
      'the same bytes',
      async () => anvil.rpc<object | null>('eth_getTransactionByHash', [txid]),
      (found) => found !== null,
    );
    await company.mine(1 + CONFIRMATIONS);
    const { data } = await receiver.next(({ event }) => event === 'withdrawal_confirmed');
    t.deepEqual([data['transactionId'], data['txid']], [built.id, txid]);
    await asked;
  } finally {
    await company.close();
  }
});
