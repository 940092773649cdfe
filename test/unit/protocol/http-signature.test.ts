import test from 'ava';
import fc from 'fast-check';
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import {
  contentDigestOf,
  isDigestOf,
  isSignatureOf,
  isSoundPublicKey,
  parseSignature,
  SIGNATURE_COMPONENTS,
  signatureBase,
  signRequest,
  type Signer,
} from '../../../protocol/node/http-signature.ts';
import { vector } from '../../support/vectors.ts';

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

function signerOf(seedHex: string): Signer {
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8, Buffer.from(seedHex, 'hex')]),
    format: 'der',
    type: 'pkcs8',
  });
  const keyId = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(SPKI.length).toString('hex');
  return { keyId, sign: (message) => sign(null, message, key) };
}

const SIGNER = signerOf('11'.repeat(32));
const NOW_MS = 1_700_000_000_000;
const NONCE = 'nonce-0123456789';
const REQUEST = { method: 'POST', url: 'https://Cloud.Example.com/v1/edge/sync?b=2&a=%20x', body: '{"a":1}' };
const HEAD = { method: 'POST', authority: 'cloud.example.com', path: '/v1/edge/sync', query: '?b=2&a=%20x' };

function signed(request = REQUEST) {
  const headers = signRequest(request, SIGNER, NONCE, NOW_MS);
  return { headers, parsed: parseSignature(headers['signature-input'], headers.signature) };
}

interface Rfc {
  publicKeyHex: string;
  secretSeedHex: string;
  components: [string, string][];
  parameters: string;
  signature: string;
  body: string;
  contentDigestSha512: string;
}
const RFC = vector<Rfc>('http-signature/rfc9421-b.2.6.json');

test('RFC 9421 B.2.6: the signature base of the standard gives the signature of the standard', (t) => {
  const base = Buffer.from(signatureBase(RFC.components, RFC.parameters));
  const signer = signerOf(RFC.secretSeedHex);
  t.is(signer.keyId, RFC.publicKeyHex);
  t.is(Buffer.from(signer.sign(base)).toString('base64'), RFC.signature);
  const key = createPublicKey({
    key: Buffer.concat([SPKI, Buffer.from(RFC.publicKeyHex, 'hex')]),
    format: 'der',
    type: 'spki',
  });
  t.true(verify(null, base, key, Buffer.from(RFC.signature, 'base64')));
});

test("RFC 9530: a digest of sha-256 or sha-512 is the body's, and every listed one must be", (t) => {
  const body = Buffer.from(RFC.body);
  t.true(isDigestOf(RFC.contentDigestSha512, body));
  t.true(isDigestOf(contentDigestOf(body), body));
  t.true(isDigestOf(`${contentDigestOf(body)}, ${RFC.contentDigestSha512}`, body));
  t.false(isDigestOf(`${contentDigestOf(body)}, ${contentDigestOf(Buffer.from('other'))}`, body));
  t.false(isDigestOf(contentDigestOf(body), Buffer.from(`${RFC.body} `)));
  for (const broken of ['', 'md5=:AAAA:', 'sha-256=AAAA', `${contentDigestOf(body)},`])
    t.false(isDigestOf(broken, body), broken);
});

test("decisions 2: the edge's signature covers method, authority, path, query and digest, and verifies", (t) => {
  const { headers, parsed } = signed();
  t.truthy(parsed);
  t.deepEqual([...parsed!.components], [...SIGNATURE_COMPONENTS]);
  t.is(parsed!.createdSeconds, NOW_MS / 1_000);
  t.is(parsed!.keyId, SIGNER.keyId);
  const contentDigest = headers['content-digest'];
  t.true(isSignatureOf(parsed!, { ...HEAD, contentDigest }));
  t.true(isSignatureOf(parsed!, { ...HEAD, authority: 'CLOUD.example.com', contentDigest }));
  for (const [name, changed] of Object.entries({
    method: 'PUT',
    authority: 'other.example.com',
    path: '/v1/edge/resume',
    query: '?a=%20x&b=2',
  })) {
    t.false(isSignatureOf(parsed!, { ...HEAD, contentDigest, [name]: changed }), name);
  }
  t.false(isSignatureOf(parsed!, { ...HEAD, contentDigest: contentDigestOf(Buffer.from('{}')) }));
});

test('RFC 9421 §2.2.7: a request without a query is signed with a bare question mark', (t) => {
  const { headers, parsed } = signed({ method: 'GET', url: 'http://127.0.0.1:8080/v1/edge/stream', body: '' });
  const head = {
    method: 'GET',
    authority: '127.0.0.1:8080',
    path: '/v1/edge/stream',
    contentDigest: headers['content-digest'],
  };
  t.true(isSignatureOf(parsed!, { ...head, query: '?' }));
  t.false(isSignatureOf(parsed!, { ...head, query: '' }));
});

