import test from 'ava';
import { isRefusal } from '../../protocol/errors.ts';
import { enrol, startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

test('§4.2 an address is issued, found and archived', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const made = await sandbox.client.call('createAddress', { body: { chain: 'eth', userRef: 'u1', tag: 't1', label: 'l' } });
  t.log(made);
  t.false(isRefusal(made));
});
