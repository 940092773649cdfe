/**
 * `flock chain --jsonl`: what the service would read from a key, an address, a block, a descriptor or a signature,
 * asked and answered in lines of JSON. No network, no database; useful to support staff, and for recovery.
 */
import { ChainUnavailable, MalformedReply } from '../../chains/chain.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { answersTo, writeAnswers, type Operation } from '../../protocol/node/json-lines.ts';

/** A full Bitcoin block at verbosity 3 takes tens of megabytes. */
const LINE_BYTES_MAX = 128 * 1_048_576;

/** Each operation is loaded when it is first asked for, so that the command answers at once. */
const operations: Readonly<Record<string, Operation>> = {
  derive: async (request) => (await import('./chain/derive.ts')).derive(request),
  address: async (request) => (await import('./chain/address.ts')).address(request),
  transfers: async (request) => (await import('./chain/transfers.ts')).transfers(request),
  descriptor: async (request) => (await import('./chain/descriptor.ts')).descriptor(request),
  'webhook-verify': async (request) => (await import('./chain/webhook-verify.ts')).webhookVerify(request),
  totp: async (request) => (await import('./chain/totp.ts')).totp(request),
};

function explainFault(fault: unknown): Refusal | null {
  if (fault instanceof ChainUnavailable) return refuse('CHAIN_UNAVAILABLE', {}, `nothing is proven: ${fault.reason}`);
  if (fault instanceof MalformedReply) return refuse('INVALID_INPUT', {}, fault.message);
  return null;
}

/** Answers standard input until it ends. Answers the exit code: 0, or 2 for a wrong invocation. */
export async function chainJsonl(args: readonly string[]): Promise<number> {
  if (args.length !== 1 || args[0] !== '--jsonl') {
    console.error('usage: flock chain --jsonl');
    return 2;
  }
  await writeAnswers(
    answersTo(process.stdin, { operations, lineBytesMax: LINE_BYTES_MAX, explainFault }),
    process.stdout,
  );
  return 0;
}
