/** Passkeys: what browsers are asked, and what they answer (WebAuthn Level 3, JSON forms). Console A22, A24. */
import { z } from 'zod';
import { between, count } from './numbers.ts';
import { freeText, instant, pageReply, pathId, shortText } from './values.ts';

/** Bytes as browsers write them in JSON. */
const bytes = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[A-Za-z0-9_-]+$/, 'expected base64url')
    .meta({ examples: ['AbCd-_09'] });
const credential = bytes(1_400);

/** What `navigator.credentials.get` gives, as JSON. */
export const passkeyAnswer = z.strictObject({
  id: credential,
  rawId: credential,
  type: z.literal('public-key'),
  response: z.strictObject({
    clientDataJSON: bytes(2_000),
    authenticatorData: bytes(3_000),
    signature: bytes(2_000),
    userHandle: bytes(100).optional(),
  }),
});
export type PasskeyAnswer = z.output<typeof passkeyAnswer>;
/** What `navigator.credentials.create` gives, as JSON. */
export const passkeyMade = z.strictObject({
  id: credential,
  rawId: credential,
  type: z.literal('public-key'),
  // No attestation is asked for: what comes is the credential's id and key.
  response: z.strictObject({ clientDataJSON: bytes(2_000), attestationObject: bytes(8_000) }),
});
export type PasskeyMade = z.output<typeof passkeyMade>;

const credentials = z.array(z.object({ id: z.string(), type: z.literal('public-key') }));
/** For `navigator.credentials.get`. */
export const passkeyQuestion = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: count.meta({ description: 'milliseconds' }),
  userVerification: z.literal('required'),
  allowCredentials: credentials,
});
/** For `navigator.credentials.create`. */
export const passkeyCreation = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(
    z.object({ type: z.literal('public-key'), alg: between(-65_535, -1).meta({ examples: [-7] }) }),
  ),
  timeout: count.meta({ description: 'milliseconds' }),
  attestation: z.literal('none'),
  authenticatorSelection: z.object({
    residentKey: z.literal('required'),
    requireResidentKey: z.literal(true),
    userVerification: z.literal('required'),
  }),
  excludeCredentials: credentials,
});

export const passkeyParams = z.strictObject({ id: pathId('psk') });
export const passkey = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: instant,
  lastUsedAt: instant.nullable(),
});
export const passkeyPage = pageReply(passkey);
export const beginPasskeyBody = z.strictObject({
  password: z
    .string()
    .min(1)
    .max(1_024)
    .optional()
    .meta({ description: 'the present one: needed where there is no factor yet and you signed in over 5 minutes ago' }),
});
export const addPasskeyBody = z.strictObject({ name: freeText(60), passkey: passkeyMade });
export const passkeyRemoved = z.object({ removed: z.literal(true) });
export const passkeySignInBody = z.strictObject({
  passkey: passkeyAnswer,
  organizationId: shortText(40).optional(),
});
/** Without an operation: a step-up. With one: a proof for that request alone. */
export const askPasskeyBody = z.strictObject({
  operation: freeText(60).optional().meta({ description: 'operationId of the request that is proven' }),
  params: z
    .record(z.string(), z.string())
    .optional()
    .meta({ examples: [{ id: 'rot_abc' }] }),
  body: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'of that request, without the proof', examples: [{}] }),
});
