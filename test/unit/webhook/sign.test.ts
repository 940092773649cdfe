import test from 'ava';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { secretBytes, signatureHeaders, webhookSecretContext } from '../../../actors/webhook/sign.ts';
import { vector } from '../../support/vectors.ts';

interface Vector {
  secret: string;
  id: string;
  timestamp: number;
  payload: string;
  headers: Record<string, string>;
  valid: boolean;
  note: string;
}
const { vectors } = vector<{ vectors: Vector[] }>('auth/standard-webhooks.json');

for (const { secret, id, timestamp, payload, headers, note } of vectors.filter(({ valid }) => valid)) {
  test(`decisions 4: the published signature: ${note}`, (t) => {
    const signed = signatureHeaders({ eventId: id, body: payload, timestampSeconds: timestamp }, [secretBytes(secret)]);
    t.is(signed['webhook-id'], headers['webhook-id']);
    t.is(signed['webhook-timestamp'], headers['webhook-timestamp']);
    t.true(headers['webhook-signature']!.split(' ').includes(signed['webhook-signature']!));
  });
}

test('the vectors hold some that are not valid, and none of those is what we would send', (t) => {
  const invalid = vectors.filter(({ valid }) => !valid);
  t.true(invalid.length > 0);
  for (const { secret, id, timestamp, payload, headers, note } of invalid) {
    const signed = signatureHeaders({ eventId: id, body: payload, timestampSeconds: timestamp }, [secretBytes(secret)]);
    const same =
      headers['webhook-id'] === signed['webhook-id'] &&
      headers['webhook-timestamp'] === signed['webhook-timestamp'] &&
      (headers['webhook-signature'] ?? '').split(' ').includes(signed['webhook-signature']!);
    t.false(same, note);
  }
});

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const secretOf = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString('base64')}`;
const anySecret = fc.uint8Array({ minLength: 24, maxLength: 64 });

test('decisions 4: an independent verifier takes every signature and refuses a changed byte', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(anySecret, fc.json(), (bytes, body) => {
        const headers = signatureHeaders({ eventId: 'evt_1', body, timestampSeconds: nowSeconds() }, [
          secretBytes(secretOf(bytes)),
        ]);
        new Webhook(secretOf(bytes)).verify(body, headers);
        try {
          new Webhook(secretOf(bytes)).verify(`${body} `, headers);
          return false;
        } catch {
          return true;
        }
      }),
    ),
  );
});

test('decisions 4: while a secret is rotated there are two signatures, and either secret verifies', (t) => {
  const [current, previous] = [secretOf(new Uint8Array(24).fill(1)), secretOf(new Uint8Array(24).fill(2))];
  const headers = signatureHeaders({ eventId: 'evt_1', body: '{}', timestampSeconds: nowSeconds() }, [
    secretBytes(current!),
    secretBytes(previous!),
  ]);
  t.is(headers['webhook-signature']!.split(' ').length, 2);
  for (const secret of [current!, previous!]) t.deepEqual(new Webhook(secret).verify('{}', headers), {});
  t.throws(() => new Webhook(secretOf(new Uint8Array(24).fill(3))).verify('{}', headers));
});

test('a text that is no secret is refused without being repeated', (t) => {
  for (const text of [
    '',
    'whsec_',
    'whsec_short',
    'sk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    `whsec_${Buffer.alloc(65).toString('base64')}`,
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa*w',
  ]) {
    const error = t.throws(() => secretBytes(text), { instanceOf: RangeError });
    t.false(text.length > 6 && error.message.includes(text));
  }
});

test('a secret is sealed for its own webhook', (t) => {
  t.not(webhookSecretContext('a'), webhookSecretContext('b'));
});
