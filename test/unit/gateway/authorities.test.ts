import test from 'ava';
import fc from 'fast-check';
import { createAuthorities, isAuthority } from '../../../gateway/http/auth/authorities.ts';
import { createEdgeSignatures } from '../../../gateway/http/auth/edge-signature.ts';
import { isRefusal, refuse } from '../../../protocol/errors.ts';
import { signRequest } from '../../../protocol/node/http-signature.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newSigner } from '../../support/gateway.ts';

const of = (publicUrl: string, further: readonly string[] = [], developerMode = false) =>
  createAuthorities({ publicUrl, further, developerMode });

test('found F13: the cloud has the host of PUBLIC_URL and those of PUBLIC_AUTHORITIES, each with and without its default port, and no other', (t) => {
  const https = of('https://Cloud.example', ['cloud:8080', 'inner.example', '[fd00::1]:443']);
  const taken = [
    'cloud.example',
    'CLOUD.example',
    'cloud.example:443',
    'cloud.example.',
    'cloud:8080',
    'inner.example',
    'inner.example:80',
    'inner.example:443',
    '[fd00::1]',
    '[fd00:0::1]:443',
  ];
  for (const host of taken) t.not(https.formsOf(host).length, 0, host);
  const foreign = [
    '',
    'evil.example',
    'cloud.example.evil.example',
    'evil-cloud.example',
    'cloud.example:80',
    'cloud.example:8443',
    'cloud',
    'cloud:80',
    'inner.example:8080',
    '[fd00::2]',
    'cloud.example@evil.example',
    'evil.example@cloud.example',
    'cloud.example/',
    'cloud.example#',
    'cloud.example?',
    ' cloud.example',
    'cloud.example\\evil',
    'localhost',
    '127.0.0.1:8080',
    '[::1]',
    'cloud.example:',
    'cloud.example:443:443',
  ].filter((host) => host !== 'cloud.example:');
  for (const host of foreign) t.deepEqual(https.formsOf(host), [], host);
  t.deepEqual(of('http://cloud.example').formsOf('cloud.example:443'), []);
  t.deepEqual(of('http://cloud.example').formsOf('cloud.example:80'), ['cloud.example:80', 'cloud.example']);
  t.deepEqual(of('https://cloud.example:8443').formsOf('cloud.example'), []);
  t.deepEqual(of('https://cloud.example:8443').formsOf('cloud.example:8443'), ['cloud.example:8443']);
});

test('found F13: loopback names count while PUBLIC_URL is one, or in developer mode, and never beside a public name', (t) => {
  for (const authorities of [
    of('http://127.0.0.1:8080'),
    of('http://0.0.0.0:8080'),
    of('http://localhost:8080'),
    of('https://cloud.example', [], true),
  ]) {
    for (const host of ['127.0.0.1:1', 'localhost:8080', '[::1]:9', 'LOCALHOST'])
      t.not(authorities.formsOf(host).length, 0, host);
    for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '128.0.0.1'])
      t.deepEqual(authorities.formsOf(host), [], host);
  }
});

test('found F13: property: of two hosts one cloud never takes a signature that was made for the other', async (t) => {
  const signer = newSigner(new Uint8Array(32).fill(7)),
    nowMs = 1_700_000_000_000;
  const verified = async (signedFor: string, host: string, publicUrl: string) => {
    const signatures = createEdgeSignatures({
      edge: { claimNonce: async () => true },
      nowMs: () => nowMs,
      accounts: { ask: async () => refuse('NOT_FOUND') as never },
      authorities: of(publicUrl),
    });
    const headers = signRequest({ method: 'POST', url: `${signedFor}/v1/edge/sync` }, signer, 'nonce-of-a-test', nowMs);
    return signatures.verify(
      { method: 'POST', authority: host, path: '/v1/edge/sync', query: '?', headers },
      'org_a_live' as AccountId,
      { required: true, pin: false },
    );
  };
  const own = await verified('https://cloud.example', 'cloud.example', 'https://cloud.example');
  t.false(isRefusal(own));
  t.false(
    isRefusal(await verified('https://cloud.example', 'cloud.example:443', 'https://cloud.example')),
    'a proxy that names the default port',
  );
  t.like(await verified('https://evil.example', 'evil.example', 'https://cloud.example'), {
    code: 'EDGE_SIGNATURE_INVALID',
    details: { reason: 'authority', expected: 'cloud.example' },
  });
  t.like(await verified('https://evil.example', 'cloud.example', 'https://cloud.example'), {
    code: 'EDGE_SIGNATURE_INVALID',
    details: { reason: 'signature' },
  });
  await fc.assert(
    fc.asyncProperty(fc.webAuthority({ withPort: true }), fc.webAuthority({ withPort: true }), async (one, other) => {
      const [a, b] = [`https://${one}`, `https://${other}`];
      if (new URL(a).host === new URL(b).host) return;
      for (const host of [one, other]) t.true(isRefusal(await verified(a, host, b)), `${one} at ${other} as ${host}`);
    }),
    { numRuns: 60 },
  );
});

test('PUBLIC_AUTHORITIES takes hosts, with a port or without, and nothing else', (t) => {
  for (const text of ['cloud', 'cloud:8080', 'a.example', '[::1]:8080', '10.0.0.1']) t.true(isAuthority(text), text);
  for (const text of [
    '',
    'https://a.example',
    'a.example/path',
    'a b',
    'user@a.example',
    'a.example:99999',
    'a.example:x',
    '*.example/',
  ])
    t.false(isAuthority(text), text);
});

test('console A14: a page is of this cloud by a pinned name, or by the loopback name that it asks under itself', (t) => {
  const pages = (cloud: ReturnType<typeof of>, rows: readonly (readonly [string, string, boolean])[]): void => {
    for (const [origin, host, isOwn] of rows) t.is(cloud.isOwnPage(origin, host), isOwn, `${origin} asks ${host}`);
  };
  pages(of('https://cloud.example', ['inner.example:8443']), [
    ['https://cloud.example', 'cloud.example', true],
    ['https://inner.example:8443', 'cloud.example', true],
    ['https://cloud.example:8443', 'cloud.example', false],
    ['https://evil.example', 'evil.example', false],
    ['http://127.0.0.1:8080', '127.0.0.1:8080', false],
    ['null', 'cloud.example', false],
  ]);
  for (const home of [of('http://127.0.0.1:8080'), of('http://0.0.0.0:8080'), of('https://cloud.example', [], true)])
    pages(home, [
      ['http://localhost:8080', 'localhost:8080', true],
      ['http://127.0.0.1:37013', '127.0.0.1:37013', true],
      ['http://127.0.0.1:1', 'localhost:8080', false],
      ['http://localhost:9999', 'localhost:8080', false],
      ['http://rebound.example:8080', 'rebound.example:8080', false],
    ]);
});
