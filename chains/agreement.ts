/** Answers that several endpoints must give alike. G8, G10. */
import type { Chain } from '../protocol/slugs.ts';
import { ChainUnavailable, type Endpoint, type Transport } from './chain.ts';

/**
 * The first answer that is not null, or null when every endpoint says so: one that cannot answer leaves a null
 * unproven. Throws: ChainUnavailable.
 */
export async function firstOrAgreedNull<T>(
  { slug }: { readonly slug: Chain },
  transport: Transport,
  read: (endpoint: Endpoint) => Promise<T | null>,
): Promise<T | null> {
  let nulls = 0;
  try {
    return await transport.attempt(async (endpoint) => {
      const answer = await read(endpoint);
      if (answer !== null) return answer;
      nulls += 1;
      throw new ChainUnavailable(slug, 'not in the chain');
    });
  } catch (error) {
    if (error instanceof ChainUnavailable && nulls === transport.endpoints.length) return null;
    throw error;
  }
}
