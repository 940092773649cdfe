/**
 * Logs of a cloud node, three nets: only known facts are written (an unknown name shows as a name, without its value),
 * of an error only its name, code and places; what a fact or message holds is scrubbed; and the whole line once more
 * just before it is written. Path-based redaction would let nested values and messages through.
 */
import { pino, type DestinationStream, type Level, type Logger } from 'pino';
import { createOutageLines, type OutageOptions } from './outage-lines.ts';

/**
 * Facts that may be logged. Text of these is an id, a slug, a code, a place or a number; never a body, header or URL.
 */
const FACTS: ReadonlySet<string> = new Set([
  'requestId',
  'registryVersion',
  'operationId',
  'method',
  'route',
  'status',
  'durationMs',
  'code',
  'reason',
  'rule',
  'step',
  'event',
  'signal',
  'accountId',
  'organizationId',
  'userId',
  'apiKeyId',
  'sessionId',
  'environment',
  'role',
  'leaseEpoch',
  'epoch',
  'node',
  'shard',
  'shards',
  'chain',
  'chains',
  'ledger',
  'height',
  'hash',
  'depth',
  'endpoint',
  'txid',
  'outputIndex',
  'transactionId',
  'withdrawalId',
  'depositId',
  'addressId',
  'webhookId',
  'deliveryId',
  'eventId',
  'attempt',
  'rotationId',
  'scanId',
  'stoppedBy',
  'path',
  'kind',
  'actor',
  'actors',
  'restarts',
  'delayMs',
  'phase',
  'outcome',
  'count',
  'size',
  'version',
  'port',
  'host',
  'roles',
  'checks',
  'drained',
  'abandoned',
  'tries',
  'lag',
  'from',
  'to',
  'applied',
  'pending',
  'migration',
  'job',
  'period',
  'names',
  'ms',
  'seconds',
  'tokenContract',
  'amount',
  'txids',
  'attempts',
  'deliveries',
  'mails',
  'sessions',
  'uploads',
  'uploadId',
  'logins',
  'scans',
  'rows',
  'texts',
  'loginId',
  'letterId',
  'batchId',
  'jobId',
  'policyId',
  'transferId',
  'linkId',
  'keySourceId',
  'webhookIds',
  'named',
  'forkPoint',
  'oldHead',
  'what',
  'frame',
  'limitMs',
  'deadlineMs',
  'url',
  'nonces',
  'endpoints',
  'expected',
  'side',
  'subject',
  'counted',
  'byRows',
  'seen',
  'setting',
  'next',
  'nextLookAt',
  'condition',
  'bodies',
  'withheld',
  'limitBytes',
  'instructions',
]);
const ERRORS: ReadonlySet<string> = new Set(['err', 'error', 'fault', 'cause']);

const TEXT_CHARS_MAX = 300;
const LIST_MAX = 20;
const STACK_FRAMES = 8;

/** Forms that a secret has, whatever surrounds it. */
const SECRETS: readonly RegExp[] = [
  /\b(?:loc|flk)_(?:live|test)_[A-Za-z0-9_-]+/g,
  /\bwhsec_[A-Za-z0-9+/=_-]+/g,
  /\b[xyztuvXYZTUV](?:prv|pub)[A-Za-z0-9]{20,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g,
  /\$argon2[a-z]{1,2}\$[^\s"]+/g,
  /\bv1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{38,}/g, // sealed secrets
  /:\/\/[^\s/@"]+@/g, // user and password of a URL
  /(?<![A-Za-z])(?:[a-z]{3,8}[^A-Za-z"]{1,6}){11,}[a-z]{3,8}(?![A-Za-z])/gi,
];

/** A text without what looks like a credential or a phrase. */
export function scrub(text: string): string {
  return SECRETS.reduce((rest, form) => rest.replace(form, '[redacted]'), text);
}

/** From this level on lines of an outage are counted. */
const WARN = pino.levels.values['warn' satisfies Level]!;
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

/** A node's logger: JSON lines to standard output unless `destination` is given. `node` is on every line. */
export function createLog(
  level: string,
  node: string,
  destination?: DestinationStream,
  outage?: OutageOptions,
): Logger {
  const lines = outage === undefined ? null : createOutageLines(outage);
  const options = {
    level,
    base: { node },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: allowed },
    hooks: {
      streamWrite: scrub,
      ...(lines === null
        ? {}
        : {
            logMethod(this: Logger, args: unknown[], method: (...given: unknown[]) => void, grade: number) {
              const withheld = grade < WARN ? 0 : lines.admit(args[0], args[1]);
              if (withheld === null) return;
              if (withheld > 0) args[0] = { ...(args[0] as object), withheld };
              method.apply(this, args);
            },
          }),
    },
  };
  const log: Logger = pino(options, destination ?? standardOutput());
  // pino shapes a child's bindings by no formatter: what a child is born with passes the same gate as what it logs.
  const bear = log.child;
  log.child = function child(this: Logger, bindings: object, more?: object) {
    return bear.call(this, allowed(bindings), more as never);
  } as Logger['child'];
  return log;
}

function allowed(fields: object): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  const dropped: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (ERRORS.has(name) || value instanceof Error) kept[name] = errorOf(value);
    else if (FACTS.has(name)) kept[name] = factOf(value);
    else dropped.push(name.slice(0, 40));
  }
  if (dropped.length > 0) kept['dropped'] = dropped.slice(0, LIST_MAX);
  return kept;
}

/** A fact; an object is shown one level deep, and only its known names. */
function factOf(value: unknown, level: 'outer' | 'inner' = 'outer'): unknown {
  if (typeof value === 'string') return scrub(value.slice(0, TEXT_CHARS_MAX));
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined) return value;
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) {
    return value.slice(0, LIST_MAX).map((entry) => (typeof entry === 'object' ? '[object]' : factOf(entry, 'inner')));
  }
  if (level === 'inner' || typeof value !== 'object') return '[object]';
  const known = Object.entries(value).filter(([name]) => FACTS.has(name));
  return Object.fromEntries(known.map(([name, fact]) => [name, factOf(fact, 'inner')]));
}

/**
 * Name, code and places in the code of an error and its cause; its message is somebody else's text and has no way in.
 */
function errorOf(value: unknown, withCause: 'with cause' | 'alone' = 'with cause'): unknown {
  if (!(value instanceof Error)) {
    const { code } = (typeof value === 'object' && value !== null ? value : {}) as { code?: unknown };
    return typeof code === 'string' ? { code: scrub(code.slice(0, TEXT_CHARS_MAX)) } : factOf(value);
  }
  const { code } = value as { code?: unknown };
  const at = (value.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, STACK_FRAMES)
    .map((line) => line.trim());
  return {
    name: value.name,
    at,
    ...(typeof code === 'string' ? { code: scrub(code.slice(0, TEXT_CHARS_MAX)) } : {}),
    ...(withCause === 'with cause' && value.cause instanceof Error ? { cause: errorOf(value.cause, 'alone') } : {}),
  };
}
