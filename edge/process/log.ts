/**
 * Logs by allow-list: an event name and known facts, nothing else. Whole objects, messages of errors, bodies, URLs and
 * headers have no way in; path-based redaction would let them through. What a known fact holds is
 * scrubbed once more. Spec §5.10.
 */
import { pino, type DestinationStream, type Logger } from 'pino';

const FACT_NAMES = [
  'requestId',
  'method',
  'route',
  'status',
  'durationMs',
  'code',
  'reason',
  'step',
  'frame',
  'role',
  'leaseEpoch',
  'count',
  'chain',
  'transactionId',
  'txid',
  'deliveryId',
  'attempt',
  'localKeyId',
  'mintedBy',
  'alsoRevoked',
  'replica',
  'environment',
  'port',
  'version',
  'sessionId',
  'signal',
  'registryVersion',
  'depth',
  'seq',
  'setting',
  'next',
  'write',
  'target',
] as const;
type FactName = (typeof FACT_NAMES)[number];
export type Facts = { readonly [N in FactName]?: string | number | boolean | null };

const FACT_CHARACTERS_MAX = 200;
const STACK_FRAMES = 6;

/** Forms that a secret has; each is cut out of a fact that should never have held it. */
const SECRETS = [
  /\b(?:loc|flk)_(?:live|test)_[A-Za-z0-9_-]+/g,
  /\bwhsec_[A-Za-z0-9+/=_-]+/g,
  /\b[xyztuv](?:prv|pub)[A-Za-z0-9]{20,}/g,
  /\b(?:[a-z]{3,8}\s+){11,}[a-z]{3,8}\b/g,
];

export interface EdgeLog {
  info(event: string, facts?: Facts): void;
  warn(event: string, facts?: Facts): void;
  /** Somebody tried what must not be possible: a person should look. */
  alarm(event: string, facts?: Facts): void;
  /** Something broke. Of the error only name, code and the places in the code are written. */
  fault(event: string, error: unknown, facts?: Facts): void;
  /** Alarms since the start. */
  readonly alarms: number;
}

/** Lines that wait for room; later ones are dropped. */
const UNWRITTEN_BYTES_MAX = 1_048_576;

/**
 * Standard output, written at once. Choice: pino's own buffer is written once more at the exit, for ever when the
 * reader of the log is gone (a pipe whose other end died), and the process would never end.
 */
const standardOutput = (): DestinationStream => {
  const output = pino.destination({ dest: 1, sync: true, maxLength: UNWRITTEN_BYTES_MAX });
  // A full disk under the log ends no process: lines are kept up to the limit, and written when there is room.
  output.on('error', () => undefined);
  return output;
};

/** A log that writes JSON lines to a destination, standard output by default. */
export function createEdgeLog(level: string, destination?: DestinationStream): EdgeLog {
  // Levels by name, as the cloud's lines have them.
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  } as const;
  const logger: Logger = pino(options, destination ?? standardOutput());
  let alarms = 0;
  return {
    info: (event, facts) => logger.info(allowed(facts), event),
    warn: (event, facts) => logger.warn(allowed(facts), event),
    alarm(event, facts) {
      alarms += 1;
      logger.error({ alarm: true, ...allowed(facts) }, event);
    },
    fault: (event, error, facts) => logger.error({ ...allowed(facts), ...placesOf(error) }, event),
    get alarms() {
      return alarms;
    },
  };
}

function allowed(facts: Facts = {}): Record<string, string | number | boolean | null> {
  const kept: Record<string, string | number | boolean | null> = {};
  for (const name of FACT_NAMES) {
    const fact: unknown = facts[name];
    if (typeof fact === 'string') kept[name] = scrub(fact);
    else if (typeof fact === 'number' || typeof fact === 'boolean' || fact === null) kept[name] = fact;
  }
  return kept;
}

/** A text without what looks like a key or a phrase, cut to a bounded length. */
export function scrub(text: string): string {
  return SECRETS.reduce(
    (rest, pattern) => rest.replace(pattern, '[redacted]'),
    text.slice(0, 4 * FACT_CHARACTERS_MAX),
  ).slice(0, FACT_CHARACTERS_MAX);
}

function placesOf(error: unknown): { errorName: string; errorCode?: string; at: string[]; cause?: string } {
  if (!(error instanceof Error)) return { errorName: typeof error, at: [] };
  const code = (error as { code?: unknown }).code;
  const at = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, STACK_FRAMES)
    .map((line) => line.trim());
  return {
    errorName: error.name,
    at,
    ...(typeof code === 'string' ? { errorCode: scrub(code) } : {}),
    ...(error.cause instanceof Error ? { cause: error.cause.name } : {}),
  };
}
