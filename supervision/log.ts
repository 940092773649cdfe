/** The node's logger: JSON lines by pino; allowlist serialisers first, redaction by path as the second net. */
import { pino, type Logger } from 'pino';
import { withoutSecrets } from '../actors/kernel/index.ts';

/** Names that must never be written, wherever they stand up to three levels deep. Spec §5.10. */
const SECRET_NAMES = [
  'password', 'totp', 'totpSecret', 'secret', 'secrets', 'sealedSecrets', 'apiKey', 'key', 'keys', 'xpub', 'phrase',
  'authorization', 'cookie', 'headers', 'body', 'signature', 'token', 'accessToken', 'refreshToken',
] as const;
const REDACTED = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** An error without what looks like a secret: name, code, cleaned message, and where in our code it was thrown. */
function serialiseError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code, constraint, reason } = error as { code?: unknown; constraint?: unknown; reason?: unknown };
  return {
    type: error.name, message: withoutSecrets(error.message),
    ...(typeof code === 'string' ? { code } : {}), ...(typeof constraint === 'string' ? { constraint } : {}),
    ...(typeof reason === 'string' ? { reason: withoutSecrets(reason) } : {}),
    stack: (error.stack ?? '').split('\n').slice(1, 6).map((line) => line.trim().replace(/\(?file:\/\/.*\/(?=[a-z-]+\/)/, '(')),
    ...(error.cause === undefined ? {} : { cause: serialiseError(error.cause) }),
  };
}

export function createLog(level: string, node: string): Logger {
  return pino({
    level, base: { node }, timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: REDACTED, censor: '[redacted]' },
    serializers: { err: serialiseError, error: serialiseError },
  });
}
