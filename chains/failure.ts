/** Failures of a chain that are no faults of ours: nobody answered, or what came was no answer. */
import { plainText } from '../protocol/plain-text.ts';
import { ChainUnavailable, MalformedReply } from './chain.ts';

const REASON_CHARACTERS_MAX = 300;

/** The reason of a chain failure, bounded and fit to be stored; null for any other error, which is a fault. */
export function chainFailure(error: unknown): string | null {
  if (error instanceof ChainUnavailable) return plainText(error.reason, REASON_CHARACTERS_MAX);
  if (error instanceof MalformedReply) return plainText(error.message, REASON_CHARACTERS_MAX);
  return null;
}