test('decisions 2: anything but the fixed form is no signature', (t) => {
  const { headers } = signed();
  const input = headers['signature-input'];
  const wrong: Record<string, string> = {
    'a component is missing': input.replace(' "@query"', ''),
    'a component more': input.replace('"@method"', '"@method" "host"'),
    'a component twice': input.replace('"@query"', '"@path"'),
    'no created': input.replace(/;created=[0-9]+/, ''),
    'created is a string': input.replace(/;created=([0-9]+)/, ';created="$1"'),
    'no nonce': input.replace(/;nonce="[^"]+"/, ''),
    'a short nonce': input.replace(/;nonce="[^"]+"/, ';nonce="a"'),
    'no keyid': input.replace(/;keyid="[^"]+"/, ''),
    'keyid in upper case': input.replace(
      /;keyid="([^"]+)"/,
      (_, hex: string) => `;keyid="${hex.toUpperCase().replace(/^1/, 'A')}"`,
    ),
    'a short keyid': input.replace(/;keyid="..([^"]+)"/, ';keyid="$1"'),
    'another algorithm': input.replace('alg="ed25519"', 'alg="hmac-sha256"'),
    'an unknown parameter': `${input};expires=1`,
    'a parameter twice': `${input};nonce="nonce-9876543210"`,
    'two signatures': `${input}, ${input.replace('sig=', 'sig2=')}`,
    'another label': input.replace('sig=', 'other='),
  };
  for (const [name, text] of Object.entries(wrong)) t.is(parseSignature(text, headers.signature), null, name);
  for (const text of ['', 'sig=::', headers.signature.replace(/=:$/, ':'), headers.signature.replace('sig=', 'x=')])
    t.is(parseSignature(input, text), null, text);
  t.truthy(
    parseSignature(input.replace(';alg="ed25519"', ''), headers.signature),
    'the algorithm may be left to the key',
  );
});

test('a signature survives no change of a character, whatever was signed', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), fc.string(), fc.nat(), (url, body, at) => {
        const headers = signRequest({ method: 'PUT', url, body }, SIGNER, NONCE, NOW_MS);
        const { host, pathname, search } = new URL(url);
        const head = {
          method: 'PUT',
          authority: host,
          path: pathname,
          query: search === '' ? '?' : search,
          contentDigest: headers['content-digest'],
        };
        const parsed = parseSignature(headers['signature-input'], headers.signature)!;
        if (!isSignatureOf(parsed, head)) return false;
        const broken = Uint8Array.from(parsed.signature);
        broken[at % 64]! ^= 1 << (at % 8);
        return (
          !isSignatureOf({ ...parsed, signature: broken }, head) &&
          !isSignatureOf(parsed, { ...head, path: `${pathname}x` })
        );
      }),
      { numRuns: 60 },
    ),
  );
});

interface Ed25519 {
  vectors: { publicKey: string; messageHex: string; signature: string; valid: boolean; note?: string }[];
}

test('RFC 8032 and hostile keys: what the vectors refuse is refused', (t) => {
  for (const { publicKey, messageHex, signature, valid, note } of vector<Ed25519>('auth/ed25519.json').vectors) {
    const sound = isSoundPublicKey(publicKey);
    const key = sound
      ? createPublicKey({ key: Buffer.concat([SPKI, Buffer.from(publicKey, 'hex')]), format: 'der', type: 'spki' })
      : null;
    const accepted =
      key !== null &&
      signature.length === 128 &&
      verify(null, Buffer.from(messageHex, 'hex'), key, Buffer.from(signature, 'hex'));
    t.is(accepted, valid, note ?? publicKey);
  }
});

test('reliability 3.4: keys of small order and non-canonical keys are not sound', (t) => {
  const p = 'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f';
  for (const hex of [
    '00'.repeat(32),
    `01${'00'.repeat(31)}`,
    `01${'00'.repeat(30)}80`,
    `ec${'ff'.repeat(30)}7f`,
    p,
    `ee${'ff'.repeat(30)}7f`,
    `ed${'ff'.repeat(31)}`,
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    'zz',
    SIGNER.keyId.toUpperCase().replace(/[0-9]/g, 'A'),
  ])
    t.false(isSoundPublicKey(hex), hex);
  t.true(isSoundPublicKey(SIGNER.keyId));
});
