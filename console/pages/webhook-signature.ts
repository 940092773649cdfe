/** Standard Webhooks signatures with WebCrypto: HMAC-SHA256 over `id.timestamp.body`. Decisions 4. */

/** `old`: the signature is right, the time is not within five minutes. */
export type Verdict = 'valid' | 'old' | 'wrong' | 'secret' | 'headers';

const TOLERANCE_SECONDS = 300;

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> | null => {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
};

/** What is to be said of a delivery. Nothing is sent anywhere. */
export async function checkSignature({
  secret,
  id,
  timestamp,
  signature,
  body,
  nowMs,
}: {
  secret: string;
  id: string;
  timestamp: string;
  signature: string;
  body: string;
  nowMs: number;
}): Promise<Verdict> {
  const key = secret.startsWith('whsec_') ? bytesOf(secret.slice('whsec_'.length)) : null;
  if (key === null || key.length === 0) return 'secret';
  const claimed = signature.split(' ').filter((entry) => entry.startsWith('v1,'));
  if (id === '' || !/^[0-9]{1,12}$/.test(timestamp) || claimed.length === 0) return 'headers';
  const hmac = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const entry of claimed) {
    const bytes = bytesOf(entry.slice(3));
    if (bytes !== null && (await crypto.subtle.verify('HMAC', hmac, bytes, signed)))
      return Math.abs(nowMs / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS ? 'old' : 'valid';
  }
  return 'wrong';
}
