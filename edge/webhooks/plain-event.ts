/**
 * A webhook body that can be read in one way only: the plain text of one JSON object, with no name of an envelope twice
 * or in other letters. Whatever else is in it, edge and receiver read the same; no other body leaves an edge.
 */
import { depositEnvelope } from '../../protocol/schema/events.ts';
import { otherSpellingOf } from '../signing/other-spelling.ts';

const hasOtherEnvelopeName = otherSpellingOf(Object.keys(depositEnvelope.shape));

/**
 * The object of a body that is the plain text of it; null for any other body, and for one too deep to be written again.
 */
export function plainEvent(body: string): object | null {
  try {
    const parsed = JSON.parse(body) as unknown;
    return typeof parsed === 'object' &&
      parsed !== null &&
      JSON.stringify(parsed) === body &&
      !hasOtherEnvelopeName(parsed)
      ? parsed
      : null;
  } catch {
    return null;
  }
}
