import test from 'ava';
import { createClientAddress } from '../../../gateway/http/client-address.ts';
import { isNetwork } from '../../../protocol/node/networks.ts';
import { ConfigurationError, readConfig } from '../../../supervision/config.ts';

const CASES: [what: string, trusted: string[], peer: string, forwardedFor: string | undefined, client: string][] = [
  ['nobody is trusted', [], '10.0.0.1', '203.0.113.1', '10.0.0.1'],
  ['no header', ['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
  ['an address', ['10.0.0.1'], '10.0.0.1', '203.0.113.1', '203.0.113.1'],
  ['a network', ['10.0.0.0/8'], '10.200.0.1', '203.0.113.1', '203.0.113.1'],
  ['beside the network', ['10.0.0.0/9'], '10.200.0.1', '203.0.113.1', '10.200.0.1'],
  ['two proxies', ['10.0.0.0/8'], '10.0.0.1', '203.0.113.1, 10.0.0.2', '203.0.113.1'],
  ['the client lies', ['10.0.0.0/8'], '10.0.0.1', '10.0.0.9, 198.51.100.1, 203.0.113.1', '203.0.113.1'],
  ['trusted all the way', ['10.0.0.0/8'], '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
  ['IPv4 in IPv6', ['10.0.0.1'], '::ffff:10.0.0.1', '::ffff:203.0.113.1', '203.0.113.1'],
  ['IPv6', ['2001:db8::/32'], '2001:db8::5', '2001:db9::1', '2001:db9::1'],
  ['IPv6 beside the network', ['2001:db8::/32'], '2001:db9::5', '203.0.113.1', '2001:db9::5'],
  ['ports', ['10.0.0.0/8'], '10.0.0.1', '203.0.113.1:4711, 10.0.0.2:80', '203.0.113.1'],
  ['ports of IPv6', ['10.0.0.0/8'], '10.0.0.1', '[2001:db9::1]:4711', '2001:db9::1'],
  ['no address', ['10.0.0.0/8'], '10.0.0.1', '203.0.113.1, unknown', '10.0.0.1'],
  ['no peer', ['10.0.0.0/8'], '', '203.0.113.1', ''],
  ['a zone', ['10.0.0.0/8'], '10.0.0.1', '203.0.113.1, fe80::1%eth0', 'fe80::1%eth0'],
  ['empty', ['10.0.0.0/8'], '10.0.0.1', '', '10.0.0.1'],
];
for (const [what, trusted, peer, forwardedFor, client] of CASES) {
  test(`the address of a client: ${what}`, (t) => {
    t.is(createClientAddress(trusted)(peer, forwardedFor), client);
  });
}

test('issue 2.11 TRUSTED_PROXIES are addresses and networks; anything else is a problem that names the setting', (t) => {
  const good = { DATABASE_URL: 'postgres://flock_app:word@127.0.0.1:5432/flock', SECRET_KEY: '11'.repeat(32) };
  t.deepEqual(readConfig(good).TRUSTED_PROXIES, []);
  t.deepEqual(readConfig({ ...good, TRUSTED_PROXIES: '10.0.0.0/8, ::1,192.0.2.1' }).TRUSTED_PROXIES, [
    '10.0.0.0/8',
    '::1',
    '192.0.2.1',
  ]);
  for (const wrong of [
    'proxy.example',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0/8',
    '::1/129',
    '10.0.0.1/8/8',
    '10.0.0.1/-1',
    '10.0.0.1/08',
    'true',
    '*',
  ]) {
    t.false(isNetwork(wrong), wrong);
    const { problems } = t.throws(() => readConfig({ ...good, TRUSTED_PROXIES: `10.0.0.1,${wrong}` }), {
      instanceOf: ConfigurationError,
    });
    t.deepEqual(problems, ['TRUSTED_PROXIES: entry 2 is an address or a network such as 10.0.0.0/8'], wrong);
  }
});
