/** Whose sign-ins are counted together when a proxy stands before the cloud. Decisions 3. */
import { request } from 'node:http';
import test from 'ava';
import { startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud({ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' });
test.after.always(() => cloud.stop());

const PER_ADDRESS = 60;
let people = 0;

/** A sign-in of somebody unknown, from a local address; its status. */
function signIn(peer: string, forwardedFor?: string): Promise<number> {
  const body = JSON.stringify({ email: `nobody-${(people += 1)}@example.com`, password: 'a wrong password' });
  return new Promise((resolve, reject) => {
    const sent = request(
      `${cloud.url}/v1/auth/login`,
      {
        method: 'POST',
        localAddress: peer,
        headers: {
          'content-type': 'application/json',
          ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
        },
      },
      (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer.statusCode!));
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

const several = async (count: number, ask: (at: number) => Promise<number>) => [
  ...new Set(await Promise.all(Array.from({ length: count }, (_, at) => ask(at)))),
];

test('decisions 3: behind a trusted proxy each client has its own 60 sign-ins a minute, whatever it says of itself', async (t) => {
  t.deepEqual(await several(PER_ADDRESS, () => signIn('127.0.0.1', '203.0.113.1, 10.1.2.3')), [401]);
  t.is(await signIn('127.0.0.1', '203.0.113.1'), 429);
  t.is(
    await signIn('127.0.0.1', '198.51.100.7, 203.0.113.1'),
    429,
    'what the client itself wrote stands before what the proxy saw',
  );
  t.is(await signIn('127.0.0.1', '203.0.113.2'), 401, 'another client');
  t.is(await signIn('127.0.0.1'), 401, 'the proxy itself');
});

test('decisions 3: a forged X-Forwarded-For of a peer that is no trusted proxy changes nothing', async (t) => {
  t.deepEqual(await several(PER_ADDRESS, (at) => signIn('127.0.0.2', `203.0.113.${100 + at}`)), [401]);
  t.is(await signIn('127.0.0.2', '203.0.113.250'), 429);
  t.is(await signIn('127.0.0.2'), 429);
  t.is(await signIn('127.0.0.3', '203.0.113.250'), 401, 'another peer');
});
