import test from 'ava';
import { readConfig, ConfigurationError } from '../../supervision/config.ts';
import { enrol, eventually, startTestCloud } from '../support/gateway.ts';

const LISTED = '0x52908400098527886E0F7030069857D2E4169EE7';
const OTHER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
const cloud = await startTestCloud({
  ETH_RPC_URLS: 'http://127.0.0.1:9',
  SCREENED_ADDRESSES: `eth:${LISTED.toLowerCase()}:list-1`,
});
test.after.always(() => cloud.stop());

test('console A47: a build towards a listed address is COMPLIANCE_REJECTED with its rule, however it is written; others are built, and deposits are shown', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { client } = sandbox;
  const { address: from } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'u' } });
  await client.must('simulateDeposit', {
    body: { chain: 'eth', address: from, amount: '1000000000000000000', autoConfirm: true, confirmAfterSeconds: 0 },
  });
  const { content } = await eventually(
    'the deposit is confirmed',
    () => client.must('listTransactions', { query: { status: 'confirmed' } }),
    ({ content: found }) => found.length === 1,
  );
  t.is(content[0]!.direction, 'in');
  for (const to of [LISTED, LISTED.toLowerCase()])
    t.like(await client.call('buildTransaction', { body: { chain: 'eth', from, to, amount: '1000' } }), {
      code: 'COMPLIANCE_REJECTED',
      details: { chain: 'eth', rule: 'list-1' },
    });
  const built = await client.must('buildTransaction', { body: { chain: 'eth', from, to: OTHER, amount: '1000' } });
  t.regex(built.id, /^txn_/);
  // A question of what it would cost is no payment.
  const { amount } = { amount: '1000' };
  t.false('code' in (await client.call('getFees', { params: { chain: 'eth' }, query: { from, to: LISTED, amount } })));
});

test('console A47: with an entry that is none the node does not start, and names the setting', (t) => {
  const problemsOf = (SCREENED_ADDRESSES: string): readonly string[] => {
    try {
      readConfig({ SCREENED_ADDRESSES });
      return [];
    } catch (error) {
      return (error as ConfigurationError).problems.filter((problem) => problem.startsWith('SCREENED_ADDRESSES'));
    }
  };
  for (const wrong of [`eth:${LISTED}:a,doge:x:y`, 'btc:nothing:rule', `eth:${LISTED}`, `eth:${LISTED}:two words`])
    t.deepEqual(problemsOf(wrong), ['SCREENED_ADDRESSES: each is chain:address:rule, an address of the chain'], wrong);
  t.deepEqual(problemsOf(`eth:${LISTED}:a`), []);
});
